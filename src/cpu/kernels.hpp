// The kernels of one instruction set, as a table of functions: what the rest of the CPU backend calls. target_*.cpp
// instantiate it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/activations.hpp"
#include "cpu/isa.hpp"
#include "ops/key_block.hpp"
#include "soffit/activation.hpp"
#include "soffit/format.hpp"

namespace soffit::cpu {

// y = W x for a band of tiles (or, for plain formats, rows) and a list of columns (tokens).
struct LinearJob {
  const uint8_t* weights = nullptr;  // tiles: row tile after row tile; plain: rows
  int64_t row_bytes = 0;             // from one row tile (plain: one row) to the next
  int64_t rows = 0;  // rows of the band; the last row tile may be partial: its other lanes are computed, not stored
  int64_t cols = 0;  // weights' columns
  const void* x = nullptr;  // QuantisedBlock or FloatBlock, block (b, i) at b * x_rows + i
  int64_t x_rows = 0;
  const int32_t* x_index = nullptr;  // row of x for each token; null: 0, 1, 2…
  float* y = nullptr;
  int64_t y_stride = 0;              // floats from one token's results to the next
  const int32_t* y_index = nullptr;  // row of y for each token; null: 0, 1, 2…
  int64_t n = 0;                     // tokens
  uint8_t* scratch = nullptr;        // kLinearScratch bytes, 64-byte aligned, of this thread alone
};
// Up to so many tokens tiles are decoded once for a few of them; beyond, through a panel that all use.
inline constexpr int64_t kColumnsTokens = 16;
inline constexpr int64_t kPanelTokens = 256;  // tokens that a prefill panel is used for
inline constexpr size_t kLinearScratch = 64 * 1024 + kPanelTokens * 32 * sizeof(float);

struct LinearKernel {
  int tile = -1;  // the tile type, see packing.hpp; -1: plain rows
  int tile_columns = 0;
  int tile_bytes = 0;
  ActivationForm form = ActivationForm::float32;
  void (*run)(const LinearJob&) = nullptr;        // with `form`
  void (*run_exact)(const LinearJob&) = nullptr;  // with float32
};

struct VectorKernels {
  Isa isa = Isa::scalar;
  LinearKernel (*linear)(Format) = nullptr;

  // One row of `cols` floats to blocks; block b at to[b * stride]. Columns past the end become zero.
  void (*quantise)(const float* x, int64_t cols, ActivationForm form, void* to, int64_t stride) = nullptr;

  double (*sum_squares)(const float* x, int64_t n) = nullptr;
  // y = residual + x * factor * weight; residual may be null.
  void (*normalise)(const float* x, float factor, const float* weight, const float* residual, float* y,
                    int64_t n) = nullptr;
  void (*gate)(Activation activation, const float* gate, const float* up, float* y, int64_t n) = nullptr;
  void (*add)(const float* a, const float* b, float* y, int64_t n) = nullptr;
  void (*scale)(const float* x, float factor, float* y, int64_t n) = nullptr;
  void (*add_scaled)(const float* x, float factor, float* y, int64_t n) = nullptr;  // y += factor * x
  void (*to_half)(const float* x, uint16_t* y, int64_t n) = nullptr;
  // Attention of `queries` query vectors that share keys and values; see attention-inl.hpp.
  void (*attend)(const struct AttendJob&) = nullptr;
  // In place: exp(x - max) / sum.
  void (*softmax)(float* x, int64_t n) = nullptr;
};

// Queries of one key-value head against a range of its keys and values.
struct AttendJob {
  struct Query {
    const float* q;       // head_dim
    float* y;             // head_dim
    int64_t first, last;  // visible keys: first <= j < last
  };
  const Query* queries = nullptr;
  int64_t count = 0;
  const void* keys = nullptr;    // (held / kKeyBlock, head_dim, kKeyBlock), f16 or f32
  const void* values = nullptr;  // (held, head_dim)
  int64_t held = 0;              // a multiple of kKeyBlock; key j lies at j mod held
  bool half = true;
  int64_t head_dim = 0;
  float scale = 1.0f;
  float* scratch = nullptr;  // kAttendScratch floats
};
inline constexpr int64_t kAttendScratch = 4 * kKeyBlock;

const VectorKernels& scalar_kernels();
const VectorKernels& avx2_kernels();
const VectorKernels& avx512_kernels();
const VectorKernels& neon_kernels();
const VectorKernels& neon_dotprod_kernels();

}  // namespace soffit::cpu
