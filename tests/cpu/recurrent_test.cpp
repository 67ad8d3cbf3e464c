// Recurrent layers: what holds in every batch size and on any number of threads, and what a state of them can do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kKeyHeads = 2, kHeads = 4, kDim = 16, kTaps = 4;
constexpr int64_t kKeys = kKeyHeads * kDim, kValues = kHeads * kDim, kChannels = 2 * kKeys + kValues;
constexpr int64_t kContext = 40;

std::string message(const Status& status) { return status ? "no error" : status.error().message; }

StateDescription description() {
  StateDescription d;
  d.layers = {KeyValueLayer{1, 8}, RecurrentLayer{kChannels, kTaps, kHeads, kDim, kDim}};
  d.sequences = 3, d.context = kContext;
  return d;
}

struct Place {
  int32_t sequence, position;
};
std::vector<Place> rows_of(int32_t sequence, int32_t first, int32_t count) {
  std::vector<Place> places;
  for (int32_t i = 0; i < count; ++i) places.push_back({sequence, first + i});
  return places;
}

// A layer as a model has it: convolution of q, k and v, then the rule. Inputs follow from a row's place.
struct Layer {
  explicit Layer(Backend& b) : backend(b), state(*b.new_state(description())) {}

  std::string run(const std::vector<Place>& places, std::vector<float>* results = nullptr) {
    const auto n = int64_t(places.size());
    std::vector<int32_t> sequences, positions;
    std::vector<float> x, time, beta;
    for (const Place& p : places) {
      sequences.push_back(p.sequence), positions.push_back(p.position);
      const auto seed = uint64_t(p.sequence + salt) * 1000 + uint64_t(p.position);
      for (float v : random_x(kChannels, seed)) x.push_back(v);
      for (float v : random_x(kHeads, seed + 1)) time.push_back(v);
      for (float v : random_x(kHeads, seed + 2)) beta.push_back(v);
    }
    const Array in = make_array(backend, n, kChannels, x), out = make_array(backend, n, kChannels);
    const Array w = make_array(backend, kChannels, kTaps, random_x(kChannels * kTaps, 1));
    const Array t = make_array(backend, n, kHeads, time), b = make_array(backend, n, kHeads, beta);
    const Array rate = make_array(backend, 1, kHeads, std::vector<float>{-0.1f, -0.5f, -1, -2}),
                bias = make_array(backend, 1, kHeads);
    const Array s = make_array(backend, 1, n, sequences), p = make_array(backend, 1, n, positions);
    const Array y = make_array(backend, n, kValues);
    GatedDeltaRule rule{out.view.columns(0, kKeys),
                        out.view.columns(kKeys, kKeys),
                        out.view.columns(2 * kKeys, kValues),
                        t.view,
                        b.view,
                        rate.view,
                        bias.view,
                        1e-6f,
                        0.25f,
                        state.get(),
                        1,
                        s.view,
                        p.view,
                        y.view};
    const auto plan = make_plan(
        backend, {ShortConvolution{in.view, w.view, Activation::silu, state.get(), 1, s.view, p.view, out.view}, rule});
    const auto error = message(plan->run());
    if (results) *results = read_floats(y);
    return error;
  }
  // The results of a batch that must succeed.
  std::vector<float> results(const std::vector<Place>& places) {
    std::vector<float> y;
    EXPECT_EQ(run(places, &y), "no error");
    return y;
  }

  Backend& backend;
  std::unique_ptr<State> state;
  int salt = 0;
};

class Recurrent : public EachArm {};
SOFFIT_FOR_EACH_ARM(Recurrent);

TEST_P(Recurrent, OneBatchEqualsRowByRowOnAnyNumberOfThreads) {
  Layer whole(*backend_);
  const auto expected = whole.results(rows_of(0, 0, 23));
  for (int threads : {1, 3, 5}) {
    const auto other = make_backend(GetParam(), threads);
    Layer layer(*other);
    std::vector<float> all;
    int32_t others = 0;
    for (int32_t i = 0; i < 23; ++i) {
      // Other sequences in the same batches change nothing.
      std::vector<Place> places;
      if (i % 3 == 0) places.push_back({1, others++});
      places.push_back({0, i});
      const auto y = layer.results(places);
      all.insert(all.end(), y.end() - kValues, y.end());
    }
    EXPECT_EQ(all, expected) << threads << " threads";
  }
}

TEST_P(Recurrent, SequencesAreSavedLoadedAndCopied) {
  Layer layer(*backend_);
  layer.results(rows_of(0, 0, 9));
  layer.results(rows_of(2, 0, 4));
  const auto saved = layer.state->save(0, 9);
  ASSERT_TRUE(saved);
  ASSERT_TRUE(layer.state->copy(0, 1, 9));
  ASSERT_TRUE(layer.state->load(2, *saved));
  // The same inputs for all three.
  const auto next = layer.results(rows_of(0, 9, 3));
  layer.salt = -1;
  EXPECT_EQ(layer.results(rows_of(1, 9, 3)), next);
  layer.salt = -2;
  EXPECT_EQ(layer.results(rows_of(2, 9, 3)), next);
}

TEST_P(Recurrent, ClearedIsAsNew) {
  Layer layer(*backend_), fresh(*backend_);
  layer.results(rows_of(0, 0, 9));
  ASSERT_TRUE(layer.state->clear(0));
  EXPECT_EQ(layer.results(rows_of(0, 0, 6)), fresh.results(rows_of(0, 0, 6)));
  ASSERT_TRUE(layer.state->truncate(0, 0));
  ASSERT_TRUE(fresh.state->load(0, *Layer(*backend_).state->save(1, 0)));
  EXPECT_EQ(layer.results(rows_of(0, 0, 6)), fresh.results(rows_of(0, 0, 6)));
}

TEST_P(Recurrent, KeepsNoPast) {
  Layer layer(*backend_), other(*backend_);
  layer.results(rows_of(0, 0, 9));
  other.results(rows_of(0, 0, 9));
  for (int64_t length : {1, 8, 10, int(kContext)}) {
    const auto cut = layer.state->truncate(0, length);
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code, Code::unsupported);
    EXPECT_THAT(cut.error().message, AllOf(HasSubstr("position 9"), HasSubstr(std::to_string(length))));
    EXPECT_FALSE(layer.state->save(0, length));
    EXPECT_FALSE(layer.state->copy(0, 1, length));
  }
  // Where it is it may be cut, which changes nothing; nor did what was refused.
  ASSERT_TRUE(layer.state->truncate(0, 9));
  EXPECT_EQ(layer.results(rows_of(0, 9, 2)), other.results(rows_of(0, 9, 2)));
}

TEST_P(Recurrent, RowsThatAreNotTheNextAreErrors) {
  Layer layer(*backend_);
  layer.results(rows_of(0, 0, 3));
  for (const auto& places : {rows_of(0, 2, 1), rows_of(0, 4, 1), rows_of(1, 1, 1), rows_of(0, 0, 1)})
    EXPECT_THAT(layer.run(places),
                AllOf(HasSubstr("position " + std::to_string(places[0].position)), HasSubstr("next is")));
  EXPECT_THAT(layer.run(rows_of(3, 0, 1)), HasSubstr("sequence 3 of 3"));
  EXPECT_THAT(layer.run(rows_of(-1, 0, 1)), HasSubstr("sequence -1 of 3"));
  EXPECT_THAT(layer.run(rows_of(0, kContext, 1)), HasSubstr("40"));
  // Of a batch that failed half-way the sequence has to be cleared.
  EXPECT_NE(layer.run({{1, 0}, {1, 2}}), "no error");
  EXPECT_NE(layer.run(rows_of(1, 0, 1)), "no error");
  ASSERT_TRUE(layer.state->clear(1));
  EXPECT_EQ(layer.run(rows_of(1, 0, 1)), "no error");
  EXPECT_EQ(layer.run(rows_of(0, 3, 1)), "no error") << "another sequence is not touched";
}

TEST_P(Recurrent, LayersOfTheOtherKindAreRefused) {
  Layer layer(*backend_);
  const Array x = make_array(*backend_, 1, kChannels), id = make_array(*backend_, 1, 1, std::vector<int32_t>{0});
  const Array w = make_array(*backend_, kChannels, kTaps);
  const auto error = [&](const Operation& operation) {
    const Operation operations[] = {operation};
    const auto plan = backend_->plan(operations, {});
    return plan ? "no error" : plan.error().message;
  };
  State* state = layer.state.get();
  EXPECT_THAT(error(ShortConvolution{x.view, w.view, Activation::silu, state, 0, id.view, id.view, x.view}),
              AllOf(HasSubstr("layer 0"), HasSubstr("recurrent")));
  EXPECT_EQ(error(ShortConvolution{x.view, w.view, Activation::silu, state, 1, id.view, id.view, x.view}), "no error");
  EXPECT_THAT(error(ShortConvolution{x.view, w.view, Activation::silu, state, 2, id.view, id.view, x.view}),
              HasSubstr("layer 2 of a state of 2 layers"));
  EXPECT_THAT(error(AppendKeyValue{x.view, x.view, state, 1, id.view, id.view}), HasSubstr("keys and values"));
  EXPECT_THAT(error(Attention{x.view, state, 1, 1, 1, 0, id.view, id.view, x.view}), HasSubstr("keys and values"));
}

}  // namespace
}  // namespace soffit::test
