// The Metal backend on the lanes: the checker's suite, every access checked in its short form, and models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "check/random.hpp"
#include "check/suite.hpp"
#include "soffit/operation.hpp"

namespace soffit::test {
namespace {

using checker::Report;
using checker::SuiteOptions;
using checker::Verdict;
using testing::HasSubstr;

std::unique_ptr<Backend> lanes(const char* isa, int threads = 2) {
  BackendOptions options;
  options.isa = isa;
  options.threads = threads;
  return *create_backend("metal-lanes", options);
}

void expect_suite(Backend& backend, SuiteOptions options) {
  options.quick = true;
  Backend* list[] = {&backend};
  checker::Placement placement;
  int64_t cases = 0, skipped = 0;
  checker::run_suite(list, options, placement, [&](const Report& r) {
    ++cases;
    skipped += r.outcome.verdict == Verdict::skipped;
    if (r.outcome.verdict == Verdict::failed)
      ADD_FAILURE() << to_string(r.subject.operation) << " " << info(r.subject.format).name << ", " << r.subject.rows
                    << " x " << r.subject.cols << ", n " << r.subject.n << " (" << r.subject.variant
                    << "): " << r.outcome.reason;
    return !testing::Test::HasFailure();
  });
  EXPECT_GT(cases, skipped);
}

std::vector<Format> formats_with_kernels() {
  std::vector<Format> formats;
  for (const FormatInfo& f : all_formats())
    if (f.supported) formats.push_back(Format(f.id));
  return formats;
}

class MetalBackend : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, MetalBackend, testing::ValuesIn(formats_with_kernels()),
                         [](const auto& p) { return std::string(soffit::info(p.param).name); });

TEST_P(MetalBackend, PlainResultsLieWithinBounds) {
  SuiteOptions options;
  options.formats = {GetParam()};
  options.operations = {OperationKind::linear, OperationKind::linear_id, OperationKind::get_rows};
  expect_suite(*lanes("plain"), options);
}

TEST_P(MetalBackend, NoAccessIsWrong) {
  SuiteOptions options;
  options.formats = {GetParam()};
  options.operations = {OperationKind::linear, OperationKind::linear_id, OperationKind::get_rows};
  expect_suite(*lanes("checked", 1), options);
}

std::vector<OperationKind> operations_around_the_matrices() {
  std::vector<OperationKind> kinds;
  for (OperationKind kind : checker::checked_operations())
    if (kind > OperationKind::get_rows) kinds.push_back(kind);
  return kinds;
}

class MetalOperation : public testing::TestWithParam<OperationKind> {};
INSTANTIATE_TEST_SUITE_P(Around, MetalOperation, testing::ValuesIn(operations_around_the_matrices()),
                         [](const auto& p) { return std::string(to_string(p.param)); });

TEST_P(MetalOperation, LiesWithinBoundsAndTouchesNothingElse) {
  SuiteOptions options;
  options.operations = {GetParam()};
  expect_suite(*lanes("plain"), options);
  expect_suite(*lanes("checked", 1), options);
}

// ---- faults of a run, as on the CPU ----

struct Array {
  std::unique_ptr<Buffer> buffer;
  ArrayView view;
};
template <class T>
Array array(Backend& backend, DataType type, int64_t rows, int64_t cols, const std::vector<T>& values) {
  Array a;
  a.buffer = *backend.new_buffer(uint64_t(rows * cols * size_of(type)));
  a.view = view(*a.buffer, type, rows, cols);
  EXPECT_TRUE(a.buffer->write(0, std::as_bytes(std::span(values))));
  return a;
}
std::string run_error(Backend& backend, const std::vector<Operation>& operations) {
  const auto plan = backend.plan(operations, {});
  if (!plan) return plan.error().message;
  const Status status = (*plan)->run();
  return status ? "no error" : status.error().message;
}

TEST(MetalBackend, IdsAndPlacesThatAreNoneAreErrorsOfTheRun) {
  const auto backend = lanes("checked", 1);
  const auto state = *backend->new_state({{KeyValueLayer{2, 16}}, 2, 10, DataType::f16});
  const Array k = array(*backend, DataType::f32, 2, 32, std::vector<float>(64));
  const Array q = array(*backend, DataType::f32, 2, 64, std::vector<float>(128));
  const Array y = array(*backend, DataType::f32, 2, 64, std::vector<float>(128));
  for (const auto& [sequence, position] : {std::pair{2, 0}, {-1, 0}, {0, 10}, {0, INT32_MIN}}) {
    const Array s = array(*backend, DataType::i32, 1, 2, std::vector<int32_t>{1, sequence});
    const Array p = array(*backend, DataType::i32, 1, 2, std::vector<int32_t>{9, position});
    const auto named =
        testing::AllOf(HasSubstr(std::to_string(sequence)), HasSubstr(std::to_string(position)), HasSubstr("10"));
    EXPECT_THAT(run_error(*backend, {AppendKeyValue{k.view, k.view, state.get(), 0, s.view, p.view}}), named);
    EXPECT_THAT(run_error(*backend, {Attention{q.view, state.get(), 0, 4, 1, 0, s.view, p.view, y.view}}), named);
  }
  const Array ids = array(*backend, DataType::i32, 1, 2, std::vector<int32_t>{1, 2});
  EXPECT_THAT(run_error(*backend, {Gather{q.view, ids.view, y.view}}), HasSubstr("row 2 of 2"));
  std::vector<float> logits(16, 1.0f);
  logits[9] = NAN;
  const Array from = array(*backend, DataType::f32, 2, 8, logits);
  const Array chosen = array(*backend, DataType::i32, 2, 2, std::vector<int32_t>(4));
  const Array weights = array(*backend, DataType::f32, 2, 2, std::vector<float>(4));
  EXPECT_THAT(run_error(*backend, {Route{from.view, chosen.view, weights.view, 1}}), HasSubstr("row 1"));
}

TEST(MetalBackend, WhatItHasNoKernelForIsRefusedWithAReason) {
  const auto backend = lanes("plain");
  const auto state = *backend->new_state({{KeyValueLayer{1, 520}}, 1, 10, DataType::f16});
  const Array q = array(*backend, DataType::f32, 1, 520, std::vector<float>(520));
  const Array zero = array(*backend, DataType::i32, 1, 1, std::vector<int32_t>{0});
  EXPECT_THAT(run_error(*backend, {Attention{q.view, state.get(), 0, 1, 1, 0, zero.view, zero.view, q.view}}),
              HasSubstr("heads of 520"));
  BackendOptions options;
  options.isa = "avx2";
  const auto other = create_backend("metal-lanes", options);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, testing::AllOf(HasSubstr("avx2"), HasSubstr("checked")));
}

}  // namespace
}  // namespace soffit::test
