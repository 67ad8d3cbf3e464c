// Weights that rotate: as many copies of a matrix as are needed so that a round through them is longer than any cache,
// each in memory of its own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure/progress.hpp"
#include "soffit/backend.hpp"

namespace soffit::measure {

struct Rotation {
  int64_t copies = 1;
  std::string shortfall;  // why they are fewer bytes than asked for; empty when they are not
};
// Copies whose bytes together are at least `asked`; 0 asks for one, which then stays in whatever cache it fits. At most
// half of the available memory is taken, and at most kMostCopies.
inline constexpr int64_t kMostCopies = 16384;  // each is a mapping, of which a process may have some 65,000
Result<Rotation> plan_rotation(uint64_t asked, uint64_t copy_bytes, uint64_t available);

class RotatingWeights {
 public:
  // Random blocks, the same in every copy, so that every copy must give the same results.
  static Result<RotatingWeights> create(Backend& backend, const MatrixDescription& matrix, Layout layout,
                                        const Rotation& rotation, uint64_t seed, const Progress& progress);

  const MatrixDescription& matrix() const { return matrix_; }
  // The bytes of a copy as they would be in a file.
  std::span<const std::byte> file() const { return file_; }
  const std::vector<std::unique_ptr<Weights>>& copies() const { return copies_; }

 private:
  MatrixDescription matrix_;
  std::vector<std::byte> file_;
  std::vector<std::unique_ptr<Weights>> copies_;
};

}  // namespace soffit::measure
