// Every fault that is put around a kernel is found by the ordinary suite, in its short form already.
#include "mutants.hpp"

#include <gtest/gtest.h>

#include "backends.hpp"
#include "cpu/kernel_table.hpp"

namespace soffit::test {
namespace {

class Mutants : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, Mutants, testing::ValuesIn(all_kernel_formats()),
                         [](const auto& p) { return std::string(soffit::info(p.param).name); });

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

}  // namespace
}  // namespace soffit::test
