// An operation on rotating weights, recorded into plans of several operations each (legs), so that a leg is long
// against the clock. Every operation of a leg has its own activations and results, as in a model.
//
// Operations of one leg, and of all legs together, read different bytes: other copies, other experts, other rows.
#pragma once

#include <memory>
#include <vector>

#include "measure/kernel_case.hpp"
#include "measure/roof.hpp"
#include "measure/rotation.hpp"

namespace soffit::measure {

class Workload {
 public:
  static Result<Workload> create(Backend& backend, const Roof& roof, const RotatingWeights& weights,
                                 const KernelCase& kernel_case, uint64_t seed);

  // Makes the legs, of this many operations each (fewer where there are not as many). What is left over of the rotation
  // is left out.
  Status arrange(int64_t operations);
  size_t legs() const { return legs_.size(); }
  int64_t operations() const { return operations_; }  // of a leg
  Status run(size_t leg) { return legs_[leg].plan->run(); }
  // The bytes of weights that the leg reads, where the kernels read them.
  std::span<const Bytes> regions(size_t leg) const { return legs_[leg].regions; }

  const KernelCase& kernel_case() const { return case_; }
  std::string_view layout() const { return weights_->copies().front()->layout_name(0); }
  // Of one operation. The file's bytes: those of the matrix, or of the experts or rows that it reads.
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t layout_bytes() const { return layout_bytes_; }
  double flops() const;
  // Bytes that all legs together read before any is read again.
  uint64_t rotated_bytes() const;

  // For checking. Operations of the same variant have the same inputs and so must have the same results.
  int64_t variant(size_t leg, int64_t operation) const { return (legs_[leg].first + operation) % variants_; }
  int64_t variants() const { return variants_; }
  std::span<const float> x() const { return x_values_; }  // (n, cols), exact in the activations' type
  std::span<const int32_t> ids(int64_t variant) const;    // linear_id: (n, used); get_rows: (1, n)
  std::span<const std::byte> file() const { return weights_->file(); }
  Result<std::vector<float>> results(int64_t operation) const;  // of the leg that ran last

 private:
  struct Leg {
    int64_t first = 0;  // operation of the rotation
    std::unique_ptr<Plan> plan;
    std::vector<Bytes> regions;
  };

  Status make_inputs(uint64_t seed);
  Status make_outputs(int64_t operations);
  Result<Leg> make_leg(int64_t first) const;
  Status add_regions(int64_t operation, std::vector<Bytes>& regions) const;

  Backend* backend_ = nullptr;
  const Roof* roof_ = nullptr;
  const RotatingWeights* weights_ = nullptr;
  KernelCase case_;
  int64_t variants_ = 1;  // sets of experts or rows that have nothing in common
  int64_t experts_read_ = 1;
  uint64_t file_bytes_ = 0, layout_bytes_ = 0;

  std::vector<float> x_values_;
  std::vector<int32_t> ids_values_;
  std::unique_ptr<Buffer> x_, ids_, y_;
  std::vector<std::unique_ptr<Activations>> prepared_;  // of each operation of a leg
  int64_t operations_ = 0;
  std::vector<Leg> legs_;
};

}  // namespace soffit::measure
