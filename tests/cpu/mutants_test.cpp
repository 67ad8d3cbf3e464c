// Every fault that is put into a kernel is found by the ordinary suite, in its short form already.
#include "mutants.hpp"

#include <gtest/gtest.h>

#include "backends.hpp"
#include "check/suite.hpp"
#include "cpu/backend.hpp"
#include "cpu/kernel_table.hpp"

namespace soffit::test {
namespace {

using checker::Report;
using checker::Verdict;

// How many cases fail, at most one: the suite stops there.
int failures(const cpu::VectorKernels& kernels, bool exact, Format format, OperationKind operation) {
  cpu::CpuBackend backend(kernels, std::make_unique<Team>(*own_threads(1)), exact);
  Backend* list[] = {&backend};
  checker::SuiteOptions options;
  options.formats = {format}, options.operations = {operation}, options.quick = true;
  checker::Placement placement;
  int count = 0;
  checker::run_suite(list, options, placement, [&](const Report& r) {
    count += r.outcome.verdict == Verdict::failed;
    return count == 0;
  });
  return count;
}

class Mutants : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, Mutants, testing::ValuesIn(all_kernel_formats()),
                         [](const auto& p) { return std::string(soffit::info(p.param).name); });

constexpr OperationKind kProducts[] = {OperationKind::linear, OperationKind::linear_id};

TEST_P(Mutants, FaultsAroundEveryKernelAreFound) {
  constexpr Fault kFaults[] = {Fault::zeroed_row,   Fault::dropped_block, Fault::wrong_tail, Fault::dropped_column_tail,
                               Fault::swapped_rows, Fault::shifted_block, Fault::wrong_token};
  for (const Arm& arm : usable_arms()) {
    const cpu::VectorKernels& base = *cpu::kernels_for(*cpu::find_isa(arm.isa));
    for (OperationKind operation : kProducts) {
      ASSERT_EQ(failures(faulty_kernels(base, GetParam(), Fault::none), arm.exact, GetParam(), operation), 0);
      for (Fault fault : kFaults) {
        if (!applies(fault, GetParam())) continue;
        // The experts' cases have one block or few, and one token each: what is not there cannot go wrong.
        if (operation == OperationKind::linear_id && fault == Fault::dropped_column_tail) continue;
        EXPECT_EQ(failures(faulty_kernels(base, GetParam(), fault), arm.exact, GetParam(), operation), 1)
            << to_string(fault) << " was not found in " << to_string(operation) << " on " << arm.isa
            << (arm.exact ? ", exact" : "");
      }
    }
  }
}

TEST_P(Mutants, FaultsCompiledIntoTilesAreFound) {
  if (!applies(TileFault::swapped_scales, GetParam())) GTEST_SKIP() << "plain rows have no tiles";
  for (bool exact : {false, true})
    for (OperationKind operation : kProducts) {
      ASSERT_EQ(failures(faulty_scalar_kernels(TileFault::none), exact, GetParam(), operation), 0);
      for (TileFault fault :
           {TileFault::swapped_scales, TileFault::shifted_scales, TileFault::missing_minimum, TileFault::wrong_code})
        // One code off by one is less than what rounding activations to 8 bits may do.
        if (applies(fault, GetParam()) && (exact || fault != TileFault::wrong_code)) {
          EXPECT_EQ(failures(faulty_scalar_kernels(fault), exact, GetParam(), operation), 1)
              << to_string(fault) << " was not found in " << to_string(operation) << (exact ? ", exact" : "");
        }
    }
}

}  // namespace
}  // namespace soffit::test
