// The instruction sets that kernels exist for, asked of the processor and the operating system at run time.
// isa.cpp is compiled without instruction-set flags, so that asking can never fault.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "soffit/status.hpp"

namespace soffit::cpu {

enum class Isa : uint8_t { scalar, neon, neon_dotprod, avx2, avx512 };

struct IsaEntry {
  Isa isa;
  std::string_view name;
  bool available;
  std::string reason;  // why it is not available
};

// All of them, worst first.
std::span<const IsaEntry> isas();
// "auto" is the best available one. A name that is unknown or not available here is an error that lists what is.
Result<Isa> find_isa(std::string_view name);
std::string_view to_string(Isa isa);

}  // namespace soffit::cpu
