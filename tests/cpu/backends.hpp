// Backends for tests: one for each instruction set that this machine has, rounding activations or not.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "soffit/backend.hpp"

namespace soffit::test {

struct Arm {
  std::string isa;
  bool exact = false;
};
inline void PrintTo(const Arm& arm, std::ostream* out) { *out << arm.isa << (arm.exact ? ", exact" : ""); }

// Each instruction set that can run here, or SOFFIT_TEST_ISA alone; isa_test.cpp says which cannot, and why.
std::vector<Arm> usable_arms();
std::string arm_name(const testing::TestParamInfo<Arm>& param);

std::unique_ptr<Backend> make_backend(const Arm& arm, int threads = 2);

// A test of one instruction set by name.
class EachArm : public testing::TestWithParam<Arm> {
 protected:
  void SetUp() override;
  std::unique_ptr<Backend> backend_;
};
#define SOFFIT_FOR_EACH_ARM(Suite) \
  INSTANTIATE_TEST_SUITE_P(Cpu, Suite, testing::ValuesIn(::soffit::test::usable_arms()), ::soffit::test::arm_name)

std::vector<Format> all_kernel_formats();

}  // namespace soffit::test
