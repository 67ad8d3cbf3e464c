#include "model/perplexity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace soffit::model {

Result<int64_t> count_windows(std::span<const int32_t> tokens, const WindowOptions& options) {
  if (options.window < 4) {
    return invalid_argument("a window of " + std::to_string(options.window) + " tokens, expected at least 4");
  }
  const int64_t full = int64_t(tokens.size()) / options.window;
  if (full < std::max<int64_t>(1, options.chunks)) {
    return invalid_argument("the text has " + std::to_string(tokens.size()) + " tokens, " + std::to_string(full) +
                            " windows of " + std::to_string(options.window) + ", of which " +
                            std::to_string(std::max<int64_t>(1, options.chunks)) + " are needed");
  }
  return options.chunks < 0 ? full : options.chunks;
}

namespace {

Status score_window(Session& session, std::span<const int32_t> tokens, int64_t chunk,
                    const std::function<Status(const ScoredToken&)>& score) {
  // The last token is only predicted, never run.
  const int64_t end = int64_t(tokens.size()) - 1, first_scored = int64_t(tokens.size()) / 2;
  const auto vocabulary = size_t(session.model().config().vocabulary);
  std::vector<BatchRow> rows;
  std::vector<int32_t> wanted;
  SOFFIT_CHECK(session.truncate(0, 0));
  for (int64_t begin = 0; begin < end; begin += int64_t(rows.size())) {
    const bool scored = begin >= first_scored;
    const int64_t most = scored ? std::min(session.options().outputs, end - begin) : first_scored - begin;
    rows.clear();
    wanted.clear();
    for (int64_t i = begin; i < begin + std::min(most, session.options().batch); i++) {
      if (scored) wanted.push_back(int32_t(rows.size()));
      rows.push_back({tokens[size_t(i)], 0, int32_t(i)});
    }
    SOFFIT_TRY(const auto logits, session.decode(rows, wanted));
    for (size_t i = 0; i < wanted.size(); i++) {
      SOFFIT_CHECK(score({chunk, tokens[size_t(begin) + i + 1], logits.subspan(i * vocabulary, vocabulary)}));
    }
  }
  return {};
}

}  // namespace

Status score_windows(Session& session, std::span<const int32_t> tokens, const WindowOptions& options,
                     const std::function<Status(const ScoredToken&)>& score) {
  SOFFIT_TRY(const int64_t chunks, count_windows(tokens, options));
  for (int64_t chunk = 0; chunk < chunks; chunk++) {
    const auto window = tokens.subspan(size_t(chunk * options.window), size_t(options.window));
    std::vector<int32_t> copy(window.begin(), window.end());
    if (options.bos) copy.front() = *options.bos;
    SOFFIT_CHECK(score_window(session, copy, chunk, score));
  }
  return {};
}

LogSoftmax::LogSoftmax(std::span<const float> logits) : logits_(logits) {
  top_ = size_t(std::ranges::max_element(logits) - logits.begin());
  largest_ = logits[top_];
  double sum = 0;
  for (const float logit : logits) sum += double(std::exp(logit - largest_));
  log_sum_ = std::log(sum);
}

void PerplexitySum::add(double log_probability) {
  sum_ -= log_probability;
  squares_ += log_probability * log_probability;
  count_++;
}

double PerplexitySum::perplexity() const { return std::exp(sum_ / double(count_)); }

double PerplexitySum::standard_error() const {
  if (count_ < 2) return std::numeric_limits<double>::quiet_NaN();
  const double mean = sum_ / double(count_), variance = squares_ / double(count_) - mean * mean;
  return std::sqrt(std::max(0.0, variance) / double(count_ - 1)) * perplexity();
}

void DivergenceSum::add(double divergence, bool same_top) {
  divergences_.push_back(divergence);
  same_top_ += same_top;
}

double DivergenceSum::mean() const {
  return std::accumulate(divergences_.begin(), divergences_.end(), 0.0) / double(divergences_.size());
}

double DivergenceSum::standard_error() const {
  const auto count = double(divergences_.size());
  if (count < 2) return std::numeric_limits<double>::quiet_NaN();
  const double middle = mean();
  double squares = 0;
  for (const double divergence : divergences_) squares += (divergence - middle) * (divergence - middle);
  return std::sqrt(squares / (count - 1) / count);
}

double DivergenceSum::quantile(double fraction) const {
  if (divergences_.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted = divergences_;
  // What is no number, after a model's overflow, counts as the largest.
  std::ranges::sort(sorted, [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
  const double place = fraction * double(sorted.size() - 1);
  const auto below = size_t(place);
  const double between = place - double(below);
  if (between <= 0) return sorted[below];  // whatever is above: no number, times nothing, is no number
  return std::lerp(sorted[below], sorted[below + 1], between);
}

double DivergenceSum::same_top() const { return double(same_top_) / double(divergences_.size()); }

}  // namespace soffit::model
