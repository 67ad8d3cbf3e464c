// The arguments of a user's kernel, from JSON.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lanes/compile.hpp"
#include "lanes/device_memory.hpp"
#include "lanes/launch.hpp"
#include "soffit/format.hpp"
#include "table.hpp"

namespace soffit::tool {

struct KernelBuffer {
  lanes::DeviceMemory memory;
  std::string type;              // of its elements; a format's name for blocks
  uint64_t count = 0;            // elements
  std::optional<Format> format;  // of blocks
  std::string expect, save;      // files: what should be in it afterwards, where to write it; empty when not given
  double tolerance = 0;
};

struct KernelArguments {
  std::vector<std::string> template_arguments;
  lanes::Launch launch;
  std::map<uint32_t, KernelBuffer> buffers;  // the memory of launch.buffers
  uint64_t weights = 0, cols = 0;            // 0: not given; cols are those of a row of weights
};

// What the kernel is instantiated with, which is needed before there is a kernel.
Result<std::vector<std::string>> template_arguments(const Json& json);
// `kernel` says which buffers are constant and which are written. Files are looked for beside `directory`.
Result<KernelArguments> kernel_arguments(const Json& json, const lanes::Kernel& kernel,
                                         const std::filesystem::path& directory, uint64_t seed);

struct Comparison {
  std::string difference;  // empty when the buffer is as expected
};
// What is in the buffer against its `expect` file: |value - expected| <= tolerance * max(1, |expected|) for numbers.
Result<Comparison> compared(const KernelBuffer& buffer, uint32_t index, const std::filesystem::path& directory);
Status saved(const KernelBuffer& buffer, const std::filesystem::path& directory);

}  // namespace soffit::tool
