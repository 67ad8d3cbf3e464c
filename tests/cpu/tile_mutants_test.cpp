// Every fault that is compiled into the scalar kernels is found by the ordinary suite, in its short form already.
#include <gtest/gtest.h>

#include "backends.hpp"
#include "mutants.hpp"

namespace soffit::test {
namespace {

class TileMutants : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, TileMutants, testing::ValuesIn(all_kernel_formats()),
                         [](const auto& p) { return std::string(soffit::info(p.param).name); });

TEST_P(TileMutants, FaultsCompiledIntoTilesAreFound) {
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
