// What is wrong is an error with the numbers in it: when a plan is made where it can be known, else when it is run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string message(const Status& status) { return status ? "no error" : status.error().message; }

class Errors : public EachArm {
 protected:
  std::string plan_error(const Operation& operation) {
    const Operation operations[] = {operation};
    const auto plan = backend_->plan(operations, {});
    return plan ? "no error" : plan.error().message;
  }
  std::string run_error(const std::vector<Operation>& operations) {
    return message(make_plan(*backend_, operations)->run());
  }
};
SOFFIT_FOR_EACH_ARM(Errors);

// llama.cpp #27286: ids were checked in debug builds only.
TEST_P(Errors, ExpertIdsOutOfRange) {
  constexpr int64_t kExperts = 5, kN = 7, kUsed = 2;
  const auto weights = Matrix::random(Format::q4_0, 17, 64, 1, kExperts).upload(*backend_);
  const auto x = make_activations(*backend_, kN, *weights);
  const Array from = make_array(*backend_, kN, 64, random_x(kN * 64, 2)), y = make_array(*backend_, kN * kUsed, 17);
  const Array ids = make_array(*backend_, kN, kUsed, std::vector<int32_t>(kN * kUsed, 1));
  const auto plan = make_plan(
      *backend_, {Prepare{from.view, x.get()}, LinearId{weights.get(), x.get(), ids.view, false, y.view, {}}});
  for (int32_t bad : {-1, int32_t(kExperts), INT32_MAX, INT32_MIN})
    for (size_t at : {size_t(0), size_t(9), size_t(kN * kUsed - 1)}) {
      std::vector<int32_t> values(kN * kUsed, 1);
      values[at] = bad;
      write_array(ids, values);
      EXPECT_THAT(message(plan->run()), AllOf(HasSubstr(std::to_string(bad)), HasSubstr("5")));
      // The fault is gone with its cause.
      write_array(ids, std::vector<int32_t>(kN * kUsed, 4));
      EXPECT_EQ(message(plan->run()), "no error");
    }
}

TEST_P(Errors, RowIdsOutOfRange) {
  const auto weights = Matrix::random(Format::q6_k, 17, 256, 1).upload(*backend_);
  const Array y = make_array(*backend_, 3, 256), x = make_array(*backend_, 17, 256);
  for (int32_t bad : {-1, 17, INT32_MAX, INT32_MIN}) {
    const Array ids = make_array(*backend_, 1, 3, std::vector<int32_t>{2, 16, bad});
    EXPECT_THAT(run_error({GetRows{weights.get(), ids.view, y.view, 1}}),
                AllOf(HasSubstr(std::to_string(bad)), HasSubstr("17")));
    EXPECT_THAT(run_error({Gather{x.view, ids.view, y.view}}), AllOf(HasSubstr(std::to_string(bad)), HasSubstr("17")));
  }
}

TEST_P(Errors, PlacesOutsideTheState) {
  const auto state = *backend_->new_state({{KeyValueLayer{2, 16}}, 2, 10, DataType::f16});
  const Array k = make_array(*backend_, 2, 32), q = make_array(*backend_, 2, 64), y = make_array(*backend_, 2, 64);
  const int32_t bad[][2] = {{-1, 0}, {2, 0}, {0, -1}, {0, 10}, {INT32_MAX, 0}, {0, INT32_MAX}, {0, INT32_MIN}};
  for (const auto& [sequence, position] : bad) {
    const Array sequences = make_array(*backend_, 1, 2, std::vector<int32_t>{1, sequence});
    const Array positions = make_array(*backend_, 1, 2, std::vector<int32_t>{9, position});
    const auto named = AllOf(HasSubstr(std::to_string(sequence)), HasSubstr(std::to_string(position)));
    EXPECT_THAT(run_error({AppendKeyValue{k.view, k.view, state.get(), 0, sequences.view, positions.view}}), named);
    EXPECT_THAT(run_error({Attention{q.view, state.get(), 0, 4, 1, 0, sequences.view, positions.view, y.view}}), named);
  }
}

TEST_P(Errors, SizesThatMultiplyToMoreThanThereIs) {
  const auto state = *backend_->new_state({{KeyValueLayer{2, 16}}, 1, 10, DataType::f16});
  const Array q = make_array(*backend_, 1, 64), y = make_array(*backend_, 1, 64);
  const Array ids = make_array(*backend_, 1, 1, std::vector<int32_t>{0});
  constexpr int64_t kHeads = int64_t(1) << 60;  // times 16 is 0 in 64 bits
  ArrayView none = q.view, result = y.view;
  none.cols = result.cols = 0;
  EXPECT_THAT(plan_error(Attention{none, state.get(), 0, kHeads, 1, 0, ids.view, ids.view, result}),
              HasSubstr(std::to_string(kHeads)));
  ArrayView many = q.view;
  many.rows = many.cols = int64_t(1) << 32, many.row_stride = 0;  // the columns do not fit; the rows would
  EXPECT_NE(plan_error(Combine{q.view, many, {}, y.view}), "no error");
}

TEST_P(Errors, RowsThatOverlapAreNotWritten) {
  const Array x = make_array(*backend_, 4, 64), positions = make_array(*backend_, 1, 4, std::vector<int32_t>(4));
  ArrayView overlapping = x.view;
  overlapping.rows = 4, overlapping.row_stride = 16;
  RopeParameters rope;
  rope.dimensions = 64;
  EXPECT_THAT(plan_error(Rotate{overlapping, 64, {}, 0, rope, positions.view}), HasSubstr("stride 16"));
  EXPECT_THAT(plan_error(AllReduce{overlapping}), HasSubstr("stride 16"));
}

TEST_P(Errors, RoutingOfNaN) {
  std::vector<float> logits(3 * 8, 1.0f);
  logits[13] = std::nanf("");
  const Array x = make_array(*backend_, 3, 8, logits), weights = make_array(*backend_, 3, 2);
  const Array ids = make_array(*backend_, 3, 2, std::vector<int32_t>(6));
  EXPECT_NE(run_error({Route{x.view, ids.view, weights.view, 1}}), "no error");
}

TEST_P(Errors, ShapesThatDoNotAgree) {
  const auto weights = Matrix::random(Format::q4_0, 17, 64, 1).upload(*backend_);
  const auto experts = Matrix::random(Format::q4_0, 17, 64, 1, 3).upload(*backend_);
  const auto x = make_activations(*backend_, 4, *weights), wide = make_activations(*backend_, 4, *weights);
  const auto other = make_activations(*backend_, 4, *Matrix::random(Format::q4_0, 3, 96, 1).upload(*backend_));
  const Array y = make_array(*backend_, 4, 17), ids = make_array(*backend_, 2, 2, std::vector<int32_t>(4));
  EXPECT_EQ(plan_error(Linear{weights.get(), x.get(), y.view, {}}), "no error");
  EXPECT_NE(plan_error(Linear{nullptr, x.get(), y.view, {}}), "no error");
  EXPECT_NE(plan_error(Linear{weights.get(), nullptr, y.view, {}}), "no error");
  EXPECT_THAT(plan_error(Linear{weights.get(), other.get(), y.view, {}}), AllOf(HasSubstr("96"), HasSubstr("64")));
  EXPECT_NE(plan_error(Linear{experts.get(), x.get(), y.view, {}}), "no error");
  EXPECT_NE(plan_error(Linear{weights.get(), x.get(), y.view.columns(0, 16), {}}), "no error");
  ArrayView many = y.view;
  many.rows = 5;
  EXPECT_NE(plan_error(Linear{weights.get(), x.get(), many, {}}), "no error");
  ArrayView outside = y.view;
  outside.offset = 4;
  EXPECT_THAT(plan_error(Linear{weights.get(), x.get(), outside, {}}), HasSubstr("buffer"));
  ArrayView odd = y.view.first_rows(3);
  odd.offset = 2;
  EXPECT_NE(plan_error(Linear{weights.get(), x.get(), odd, {}}), "no error");
  ArrayView huge = y.view;
  huge.row_stride = INT64_MAX;
  EXPECT_NE(plan_error(Linear{weights.get(), x.get(), huge, {}}), "no error");
  ArrayView overlapping = y.view;
  overlapping.row_stride = 16;
  EXPECT_NE(plan_error(Linear{weights.get(), x.get(), overlapping, {}}), "no error");
  ArrayView integers = y.view;
  integers.type = DataType::i32;
  EXPECT_NE(plan_error(Linear{weights.get(), x.get(), integers, {}}), "no error");
  Epilogue gated;
  gated.gate = Activation::silu;
  EXPECT_NE(plan_error(Linear{weights.get(), x.get(), y.view, gated}), "no error");
  Epilogue short_bias;
  short_bias.bias = y.view.first_rows(1).columns(0, 16);
  EXPECT_NE(plan_error(Linear{weights.get(), x.get(), y.view, short_bias}), "no error");
  EXPECT_EQ(plan_error(LinearId{experts.get(), x.get(), ids.view, false, y.view, {}}), "no error");
  EXPECT_NE(plan_error(LinearId{experts.get(), x.get(), ids.view.first_rows(1), false, y.view, {}}), "no error");
  EXPECT_NE(plan_error(GetRows{experts.get(), ids.view, y.view, 1}), "no error");
}

TEST_P(Errors, WeightsMustBeFinished) {
  const MatrixDescription parts[] = {{Format::q4_0, 17, 64, 1}};
  const auto weights = *backend_->new_weights(parts, Layout::automatic);
  const auto x = make_activations(*backend_, 1, *weights);
  const Array y = make_array(*backend_, 1, 17);
  EXPECT_THAT(plan_error(Linear{weights.get(), x.get(), y.view, {}}), HasSubstr("finish"));
}

TEST_P(Errors, ActivationsMustBeMadeForTheirReaders) {
  const auto small = Matrix::random(Format::q4_0, 17, 256, 1).upload(*backend_);
  const auto large = Matrix::random(Format::q4_k, 17, 256, 1).upload(*backend_);
  const auto x = make_activations(*backend_, 1, *small);
  const Array y = make_array(*backend_, 1, 17);
  // Exact activations have one form for all.
  EXPECT_EQ(plan_error(Linear{large.get(), x.get(), y.view, {}}) == "no error", GetParam().exact);
}

TEST_P(Errors, BuffersKnowTheirEnds) {
  const auto buffer = *backend_->new_buffer(10);
  std::vector<std::byte> bytes(11);
  EXPECT_FALSE(buffer->write(0, bytes));
  EXPECT_FALSE(buffer->read(0, bytes));
  EXPECT_FALSE(buffer->write(10, std::span(bytes).first(1)));
  EXPECT_FALSE(buffer->read(UINT64_MAX, std::span(bytes).first(2)));
  EXPECT_TRUE(buffer->write(10, {}));
  EXPECT_FALSE(backend_->new_buffer(UINT64_MAX));
  EXPECT_FALSE(backend_->wrap(nullptr, 1, nullptr));
}

TEST_P(Errors, MemoryThatIsNotAlignedToItsElements) {
  alignas(4) uint8_t memory[16] = {};
  const Array y = make_array(*backend_, 1, 2);
  for (int shift : {1, 2, 3}) {
    const auto buffer = *backend_->wrap(memory + shift, 12, nullptr);
    ArrayView x = view(*buffer, DataType::f32, 1, 2);
    EXPECT_THAT(plan_error(Scale{x, 1, y.view}), HasSubstr("aligned")) << shift;
    x.offset = uint64_t(4 - shift);  // where the memory is aligned, though the offset is not
    EXPECT_EQ(plan_error(Scale{x, 1, y.view}), "no error") << shift;
  }
}

// Members would wait for ever for one another, or nobody would do anything.
class NoThreads final : public Executor {
 public:
  int threads() const override { return 0; }
  void run(void (*)(void*, int), void*) override {}
};

TEST(BackendNames, WhatIsNotThereIsNamedTogetherWithWhatIs) {
  const auto error = [](std::string_view name, auto change) {
    BackendOptions options;
    change(options);
    const auto backend = create_backend(name, options);
    return backend ? "no error" : backend.error().message;
  };
  EXPECT_THAT(error("abacus", [](auto&) {}), AllOf(HasSubstr("abacus"), HasSubstr("cpu")));
  for (const char* isa : {"sse9", "avx2", "neon"})
    if (std::ranges::none_of(usable_arms(), [&](const Arm& a) { return a.isa == isa; })) {
      EXPECT_THAT(error("cpu", [&](auto& o) { o.isa = isa; }), AllOf(HasSubstr(isa), HasSubstr("scalar")));
    }
  EXPECT_NE(error("cpu", [](auto& o) { o.device = 1; }), "no error");
  EXPECT_NE(error("cpu", [](auto& o) { o.threads = -1; }), "no error");
  EXPECT_NE(error("cpu", [](auto& o) { o.threads = 1 << 20; }), "no error");
  EXPECT_THAT(error("cpu", [](auto& o) { o.executor = std::make_shared<NoThreads>(); }), HasSubstr("0 threads"));
}

}  // namespace
}  // namespace soffit::test
