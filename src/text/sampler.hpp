// Chooses the next token from logits. Order of the steps: repetition penalty, top-k, top-p, min-p, temperature, draw;
// so top-p and min-p judge probabilities before the temperature changes them, as llama.cpp's default chain does.
// Equal seeds, logits and options give equal tokens on every machine: no step depends on a library's exp or sort.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "soffit/status.hpp"
#include "text/random.hpp"
#include "text/vocabulary.hpp"

namespace soffit::text {

struct SamplerOptions {
  float temperature = 0.8f;     // <= 0: the largest logit, whatever the filters say
  int32_t top_k = 40;           // keep the k largest; <= 0: all
  float top_p = 0.95f;          // keep the shortest descending prefix with this much probability; >= 1: all
  float min_p = 0.05f;          // keep what has at least this fraction of the best probability; <= 0: all
  float repeat_penalty = 1.0f;  // positive logits of recent tokens are divided by it, others multiplied; 1: none
  int32_t repeat_window = 64;   // how many recent tokens count
  uint64_t seed = 0;
};

struct Candidate {
  TokenId id;
  float logit;
  double probability;  // among the candidates, after the temperature
};

class Sampler {
 public:
  // An error names the option that makes no sense.
  static Result<Sampler> create(SamplerOptions options);

  // The next token. NaN logits are never chosen (nan_logits() counts them), ties go to the lower id before drawing.
  // An error when no logit is a number or all are -infinity.
  Result<TokenId> sample(std::span<const float> logits);
  // What sample() would draw from, best first, without drawing. Valid until the next call.
  Result<std::span<const Candidate>> candidates(std::span<const float> logits);
  // Tells the repetition penalty of a token: of the prompt, or drawn.
  void accept(TokenId id);
  // Back to the seed, with no token accepted.
  void reset();

  const SamplerOptions& options() const { return options_; }
  uint64_t nan_logits() const { return nan_logits_; }

 private:
  explicit Sampler(SamplerOptions options) : options_(options), random_(options.seed) {}
  void penalize(std::span<const float> logits);
  Status collect(std::span<const float> logits);
  void order(size_t count);
  void filter();

  SamplerOptions options_;
  Random random_;
  std::vector<TokenId> recent_;  // a ring once it is full
  size_t oldest_ = 0;
  uint64_t nan_logits_ = 0;
  std::vector<float> penalized_;
  std::vector<Candidate> candidates_;
  size_t ordered_ = 0;  // how many candidates, from the first, are in their final order
};

}  // namespace soffit::text
