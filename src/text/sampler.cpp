#include "text/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/exponential.hpp"

namespace soffit::text {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Descending by logit; equal ones ascending by id: a total order, so every way of sorting agrees.
bool better(const Candidate& a, const Candidate& b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; }

// Unnormalised probability against the best logit; with an infinite best logit, only its equals count.
double weight(float logit, float best, float temperature) {
  return logit == best ? 1.0 : exponential((double(logit) - double(best)) / double(temperature));
}

Error bad_option(const char* name, double value, const char* rule) {
  return invalid_argument(std::string("sampler option ") + name + " is " + std::to_string(value) + "; it must be " +
                          rule);
}

}  // namespace

Result<Sampler> Sampler::create(SamplerOptions options) {
  if (!std::isfinite(options.temperature)) return bad_option("temperature", options.temperature, "finite");
  if (!(options.top_p > 0)) return bad_option("top-p", options.top_p, "above 0");
  if (!(options.min_p <= 1)) return bad_option("min-p", options.min_p, "at most 1");
  if (!(options.repeat_penalty > 0 && options.repeat_penalty < kInfinity)) {
    return bad_option("repeat-penalty", options.repeat_penalty, "above 0 and finite");
  }
  if (options.repeat_window < 0) return bad_option("repeat window", options.repeat_window, "at least 0");
  return Sampler(options);
}

void Sampler::accept(TokenId id) {
  const auto window = size_t(options_.repeat_window);
  if (window == 0) return;
  if (recent_.size() < window) {
    recent_.push_back(id);
  } else {
    recent_[oldest_] = id;
    oldest_ = (oldest_ + 1) % window;
  }
}

void Sampler::reset() {
  random_ = Random(options_.seed);
  recent_.clear();
  oldest_ = 0;
  nan_logits_ = 0;
}

void Sampler::penalize(std::span<const float> logits) {
  penalized_.assign(logits.begin(), logits.end());
  std::vector<TokenId> ids(recent_);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (TokenId id : ids) {
    if (id < 0 || size_t(id) >= penalized_.size()) continue;
    float& logit = penalized_[size_t(id)];
    logit = logit > 0 ? logit / options_.repeat_penalty : logit * options_.repeat_penalty;
  }
}

// The top-k candidates (one when greedy), best first; all of them, in no order but for ordered_, when top-k is off.
Status Sampler::collect(std::span<const float> logits) {
  candidates_.clear();
  const bool greedy = options_.temperature <= 0;
  const size_t limit = greedy ? 1 : options_.top_k > 0 ? size_t(options_.top_k) : logits.size();
  size_t nans = 0;
  for (size_t id = 0; id < logits.size(); ++id) {
    const Candidate candidate{TokenId(id), logits[id], 0};
    if (std::isnan(candidate.logit)) {
      ++nans;
    } else if (limit >= logits.size()) {
      candidates_.push_back(candidate);
    } else if (candidates_.size() < limit) {
      // A heap of the best so far, its worst on top: few of a vocabulary's logits ever enter it.
      candidates_.push_back(candidate);
      std::push_heap(candidates_.begin(), candidates_.end(), better);
    } else if (better(candidate, candidates_.front())) {
      std::pop_heap(candidates_.begin(), candidates_.end(), better);
      candidates_.back() = candidate;
      std::push_heap(candidates_.begin(), candidates_.end(), better);
    }
  }
  nan_logits_ += nans;
  ordered_ = 0;
  order(limit < logits.size() ? candidates_.size() : std::min<size_t>(candidates_.size(), 1));
  if (candidates_.empty() || candidates_.front().logit == -kInfinity) {
    return Error{Code::internal, "no token can be chosen: of " + std::to_string(logits.size()) + " logits " +
                                     std::to_string(nans) + " are NaN and none is above -infinity"};
  }
  return {};
}

void Sampler::order(size_t count) {
  if (count <= ordered_) return;
  std::partial_sort(candidates_.begin() + ptrdiff_t(ordered_), candidates_.begin() + ptrdiff_t(count),
                    candidates_.end(), better);
  ordered_ = count;
}

void Sampler::filter() {
  const float best = candidates_.front().logit;
  double total = 0;
  for (Candidate& c : candidates_) total += c.probability = weight(c.logit, best, 1);
  // Top-p and min-p each keep a prefix of the ordered list, so what min-p drops need not be ordered for top-p.
  if (options_.min_p > 0) {
    std::erase_if(candidates_, [&](const Candidate& c) { return c.probability < double(options_.min_p); });
    ordered_ = std::min(ordered_, candidates_.size());
  }
  if (options_.top_p < 1) {
    double sum = 0;
    size_t keep = 0;
    while (keep < candidates_.size() && sum < double(options_.top_p) * total) {
      if (keep == ordered_) order(std::min(candidates_.size(), std::max<size_t>(256, 4 * ordered_)));
      sum += candidates_[keep++].probability;
    }
    candidates_.resize(keep);
    ordered_ = std::min(ordered_, keep);
  }
  order(candidates_.size());
  total = 0;
  for (Candidate& c : candidates_) total += c.probability = weight(c.logit, best, options_.temperature);
  for (Candidate& c : candidates_) c.probability /= total;
}

Result<std::span<const Candidate>> Sampler::candidates(std::span<const float> logits) {
  if (options_.repeat_penalty != 1 && !recent_.empty()) {
    penalize(logits);
    logits = penalized_;
  }
  SOFFIT_CHECK(collect(logits));
  if (options_.temperature <= 0) {
    candidates_.front().probability = 1;
  } else {
    filter();
  }
  return std::span<const Candidate>(candidates_);
}

Result<TokenId> Sampler::sample(std::span<const float> logits) {
  SOFFIT_TRY(const std::span<const Candidate> list, candidates(logits));
  if (options_.temperature <= 0) return list.front().id;
  const double u = random_.uniform();
  double sum = 0;
  for (const Candidate& candidate : list) {
    sum += candidate.probability;
    if (u < sum) return candidate.id;
  }
  return list.back().id;  // the sum rounded below 1
}

}  // namespace soffit::text
