// The block structs and value tables of every format with kernels, written once for C99, C++, CUDA and Metal.
//
// Bytes are those of a GGUF file (little-endian hosts only). fp16 fields are raw bits in a uint16_t. Blocks follow one
// another without padding, so inside a tensor a block is aligned only to its size's largest power of two, and the
// structs ask for 2 bytes at most; MXFP4's and the plain bytes' for 1. What the fields mean is told, with a picture of
// the bytes, in the file named after the format. Source: the GGUF format as ggml defines it.
#ifndef SOFFIT_FORMATS_BLOCKS_H
#define SOFFIT_FORMATS_BLOCKS_H

#ifdef __METAL_VERSION__
#include <metal_stdlib>
#define SOFFIT_TABLE constant
#else
#include <stdint.h>
#ifdef __cplusplus
#define SOFFIT_TABLE static constexpr
#else
#define SOFFIT_TABLE static const
#endif
#endif

#ifdef __cplusplus
#define SOFFIT_BLOCK_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type " is not " #bytes " bytes")
namespace soffit {
#else  // an array of negative size where C99 has no static assertion
#define SOFFIT_BLOCK_SIZE(type, bytes) typedef char soffit_size_of_##type[sizeof(type) == (bytes) ? 1 : -1]
#endif

// 32 elements ---------------------------------------------------------------------------------------------------------

typedef struct BlockQ4_0 {
  uint16_t d;
  uint8_t qs[16];
} BlockQ4_0;
SOFFIT_BLOCK_SIZE(BlockQ4_0, 18);

typedef struct BlockQ4_1 {
  uint16_t d, m;
  uint8_t qs[16];
} BlockQ4_1;
SOFFIT_BLOCK_SIZE(BlockQ4_1, 20);

typedef struct BlockQ5_0 {
  uint16_t d;
  uint8_t qh[4];  // bytes: as one word it would not be aligned
  uint8_t qs[16];
} BlockQ5_0;
SOFFIT_BLOCK_SIZE(BlockQ5_0, 22);

typedef struct BlockQ5_1 {
  uint16_t d, m;
  uint8_t qh[4];
  uint8_t qs[16];
} BlockQ5_1;
SOFFIT_BLOCK_SIZE(BlockQ5_1, 24);

typedef struct BlockQ8_0 {
  uint16_t d;
  int8_t qs[32];
} BlockQ8_0;
SOFFIT_BLOCK_SIZE(BlockQ8_0, 34);

typedef struct BlockIQ4_NL {
  uint16_t d;
  uint8_t qs[16];
} BlockIQ4_NL;
SOFFIT_BLOCK_SIZE(BlockIQ4_NL, 18);

typedef struct BlockMXFP4 {
  uint8_t e;  // E8M0
  uint8_t qs[16];
} BlockMXFP4;
SOFFIT_BLOCK_SIZE(BlockMXFP4, 17);

// 256 elements --------------------------------------------------------------------------------------------------------

typedef struct BlockQ2_K {
  uint8_t scales[16];
  uint8_t qs[64];
  uint16_t d, dmin;
} BlockQ2_K;
SOFFIT_BLOCK_SIZE(BlockQ2_K, 84);

typedef struct BlockQ3_K {
  uint8_t hmask[32];
  uint8_t qs[64];
  uint8_t scales[12];
  uint16_t d;
} BlockQ3_K;
SOFFIT_BLOCK_SIZE(BlockQ3_K, 110);

typedef struct BlockQ4_K {
  uint16_t d, dmin;
  uint8_t scales[12];
  uint8_t qs[128];
} BlockQ4_K;
SOFFIT_BLOCK_SIZE(BlockQ4_K, 144);

typedef struct BlockQ5_K {
  uint16_t d, dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
} BlockQ5_K;
SOFFIT_BLOCK_SIZE(BlockQ5_K, 176);

typedef struct BlockQ6_K {
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
} BlockQ6_K;
SOFFIT_BLOCK_SIZE(BlockQ6_K, 210);

typedef struct BlockIQ4_XS {
  uint16_t d, scales_h;
  uint8_t scales_l[4];
  uint8_t qs[128];
} BlockIQ4_XS;
SOFFIT_BLOCK_SIZE(BlockIQ4_XS, 136);

typedef struct BlockTQ1_0 {
  uint8_t qs[48];  // five digits a byte
  uint8_t qh[4];   // four digits a byte
  uint16_t d;
} BlockTQ1_0;
SOFFIT_BLOCK_SIZE(BlockTQ1_0, 54);

typedef struct BlockTQ2_0 {
  uint8_t qs[64];
  uint16_t d;
} BlockTQ2_0;
SOFFIT_BLOCK_SIZE(BlockTQ2_0, 66);

// Tables --------------------------------------------------------------------------------------------------------------
// As a list too, for a device that keeps its own copy: built from the list, it cannot go stale.

// IQ4_NL and IQ4_XS: the value of a code. It has no zero.
#define SOFFIT_IQ4_VALUES -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
SOFFIT_TABLE int8_t kIq4Values[16] = {SOFFIT_IQ4_VALUES};

// MXFP4: twice the value of an E2M1 code (sign, two exponent bits, one mantissa bit). Code 8 is +0, not -0.
#define SOFFIT_E2M1_DOUBLED 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12
SOFFIT_TABLE int8_t kE2m1Doubled[16] = {SOFFIT_E2M1_DOUBLED};

#ifdef __cplusplus
}  // namespace soffit
#endif
#undef SOFFIT_BLOCK_SIZE

#endif  // SOFFIT_FORMATS_BLOCKS_H
