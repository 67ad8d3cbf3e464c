#include "cpu/target-inl.hpp"
#include "cpu/vector_avx2.hpp"

namespace soffit::cpu {

const VectorKernels& avx2_kernels() {
  static const VectorKernels kTable = make_kernels<VectorAvx2>(Isa::avx2);
  return kTable;
}

}  // namespace soffit::cpu
