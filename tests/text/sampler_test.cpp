#include "text/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/exponential.hpp"

namespace soffit::text {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Nothing but the draw: what is under test is switched on by hand.
SamplerOptions plain() {
  SamplerOptions options;
  options.temperature = 1, options.top_k = 0, options.top_p = 1, options.min_p = 0, options.seed = 1;
  return options;
}

Sampler make(SamplerOptions options) {
  auto sampler = Sampler::create(options);
  EXPECT_TRUE(sampler) << sampler.error().message;
  return *sampler;
}

std::vector<TokenId> kept(SamplerOptions options, const std::vector<float>& logits) {
  Sampler sampler = make(options);
  auto list = sampler.candidates(logits);
  EXPECT_TRUE(list) << list.error().message;
  std::vector<TokenId> ids;
  for (const Candidate& candidate : *list) ids.push_back(candidate.id);
  return ids;
}

using Ids = std::vector<TokenId>;

TEST(Random, IsXoshiro256StarStarSeededBySplitMix64) {
  uint64_t state = 1234567;  // the published test values of SplitMix64
  EXPECT_EQ(split_mix(state), 6457827717110365317u);
  EXPECT_EQ(split_mix(state), 3203168211198807973u);
  EXPECT_EQ(split_mix(state), 9817491932198370423u);
  Random random(0);  // computed independently with Python's integers
  EXPECT_EQ(random.next(), 11091344671253066420u);
  EXPECT_EQ(random.next(), 13793997310169335082u);
  EXPECT_EQ(random.next(), 1900383378846508768u);
}

TEST(Exponential, IsWithinItsBound) {
  double worst = 0;
  for (int i = 0; i <= 700000; ++i) {
    const double x = -i * 0.001 + (i % 7) * 1e-5 * (i > 0) - 1e-5 * (i > 0) * 7;
    if (x < -700) break;
    const long double exact = expl((long double)x);
    worst = std::max(worst, double(fabsl(((long double)exponential(x) - exact) / exact)));
  }
  EXPECT_LT(worst, 0x1p-51);
  EXPECT_GT(worst, 0);
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(exponential(-701), 0);
  EXPECT_EQ(exponential(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(exponential(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(Sampler, GreedyTakesTheLargestAndTheFirstOfEquals) {
  SamplerOptions options;
  options.temperature = 0;
  Sampler sampler = make(options);
  EXPECT_EQ(*sampler.sample(std::vector<float>{1, 3, 2}), 1);
  EXPECT_EQ(*sampler.sample(std::vector<float>{3, 1, 3}), 0);
  EXPECT_EQ(*sampler.sample(std::vector<float>{-5, -1, -1}), 1);
  EXPECT_EQ(*sampler.sample(std::vector<float>{0.f, -0.f}), 0);
  EXPECT_EQ(*sampler.sample(std::vector<float>{7}), 0);
}

TEST(Sampler, TopKKeepsTheKLargestAndTheFirstOfEquals) {
  SamplerOptions options = plain();
  options.top_k = 3;
  EXPECT_EQ(kept(options, {1, 5, 2, 5, 4, 4}), (Ids{1, 3, 4}));
  options.top_k = 100;
  EXPECT_EQ(kept(options, {1, 5, 2}), (Ids{1, 2, 0}));
  options.top_k = 1;
  EXPECT_EQ(kept(options, {1, 5, 5}), (Ids{1}));
  options.top_k = 0;
  EXPECT_EQ(kept(options, {1, 5, 5}), (Ids{1, 2, 0}));
}

TEST(Sampler, TopPKeepsTheShortestPrefixWithEnoughProbability) {
  // Probabilities 0.5, 0.25, 0.125, 0.125.
  const std::vector<float> logits = {0, std::log(4.f), std::log(2.f), 0};
  SamplerOptions options = plain();
  for (const auto& [p, expected] : std::vector<std::pair<float, Ids>>{
           {0.1f, {1}}, {0.49f, {1}}, {0.51f, {1, 2}}, {0.74f, {1, 2}}, {0.8f, {1, 2, 0}}, {0.9f, {1, 2, 0, 3}}}) {
    options.top_p = p;
    EXPECT_EQ(kept(options, logits), expected) << p;
  }
}

TEST(Sampler, MinPKeepsAFractionOfTheBest) {
  const std::vector<float> logits = {0, std::log(4.f), std::log(2.f), 0};
  SamplerOptions options = plain();
  options.min_p = 0.3f;
  EXPECT_EQ(kept(options, logits), (Ids{1, 2}));
  options.min_p = 0.2f;
  EXPECT_EQ(kept(options, logits), (Ids{1, 2, 0, 3}));
  options.min_p = 1;
  EXPECT_EQ(kept(options, logits), (Ids{1}));
}

// The order of the chain: each filter sees what the one before left, and all see probabilities before the temperature.
TEST(Sampler, FiltersComeBeforeTheTemperature) {
  const std::vector<float> logits = {0, std::log(4.f), std::log(2.f), 0};
  SamplerOptions options = plain();
  options.temperature = 100;  // nearly flat: after it, top-p 0.49 would keep two and min-p 0.3 all four
  options.top_p = 0.49f;
  EXPECT_EQ(kept(options, logits), (Ids{1}));
  options.top_p = 1, options.min_p = 0.3f;
  EXPECT_EQ(kept(options, logits), (Ids{1, 2}));
  // Top-k first: of the two that it leaves, the best has two thirds.
  options.min_p = 0, options.top_k = 2, options.top_p = 0.6f;
  EXPECT_EQ(kept(options, logits), (Ids{1}));
  options.top_k = 0;
  EXPECT_EQ(kept(options, logits), (Ids{1, 2}));
  // Top-p before min-p: of all four, not of what min-p would leave.
  options.top_p = 0.7f, options.min_p = 0.6f;
  EXPECT_EQ(kept(options, logits), (Ids{1}));
  // The penalty first: it lets another token into the top two.
  options = plain();
  options.top_k = 2, options.repeat_penalty = 2;
  Sampler sampler = make(options);
  sampler.accept(0);
  auto list = sampler.candidates(std::vector<float>{4, 3, 2.5f});
  EXPECT_EQ((*list)[0].id, 1);
  EXPECT_EQ((*list)[1].id, 2);
}

TEST(Sampler, TheTemperatureScalesTheOdds) {
  SamplerOptions options = plain();
  const std::vector<float> logits = {1, 0};
  for (float temperature : {0.1f, 0.5f, 1.f, 2.f, 10.f}) {
    options.temperature = temperature;
    Sampler sampler = make(options);
    auto list = sampler.candidates(logits);
    EXPECT_NEAR((*list)[0].probability / (*list)[1].probability, std::exp(1.0 / double(temperature)),
                1e-12 * std::exp(1.0 / double(temperature)));
    EXPECT_NEAR((*list)[0].probability + (*list)[1].probability, 1, 1e-15);
  }
}

TEST(Sampler, ThePenaltyDividesPositiveAndMultipliesOthers) {
  SamplerOptions options = plain();
  options.repeat_penalty = 2, options.repeat_window = 2;
  Sampler sampler = make(options);
  const std::vector<float> logits = {4, -4, 1, 0};
  const auto logit_of = [&](TokenId id) {
    auto list = sampler.candidates(logits);
    for (const Candidate& candidate : *list) {
      if (candidate.id == id) return candidate.logit;
    }
    return kNan;
  };
  EXPECT_EQ(logit_of(0), 4);
  sampler.accept(0), sampler.accept(0);  // once is enough: it does not count
  EXPECT_EQ(logit_of(0), 2);
  sampler.accept(1);
  EXPECT_EQ(logit_of(0), 2);
  EXPECT_EQ(logit_of(1), -8);
  sampler.accept(3);  // the window holds two: 0 is forgotten
  EXPECT_EQ(logit_of(0), 4);
  EXPECT_EQ(logit_of(1), -8);
  EXPECT_EQ(logit_of(3), 0);
  sampler.accept(-1), sampler.accept(1000);  // ids outside the logits are harmless
  EXPECT_EQ(logit_of(1), -4);
  sampler.accept(0);
  sampler.reset();
  EXPECT_EQ(logit_of(0), 4);
}

TEST(Sampler, TheWindowIs64) {
  SamplerOptions options = plain();
  options.temperature = 0, options.repeat_penalty = 10;
  Sampler sampler = make(options);
  const std::vector<float> logits = {5, 4};
  sampler.accept(0);
  for (int i = 0; i < 63; ++i) sampler.accept(7);
  EXPECT_EQ(*sampler.sample(logits), 1);
  sampler.accept(7);
  EXPECT_EQ(*sampler.sample(logits), 0);
}

TEST(Sampler, DrawsFollowTheProbabilities) {
  SamplerOptions options = plain();
  options.seed = 42;
  Sampler sampler = make(options);
  const std::vector<float> logits = {0, 1, 2, -1, -kInfinity, kNan};
  double total = 0, chi_square = 0;
  for (int i = 0; i < 4; ++i) total += std::exp(double(logits[size_t(i)]));
  std::vector<double> counts(logits.size());
  const int draws = 100000;
  for (int i = 0; i < draws; ++i) ++counts[size_t(*sampler.sample(logits))];
  EXPECT_EQ(counts[4] + counts[5], 0);
  for (size_t i = 0; i < 4; ++i) {
    const double expected = draws * std::exp(double(logits[i])) / total;
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  EXPECT_LT(chi_square, 16.27);  // three degrees of freedom, p = 0.001; the seed is fixed, so this never flickers
  EXPECT_EQ(sampler.nan_logits(), uint64_t(draws));
}

TEST(Sampler, NanAndInfinity) {
  for (float temperature : {0.f, 1.f}) {
    for (int32_t top_k : {0, 2, 40}) {
      SamplerOptions options = plain();
      options.temperature = temperature, options.top_k = top_k, options.top_p = 0.9f, options.min_p = 0.05f;
      Sampler sampler = make(options);
      EXPECT_EQ(*sampler.sample(std::vector<float>{kNan, -kInfinity, 1, kNan}), 2);
      EXPECT_EQ(*sampler.sample(std::vector<float>{1, kInfinity, 3}), 1);
      EXPECT_EQ(*sampler.sample(std::vector<float>{3e38f, -3e38f}), 0);
      auto infinite = sampler.sample(std::vector<float>{kInfinity, 0, kInfinity});
      EXPECT_TRUE(*infinite == 0 || *infinite == 2);
      for (const auto& bad : {std::vector<float>{kNan, kNan}, {-kInfinity, -kInfinity}, {kNan, -kInfinity}, {}}) {
        auto token = sampler.sample(bad);
        ASSERT_FALSE(token);
        EXPECT_THAT(token.error().message, testing::HasSubstr("no token can be chosen"));
      }
    }
  }
}

TEST(Sampler, OptionsThatMakeNoSenseAreNamed) {
  const auto message = [](auto change) {
    SamplerOptions options;
    change(options);
    auto sampler = Sampler::create(options);
    return sampler ? std::string("no error") : sampler.error().message;
  };
  EXPECT_THAT(message([](auto& o) { o.temperature = kNan; }), testing::HasSubstr("temperature"));
  EXPECT_THAT(message([](auto& o) { o.top_p = 0; }), testing::HasSubstr("top-p"));
  EXPECT_THAT(message([](auto& o) { o.min_p = 1.5; }), testing::HasSubstr("min-p"));
  EXPECT_THAT(message([](auto& o) { o.repeat_penalty = 0; }), testing::HasSubstr("repeat-penalty"));
  EXPECT_THAT(message([](auto& o) { o.repeat_window = -1; }), testing::HasSubstr("window"));
}

// Logits of a large vocabulary, from the generator itself.
std::vector<float> many_logits(size_t size) {
  Random random(7);
  std::vector<float> logits(size);
  for (float& logit : logits) {
    logit = 0;
    for (int i = 0; i < 12; ++i) logit += float(random.uniform());
    logit = (logit - 6) * 3;
  }
  return logits;
}

std::vector<TokenId> sequence(SamplerOptions options, size_t vocabulary, size_t count) {
  Sampler sampler = make(options);
  const std::vector<float> logits = many_logits(vocabulary);
  std::vector<TokenId> ids;
  for (size_t i = 0; i < count; ++i) {
    ids.push_back(*sampler.sample(logits));
    sampler.accept(ids.back());
  }
  return ids;
}

TEST(Sampler, TheSameSeedGivesTheSameTokens) {
  SamplerOptions options;
  options.seed = 11;
  const auto first = sequence(options, 262144, 20);
  EXPECT_EQ(sequence(options, 262144, 20), first);
  options.seed = 12;
  EXPECT_NE(sequence(options, 262144, 20), first);
}

// Drawn by a second sampler in Python: make_sampler_golden.py.
TEST(Sampler, GoldenSequences) {
  SamplerOptions options;
  options.seed = 11;
  EXPECT_EQ(sequence(options, 1000, 16),
            (Ids{168, 168, 168, 168, 168, 168, 168, 670, 783, 168, 168, 168, 107, 168, 168, 107}));
  options.seed = 5, options.repeat_penalty = 1.3f;
  EXPECT_EQ(sequence(options, 1000, 16),
            (Ids{168, 168, 786, 731, 248, 475, 52, 991, 369, 107, 831, 783, 481, 238, 364, 646}));
  options = SamplerOptions();
  options.seed = 3, options.temperature = 1.5f, options.top_k = 0, options.top_p = 0.9f, options.min_p = 0;
  EXPECT_EQ(sequence(options, 1000, 16),
            (Ids{238, 556, 783, 731, 786, 107, 783, 4, 606, 783, 500, 213, 864, 264, 238, 168}));
}

// What sorting everything and cutting gives, written the obvious way.
TEST(Sampler, FastPathsAgreeWithFullSort) {
  const std::vector<float> logits = many_logits(5000);
  std::vector<TokenId> order(logits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = TokenId(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](TokenId a, TokenId b) { return logits[size_t(a)] > logits[size_t(b)]; });
  for (int32_t top_k : {0, 1, 40, 300, 4999, 5000, 100000}) {
    for (float top_p : {0.3f, 0.95f, 0.999f, 1.f}) {
      for (float min_p : {0.f, 0.001f, 0.05f}) {
        SamplerOptions options = plain();
        options.top_k = top_k, options.top_p = top_p, options.min_p = min_p;
        const size_t k = top_k > 0 ? std::min<size_t>(size_t(top_k), order.size()) : order.size();
        double total = 0, sum = 0;
        const auto p = [&](size_t i) { return std::exp(double(logits[size_t(order[i])]) - logits[size_t(order[0])]); };
        for (size_t i = 0; i < k; ++i) total += p(i);
        std::vector<TokenId> expected;
        for (size_t i = 0; i < k && (top_p >= 1 || sum < double(top_p) * total); ++i) {
          sum += p(i);
          if (p(i) >= double(min_p)) expected.push_back(order[i]);
        }
        EXPECT_EQ(kept(options, logits), expected) << top_k << " " << top_p << " " << min_p;
      }
    }
  }
}

}  // namespace
}  // namespace soffit::text
