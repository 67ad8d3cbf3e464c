// The list of formats with kernels. A new one is its block in blocks.h, its file, its two lines here, and its
// enumerator in soffit/format.hpp.
//
// A format is a struct with
//   Block        its bytes (formats/blocks.h)
//   kFormat      GGUF's id
//   kName        lower case
//   kElements    elements a block
//   decode(const Block&, float*)    exact fp32 arithmetic in the order of the format's definition
//   encode(const float*, Block&)    deterministic; writes every byte; finite values only, unless the format is plain
//
// Everything but blocks.h is inline code: a translation unit compiled for one instruction set may use its types and
// constants, but must not emit its functions, or the linker may keep that version for the whole program
// (tests/objects).
#pragma once

#include <concepts>

#include "formats/bf16.hpp"
#include "formats/f16.hpp"
#include "formats/f32.hpp"
#include "formats/iq4_nl.hpp"
#include "formats/iq4_xs.hpp"
#include "formats/mxfp4.hpp"
#include "formats/q2_k.hpp"
#include "formats/q3_k.hpp"
#include "formats/q4_0.hpp"
#include "formats/q4_1.hpp"
#include "formats/q4_k.hpp"
#include "formats/q5_0.hpp"
#include "formats/q5_1.hpp"
#include "formats/q5_k.hpp"
#include "formats/q6_k.hpp"
#include "formats/q8_0.hpp"
#include "formats/tq1_0.hpp"
#include "formats/tq2_0.hpp"

namespace soffit {

template <class F>
concept BlockFormat = requires(const typename F::Block& block, typename F::Block& out, const float* x, float* y) {
  { F::kFormat } -> std::convertible_to<Format>;
  { F::kName } -> std::convertible_to<std::string_view>;
  { F::kElements } -> std::convertible_to<int>;
  F::decode(block, y);
  F::encode(x, out);
};

template <BlockFormat... F>
struct FormatList {
  // Calls visit.operator()<F>() for each format in turn.
  static constexpr void for_each(auto&& visit) { (visit.template operator()<F>(), ...); }
  static constexpr int kCount = sizeof...(F);
};

using Formats = FormatList<F32, F16, BF16,                //
                           Q4_0, Q4_1, Q5_0, Q5_1, Q8_0,  //
                           Q2_K, Q3_K, Q4_K, Q5_K, Q6_K,  //
                           IQ4_NL, IQ4_XS, MXFP4, TQ1_0, TQ2_0>;

}  // namespace soffit
