// Where a check's arrays and weights lie. Tests put them elsewhere, such as between pages that fault.
#pragma once

#include <memory>
#include <span>

#include "soffit/backend.hpp"

namespace soffit::checker {

class Placement {
 public:
  virtual ~Placement() = default;
  virtual Result<std::unique_ptr<Buffer>> buffer(Backend& backend, uint64_t size) { return backend.new_buffer(size); }
  // Bytes before and after a result array that a check lays out and looks at again.
  virtual uint64_t margin() const { return 64; }
  // Gives a part its bytes, which stay valid until the weights are gone.
  virtual Status fill(Weights& weights, size_t part, const MatrixSource& source) {
    return weights.adopt(part, source, nullptr);
  }
};

}  // namespace soffit::checker
