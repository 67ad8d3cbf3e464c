// Which instruction sets this build has kernels for.
#include "cpu/kernel_table.hpp"

namespace soffit::cpu {

const VectorKernels* kernels_for(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return &scalar_kernels();
#if defined(__x86_64__)
    case Isa::avx2:
      return &avx2_kernels();
    case Isa::avx512:
      return &avx512_kernels();
#elif defined(__aarch64__)
    case Isa::neon:
      return &neon_kernels();
    case Isa::neon_dotprod:
      return &neon_dotprod_kernels();
#endif
    default:
      return nullptr;
  }
}

}  // namespace soffit::cpu
