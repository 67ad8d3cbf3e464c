// A matrix times vectors by a kernel of src/metal, on the lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "lanes/device_memory.hpp"
#include "lanes/launch.hpp"
#include "metal/variants.hpp"
#include "soffit/backend.hpp"

namespace soffit::metal {

struct LinearShape {
  uint64_t rows = 1, cols = 256, n = 1;
  uint64_t row_bytes = 0;               // 0: rows follow one another
  uint64_t x_stride = 0, y_stride = 0;  // elements; 0: columns follow one another
};

struct LaneOptions {
  bool checked = true;
  std::optional<uint64_t> seed{};  // shuffles lanes and threadgroups
  bool contract = true;
  unsigned threads = 1;  // when not checked
  uint32_t traced_simdgroups = 0;
  bool trace_loads = false;  // of the first threadgroup
  lanes::Watch watch() const { return {traced_simdgroups, trace_loads}; }
};

// The buffers of one product; the caller fills weights and x and finds the results in y. All are of exactly the size
// that the shape takes.
struct LinearBuffers {
  lanes::DeviceMemory weights, x, y;
  static Result<LinearBuffers> create(Format format, const LinearShape& shape, DataType type);
};

// The lanes want all function constants of a file, whether or not the kernel uses them.
std::map<uint32_t, lanes::ConstantValue> constants_of(const Tuning& tuning, uint32_t batch);

// `type` is that of activations and results: f32 or f16.
Result<lanes::Outcome> run_linear(const Variant& variant, const Tuning& tuning, const LinearShape& shape, DataType type,
                                  const LinearBuffers& buffers, const LaneOptions& options);

}  // namespace soffit::metal
