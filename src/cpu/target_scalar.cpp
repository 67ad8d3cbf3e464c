#include "cpu/target-inl.hpp"
#include "cpu/vector_scalar.hpp"

namespace soffit::cpu {

const VectorKernels& scalar_kernels() {
  static const VectorKernels kTable = make_kernels<VectorScalar>(Isa::scalar);
  return kTable;
}

}  // namespace soffit::cpu
