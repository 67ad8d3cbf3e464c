#include "metal/payload.hpp"

#include <cstddef>

#include "formats/blocks.h"

namespace soffit::metal {
namespace {

// The bytes of members, in a block of type B.
#define MEMBER(B, m) \
  { uint32_t(offsetof(B, m)), uint32_t(offsetof(B, m) + sizeof(B::m)) }

std::vector<lanes::ByteRange> payload(Format format) {
  switch (format) {
    case Format::f32:
      return {{0, 4}};
    case Format::f16:
    case Format::bf16:
      return {{0, 2}};
    case Format::q4_0:
      return {MEMBER(BlockQ4_0, qs)};
    case Format::q4_1:
      return {MEMBER(BlockQ4_1, qs)};
    case Format::q5_0:
      return {MEMBER(BlockQ5_0, qh), MEMBER(BlockQ5_0, qs)};
    case Format::q5_1:
      return {MEMBER(BlockQ5_1, qh), MEMBER(BlockQ5_1, qs)};
    case Format::q8_0:
      return {MEMBER(BlockQ8_0, qs)};
    case Format::q2_k:
      return {MEMBER(BlockQ2_K, qs)};
    case Format::q3_k:
      return {MEMBER(BlockQ3_K, hmask), MEMBER(BlockQ3_K, qs)};
    case Format::q4_k:
      return {MEMBER(BlockQ4_K, qs)};
    case Format::q5_k:
      return {MEMBER(BlockQ5_K, qh), MEMBER(BlockQ5_K, qs)};
    case Format::q6_k:
      return {MEMBER(BlockQ6_K, ql), MEMBER(BlockQ6_K, qh)};
    case Format::iq4_nl:
      return {MEMBER(BlockIQ4_NL, qs)};
    case Format::iq4_xs:
      return {MEMBER(BlockIQ4_XS, qs)};
    case Format::mxfp4:
      return {MEMBER(BlockMXFP4, qs)};
    case Format::tq1_0:
      return {MEMBER(BlockTQ1_0, qs), MEMBER(BlockTQ1_0, qh)};
    case Format::tq2_0:
      return {MEMBER(BlockTQ2_0, qs)};
  }
  return {};
}

#undef MEMBER

}  // namespace

lanes::BlockLayout block_layout(Format format) { return {info(format).block_bytes, payload(format)}; }

}  // namespace soffit::metal
