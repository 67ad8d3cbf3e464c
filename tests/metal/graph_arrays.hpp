// Buffers for the tests of kernels around the products, and a way to run these.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "check/bounds.hpp"
#include "check/random.hpp"
#include "metal/graph_kernels.hpp"

namespace soffit::metal {

using checker::gamma;
using checker::kUnit;
using checker::Value;

// A buffer of exactly the size of its contents.
struct Any {
  lanes::DeviceMemory memory;
  std::vector<std::byte> bytes() const { return {memory.data(), memory.data() + memory.bytes()}; }
  void set_bytes(const std::vector<std::byte>& from) { std::memcpy(memory.data(), from.data(), from.size()); }
};
template <class T>
struct Array : Any {
  size_t count;
  explicit Array(const std::vector<T>& values) : count(values.size()) {
    auto created = lanes::DeviceMemory::create(values.size() * sizeof(T));
    EXPECT_TRUE(created);
    memory = std::move(*created);
    std::memcpy(memory.data(), values.data(), values.size() * sizeof(T));
  }
  std::vector<T> values() const {
    std::vector<T> all(count);
    std::memcpy(all.data(), memory.data(), count * sizeof(T));
    return all;
  }
  void set(const std::vector<T>& values) { std::memcpy(memory.data(), values.data(), count * sizeof(T)); }
};

inline std::vector<float> normal(uint64_t seed, size_t count, float size = 1) {
  checker::Random random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = size * random.normal();
  return values;
}
inline const float kUnset = std::numeric_limits<float>::quiet_NaN();

// Runs a kernel in each mode, from the same `result` and `states`; what it makes of the result has to be the same.
template <class T, class A>
std::vector<T> run(std::string_view name, const A& arguments, std::vector<const lanes::DeviceMemory*> buffers,
                   Array<T>& result, const GraphShape& shape, std::vector<Any*> states = {}) {
  const GraphKernel* kernel = find_graph_kernel(name);
  EXPECT_NE(kernel, nullptr) << name;
  const std::vector<T> before = result.values();
  std::vector<std::vector<std::byte>> states_before;
  for (const Any* state : states) states_before.push_back(state->bytes());
  std::vector<T> first;
  const LaneOptions arms[] = {
      {.seed = 1, .contract = false}, {.seed = 2, .contract = false}, {.checked = false, .seed = {}, .threads = 2}};
  for (const LaneOptions& options : arms) {
    result.set(before);
    for (size_t s = 0; s < states.size(); ++s) states[s]->set_bytes(states_before[s]);
    const auto outcome = run_graph_kernel(*kernel, std::as_bytes(std::span(&arguments, 1)), buffers, shape, options);
    EXPECT_TRUE(outcome) << outcome.error().message;
    if (!outcome) return before;
    for (const lanes::Fault& fault : outcome->faults) ADD_FAILURE() << name << ": " << to_text(fault);
    if (first.empty()) first = result.values();
    EXPECT_EQ(std::memcmp(first.data(), result.values().data(), first.size() * sizeof(T)), 0) << name;
  }
  return first;
}

inline void expect_right(float result, const Value& value, size_t place) {
  EXPECT_LE(checker::error_over_bound(result, DataType::f32, value), 1)
      << "at " << place << ": " << result << ", expected " << value.exact << " +- " << value.bound;
}

}  // namespace soffit::metal
