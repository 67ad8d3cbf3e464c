#include "cpu/target-inl.hpp"
#include "cpu/vector_avx512.hpp"

namespace soffit::cpu {

const VectorKernels& avx512_kernels() {
  static const VectorKernels kTable = make_kernels<VectorAvx512>(Isa::avx512);
  return kTable;
}

}  // namespace soffit::cpu
