// Decodes the tensors of a file and looks for values that no model should have.
#pragma once

#include <cstdint>
#include <vector>

#include "soffit/gguf.hpp"

namespace soffit::tool {

// A tensor in which blocks decode to NaN or infinity: a scale that is none, or a value that is none.
struct NonFinite {
  const gguf::Tensor* tensor = nullptr;
  uint64_t values = 0;  // NaN and infinities
  uint64_t blocks = 0;  // with at least one of them
  uint64_t first_block = 0;
};

struct TensorCheck {
  std::vector<NonFinite> faults;               // in the file's order
  std::vector<const gguf::Tensor*> unchecked;  // of formats that cannot be decoded here
};

// Memory is bounded whatever the file's size: pages that were looked at are released.
TensorCheck check_tensors(const gguf::File& file, int threads);

}  // namespace soffit::tool
