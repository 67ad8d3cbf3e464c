// Prepared activations on the CPU: the forms that the weights reading them want.
#pragma once

#include <array>
#include <atomic>

#include "cpu/kernels.hpp"
#include "cpu/memory.hpp"
#include "cpu/weights.hpp"

namespace soffit::cpu {

class CpuActivations final : public Activations {
 public:
  static Result<std::unique_ptr<Activations>> create(int64_t max_rows, int64_t cols,
                                                     std::span<const Weights* const> readers, bool exact);
  int64_t max_rows() const override { return max_rows_; }
  int64_t cols() const override { return cols_; }

  int64_t blocks() const { return (cols_ + kBlockColumns - 1) / kBlockColumns; }
  bool has(ActivationForm form) const { return form_[size_t(form)].data() != nullptr; }
  uint8_t* data(ActivationForm form) const { return form_[size_t(form)].data(); }
  static size_t block_bytes(ActivationForm form) {
    return form == ActivationForm::float32 ? sizeof(FloatBlock) : sizeof(QuantisedBlock);
  }
  // The rows of the batch that they were prepared for last: who reads them must mean as many, for the blocks are laid
  // out for it.
  int64_t rows() const { return rows_.load(std::memory_order_relaxed); }
  // Columns [first, first + count) of row `row` of a batch of n, into every form. `first` is a multiple of 256.
  void prepare(const VectorKernels& kernels, const float* x, int64_t first, int64_t count, int64_t row,
               int64_t n) const {
    rows_.store(n, std::memory_order_relaxed);
    for (size_t f = 0; f < form_.size(); ++f) {
      if (!form_[f].data()) continue;
      const auto form = ActivationForm(f);
      kernels.quantise(x, count, form, form_[f].data() + size_t(first / kBlockColumns * n + row) * block_bytes(form),
                       n);
    }
  }

 private:
  int64_t max_rows_ = 0, cols_ = 0;
  mutable std::atomic<int64_t> rows_{0};  // every member of a run writes the same
  std::array<Memory, 3> form_;
};

// The form that a part's kernel reads.
inline ActivationForm form_of(const LinearKernel& kernel, bool exact) {
  return exact ? ActivationForm::float32 : kernel.form;
}

}  // namespace soffit::cpu
