#include "check/blocks.hpp"

#include <cstring>

#include "formats/formats.hpp"

namespace soffit::checker {
namespace {

// 2^-10 to 2^-5, any mantissa.
uint16_t moderate_half(Random& random, bool both_signs) {
  const auto sign = uint64_t(both_signs ? random.below(2) : 0);
  return uint16_t(sign << 15 | uint64_t(5 + random.below(5)) << 10 | uint64_t(random.below(1024)));
}

// The byte that an encoder writes for digits whose value in base 3 is x, the first digit the most significant.
uint8_t ternary_byte(int64_t x) { return uint8_t((256 * x + 242) / 243); }

void fill_codes(Blocks kind, Random& random, void* to, size_t count) {
  auto* bytes = static_cast<uint8_t*>(to);
  if (kind == Blocks::zeros || kind == Blocks::ones) {
    std::memset(bytes, kind == Blocks::ones ? 0xff : 0, count);
    return;
  }
  for (size_t i = 0; i < count; ++i) bytes[i] = uint8_t(random.next());
}

template <class F>
void fill_block(Blocks kind, Random& random, typename F::Block& block) {
  const bool both_signs = kind == Blocks::random || kind == Blocks::any_bytes;
  fill_codes(kind, random, &block, sizeof block);
  if constexpr (requires { block.d; }) block.d = moderate_half(random, both_signs);
  if constexpr (requires { block.dmin; }) block.dmin = moderate_half(random, both_signs);
  if constexpr (requires { block.m; }) block.m = uint16_t(moderate_half(random, both_signs) + 0x0c00);  // times 8
  if constexpr (requires { block.e; }) block.e = uint8_t(118 + random.below(6));
  if constexpr (std::is_same_v<F, TQ1_0>)
    if (kind == Blocks::random) {
      for (uint8_t& b : block.qs) b = ternary_byte(random.below(243));
      for (uint8_t& b : block.qh) b = ternary_byte(3 * random.below(81));
    }
  if (kind == Blocks::ones) {
    if constexpr (std::is_same_v<F, Q8_0>) std::memset(block.qs, 127, sizeof block.qs);
    if constexpr (std::is_same_v<F, Q6_K>) std::memset(block.scales, 127, sizeof block.scales);
  }
}

// Plain formats: values instead of codes.
void fill_values(const FormatInfo& format, Blocks kind, Random& random, std::span<std::byte> bytes) {
  for (size_t at = 0; at < bytes.size(); at += format.block_bytes) {
    const float value = kind == Blocks::zeros ? 0.0f : kind == Blocks::ones ? 1.9375f : 0.25f * random.normal();
    format.encode(&value, bytes.data() + at, 1);
  }
}

}  // namespace

const char* to_string(Blocks blocks) {
  constexpr const char* kNames[] = {"random", "any_bytes", "zeros", "ones"};
  return kNames[size_t(blocks)];
}

void fill_blocks(Format format, Blocks kind, Random& random, std::span<std::byte> bytes) {
  const FormatInfo& f = info(format);
  if (f.block_elements == 1) return fill_values(f, kind, random, bytes);
  Formats::for_each([&]<class F>() {
    if (F::kFormat != format || F::kElements == 1) return;
    for (size_t at = 0; at + sizeof(typename F::Block) <= bytes.size(); at += sizeof(typename F::Block)) {
      typename F::Block block;
      fill_block<F>(kind, random, block);
      std::memcpy(bytes.data() + at, &block, sizeof block);
    }
  });
}

}  // namespace soffit::checker
