// Checks of the operations that stand around the matrices in a model. Each is a function of a backend; its bound is
// derived where it is written.
#pragma once

#include <functional>
#include <vector>

#include "check/arrays.hpp"

namespace soffit::checker {

struct Check {
  Subject subject;
  std::function<Result<Outcome>(Backend&, Placement&)> run;
};

std::vector<Check> norm_checks(bool quick);
std::vector<Check> rotate_checks(bool quick);
std::vector<Check> attention_checks(bool quick);  // with append_key_value
std::vector<Check> gated_activation_checks(bool quick);
std::vector<Check> route_checks(bool quick);
std::vector<Check> combine_checks(bool quick);
std::vector<Check> gather_checks(bool quick);
std::vector<Check> add_checks(bool quick);
std::vector<Check> scale_checks(bool quick);
std::vector<Check> soft_cap_checks(bool quick);
std::vector<Check> all_reduce_checks(bool quick);
std::vector<Check> short_convolution_checks(bool quick);
std::vector<Check> gated_delta_rule_checks(bool quick);

void add_check(std::vector<Check>& checks, Subject subject, std::function<Result<Outcome>(Backend&, Placement&)> run);
// Lengths around what kernels take at once: 1 to 70 and 1023 to 1057.
std::vector<int64_t> odd_lengths(bool quick);
// rows * cols values of N(0, 1) times `size`.
std::vector<float> normal_array(uint64_t seed, int64_t count, float size = 1);
// Plans and runs one operation, then compares.
Result<Outcome> run_one(Backend& backend, const Operation& operation, const ResultArray& y,
                        std::span<const Value> expected);

}  // namespace soffit::checker
