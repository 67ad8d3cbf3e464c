// Memory between two pages that fault when they are touched, up against the one or the other.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "check/placement.hpp"

namespace soffit::test {

enum class Against : uint8_t { front, back };

class Guarded {
 public:
  Guarded(size_t size, Against side);
  ~Guarded();
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  std::span<std::byte> bytes() const { return {data_, size_}; }
  void make_read_only();

 private:
  std::byte *base_ = nullptr, *data_ = nullptr;
  size_t size_ = 0, mapped_ = 0;
};

// Every array and every part of the weights in guarded memory of its own; the weights cannot be written.
class GuardedPlacement final : public checker::Placement {
 public:
  explicit GuardedPlacement(Against side) : side_(side) {}
  Result<std::unique_ptr<Buffer>> buffer(Backend& backend, uint64_t size) override;
  uint64_t margin() const override { return 0; }
  Status fill(Weights& weights, size_t part, const MatrixSource& source) override;

 private:
  Against side_;
};

// Weights written in pieces of odd sizes.
class PiecesPlacement final : public checker::Placement {
 public:
  Status fill(Weights& weights, size_t part, const MatrixSource& source) override;
};

// A matrix's bytes without gaps.
std::vector<std::byte> dense_bytes(const MatrixDescription& matrix, const MatrixSource& source);

}  // namespace soffit::test
