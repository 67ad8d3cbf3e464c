// How well a model predicts a text, counted as llama.cpp's perplexity program counts it: the text is cut into windows,
// each begins with an empty context, and of each the second half is scored.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/session.hpp"

namespace soffit::model {

struct WindowOptions {
  int64_t window = 512;             // tokens
  int64_t chunks = -1;              // windows; below zero: all that are full
  std::optional<int32_t> bos = {};  // takes the place of each window's first token
};

struct ScoredToken {
  int64_t chunk = 0;
  int32_t token = 0;              // the one that follows
  std::span<const float> logits;  // that predict it
};

// Windows that `tokens` fill; an error when there is none, or fewer than were asked for.
Result<int64_t> count_windows(std::span<const int32_t> tokens, const WindowOptions& options);
// Calls `score` for each scored token in order; an error of it ends the work. Uses sequence 0 of the session.
Status score_windows(Session& session, std::span<const int32_t> tokens, const WindowOptions& options,
                     const std::function<Status(const ScoredToken&)>& score);

// log(softmax(logits)), without a copy.
class LogSoftmax {
 public:
  explicit LogSoftmax(std::span<const float> logits);
  double operator[](size_t i) const { return double(logits_[i]) - largest_ - log_sum_; }
  float largest() const { return largest_; }
  size_t top() const { return top_; }  // the first of the largest

 private:
  std::span<const float> logits_;
  float largest_ = 0;
  size_t top_ = 0;
  double log_sum_ = 0;  // of exp(logit - largest)
};

class PerplexitySum {
 public:
  void add(double log_probability);
  int64_t count() const { return count_; }
  double perplexity() const;
  double standard_error() const;

 private:
  double sum_ = 0, squares_ = 0;
  int64_t count_ = 0;
};

// Kullback-Leibler divergences of a model from a base, position by position.
class DivergenceSum {
 public:
  void add(double divergence, bool same_top);
  double mean() const;
  double standard_error() const;           // of the mean
  double quantile(double fraction) const;  // interpolated
  double same_top() const;                 // fraction of positions

 private:
  std::vector<double> divergences_;
  int64_t same_top_ = 0;
};

}  // namespace soffit::model
