#include "cpu/target-inl.hpp"
#include "cpu/vector_neon.hpp"

namespace soffit::cpu {

const VectorKernels& neon_kernels() {
  static const VectorKernels kTable = make_kernels<VectorNeon<false>>(Isa::neon);
  return kTable;
}

}  // namespace soffit::cpu
