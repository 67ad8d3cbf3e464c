#include "metal/block_weights.hpp"

#include <cstddef>
#include <cstring>

#include "check/blocks.hpp"
#include "metal/payload.hpp"

namespace soffit::metal {

// Found by trying: a byte holds those weights that change when it does, whatever it changes to.
std::vector<std::vector<uint32_t>> weights_of_bytes(Format format) {
  const FormatInfo& of = info(format);
  const lanes::BlockLayout layout = block_layout(format);
  std::vector<std::vector<bool>> holds(of.block_bytes, std::vector<bool>(of.block_elements));
  std::vector<std::byte> block(of.block_bytes);
  std::vector<float> before(of.block_elements), after(of.block_elements);
  checker::Random random(1);
  constexpr int kBlocks = 3;  // a scale may be zero in one
  for (int b = 0; b < kBlocks; ++b) {
    checker::fill_blocks(format, checker::Blocks::random, random, block);
    of.decode(block.data(), before.data(), 1);
    for (uint32_t i = 0; i < of.block_bytes; ++i) {
      if (!layout.is_payload(i)) continue;
      const std::byte own = block[i];
      for (int value = 0; value < 256; ++value) {
        block[i] = std::byte(value);
        of.decode(block.data(), after.data(), 1);
        for (uint32_t w = 0; w < of.block_elements; ++w) {
          if (std::memcmp(&before[w], &after[w], sizeof(float)) != 0) holds[i][w] = true;
        }
      }
      block[i] = own;
    }
  }
  std::vector<std::vector<uint32_t>> weights(of.block_bytes);
  for (uint32_t i = 0; i < of.block_bytes; ++i) {
    for (uint32_t w = 0; w < of.block_elements; ++w) {
      if (holds[i][w]) weights[i].push_back(w);
    }
  }
  return weights;
}

}  // namespace soffit::metal
