#include "cpu/target-inl.hpp"
#include "cpu/vector_neon.hpp"

namespace soffit::cpu {

const VectorKernels& neon_dotprod_kernels() {
  static const VectorKernels kTable = make_kernels<VectorNeon<true>>(Isa::neon_dotprod);
  return kTable;
}

}  // namespace soffit::cpu
