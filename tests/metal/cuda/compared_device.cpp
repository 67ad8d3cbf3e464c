#include "compared_device.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/concat.hpp"
#include "core/half.hpp"

namespace soffit::metal {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const Binding& b) {
  const std::byte* from = b.buffer->data() + b.offset;
  return {from, from + b.bytes};
}
void put_back(const Binding& b, const Bytes& bytes) { std::ranges::copy(bytes, b.buffer->data() + b.offset); }

float number(uint16_t bits) { return half_to_float(bits); }
float number(uint32_t bits) { return std::bit_cast<float>(bits); }

// Numbers of the type in their order.
template <class Bits>
int64_t rank(Bits bits) {
  const auto magnitude = int64_t(bits & Bits(~Bits(0) >> 1));
  return bits >> (8 * sizeof(Bits) - 1) ? -magnitude : magnitude;
}

template <class Bits>
bool compare(const Bytes& a, const Bytes& b, Comparison& result) {
  bool equal = true;
  for (size_t i = 0; i + sizeof(Bits) <= a.size(); i += sizeof(Bits)) {
    Bits x, y;
    std::memcpy(&x, &a[i], sizeof x);
    std::memcpy(&y, &b[i], sizeof y);
    if (x == y || (std::isnan(number(x)) && std::isnan(number(y)))) continue;
    equal = false;
    ++result.other;
    if (std::isfinite(number(x)) && std::isfinite(number(y)))
      result.most_steps = std::max(result.most_steps, uint64_t(std::abs(rank(x) - rank(y))));
  }
  if (!equal) result.elements += a.size() / sizeof(Bits);
  return equal;
}

}  // namespace

Result<const Pipeline*> ComparedDevice::pipeline(const std::string& kernel,
                                                 const std::vector<FunctionConstant>& constants) {
  auto both = std::make_unique<Both>();
  both->kernel = kernel;
  SOFFIT_TRY(both->first, first_->pipeline(kernel, constants));
  SOFFIT_TRY(both->second, second_->pipeline(kernel, constants));
  std::string key = kernel;
  for (const auto& c : constants) key += concat(" ", c.index, "=", c.value);
  const std::lock_guard lock(mutex_);
  return pipelines_.emplace(key, std::move(both)).first->second.get();
}

Status ComparedDevice::run(const Dispatch& dispatch) {
  const auto& both = static_cast<const Both&>(*dispatch.pipeline);
  std::vector<Bytes> before, after;
  for (const Binding& b : dispatch.buffers) before.push_back(bytes_of(b));
  Dispatch one = dispatch;
  one.pipeline = both.second;
  SOFFIT_CHECK(second_->run({&one, 1}));
  for (const Binding& b : dispatch.buffers) after.push_back(bytes_of(b));
  for (size_t i = 0; i < before.size(); ++i) put_back(dispatch.buffers[i], before[i]);
  one.pipeline = both.first;
  SOFFIT_CHECK(first_->run({&one, 1}));
  Comparison& comparison = comparisons_[both.kernel];
  bool equal = true;
  for (size_t i = 0; i < after.size(); ++i) {
    const Bytes now = bytes_of(dispatch.buffers[i]);
    if (now == after[i]) continue;
    const bool halves = both.kernel.ends_with("f16") && both.kernel != "attention_f16";
    equal &= halves ? compare<uint16_t>(now, after[i], comparison) : compare<uint32_t>(now, after[i], comparison);
  }
  ++comparison.dispatches;
  comparison.equal += equal;
  return {};
}

Status ComparedDevice::run(std::span<const Dispatch> dispatches) {
  const std::lock_guard lock(mutex_);
  for (const auto& d : dispatches)
    if (d.grid.x > 0 && d.grid.y > 0 && d.grid.z > 0) SOFFIT_CHECK(run(d));
  return {};
}

}  // namespace soffit::metal
