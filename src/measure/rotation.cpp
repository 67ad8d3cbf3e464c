#include "measure/rotation.hpp"

#include <algorithm>

#include "check/blocks.hpp"
#include "core/concat.hpp"

namespace soffit::measure {
namespace {

std::string megabytes(uint64_t bytes) { return concat((bytes + 500'000) / 1'000'000, " MB"); }

}  // namespace

Result<Rotation> plan_rotation(uint64_t asked, uint64_t copy_bytes, uint64_t available) {
  if (copy_bytes == 0) return invalid_argument("a matrix of no bytes cannot be measured");
  // One more is held as it is in the file.
  const uint64_t room = available / 2 / copy_bytes;
  if (room < 2)
    return Error{Code::out_of_memory,
                 concat("a matrix of ", megabytes(copy_bytes), " is needed twice, and only half of ",
                        megabytes(available), " of available memory may be used")};
  const uint64_t wanted = std::max<uint64_t>(1, (asked + copy_bytes - 1) / copy_bytes);
  const uint64_t copies = std::min({wanted, room - 1, uint64_t(kMostCopies)});
  Rotation rotation{int64_t(copies), ""};
  if (copies < wanted)
    rotation.shortfall =
        concat("weights rotate over ", megabytes(copies * copy_bytes), " instead of ", megabytes(asked), ": ",
               copies == uint64_t(kMostCopies) ? concat("at most ", kMostCopies, " copies of a matrix are made")
                                               : concat(megabytes(available), " of memory are available"));
  return rotation;
}

Result<RotatingWeights> RotatingWeights::create(Backend& backend, const MatrixDescription& matrix, Layout layout,
                                                const Rotation& rotation, uint64_t seed, const Progress& progress) {
  RotatingWeights weights;
  weights.matrix_ = matrix;
  SOFFIT_TRY(const uint64_t bytes, matrix_bytes(matrix));
  weights.file_.resize(bytes);
  checker::Random random(seed);
  checker::fill_blocks(matrix.format, checker::Blocks::random, random, weights.file_);
  for (int64_t i = 0; i < rotation.copies; ++i) {
    SOFFIT_CHECK(report(progress, double(i) / double(rotation.copies)));
    SOFFIT_TRY(auto copy, backend.new_weights({&matrix, 1}, layout));
    // Written, never adopted: adopted bytes may be used in place, and then all copies would be one.
    SOFFIT_CHECK(copy->write(0, 0, weights.file_));
    SOFFIT_CHECK(copy->finish());
    weights.copies_.push_back(std::move(copy));
  }
  return weights;
}

}  // namespace soffit::measure
