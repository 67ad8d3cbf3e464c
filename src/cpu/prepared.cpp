#include "cpu/prepared.hpp"

#include "core/checked.hpp"

namespace soffit::cpu {

Result<std::unique_ptr<Activations>> CpuActivations::create(int64_t max_rows, int64_t cols,
                                                            std::span<const Weights* const> readers, bool exact) {
  if (max_rows < 0 || cols <= 0)
    return invalid_argument("activations of " + std::to_string(max_rows) + " x " + std::to_string(cols));
  auto a = std::make_unique<CpuActivations>();
  a->max_rows_ = max_rows;
  a->cols_ = cols;
  for (const Weights* w : readers) {
    const auto* weights = dynamic_cast<const CpuWeights*>(w);
    if (!weights) return invalid_argument("activations for weights of another backend");
    if (weights->cols() != cols)
      return invalid_argument("activations of " + std::to_string(cols) + " columns for weights of " +
                              std::to_string(weights->cols()));
    for (size_t p = 0; p < weights->part_count(); ++p) {
      const auto form = form_of(weights->part(p).kernel, exact);
      if (a->has(form)) continue;
      const auto blocks = checked_mul(uint64_t(a->blocks()), uint64_t(max_rows));
      const auto bytes = blocks ? checked_mul(*blocks, block_bytes(form)) : std::nullopt;
      if (!bytes)
        return invalid_argument("activations of " + std::to_string(max_rows) + " x " + std::to_string(cols) +
                                " are too large");
      SOFFIT_TRY(a->form_[size_t(form)], Memory::allocate(*bytes));
    }
  }
  return std::unique_ptr<Activations>(std::move(a));
}

}  // namespace soffit::cpu
