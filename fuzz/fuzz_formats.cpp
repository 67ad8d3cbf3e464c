// A format, then weights of any bits: they are encoded and decoded again. Those that are not finite must not spread.
#include <cmath>
#include <cstring>
#include <vector>

#include "fault.hpp"
#include "soffit/format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace soffit;
  const auto formats = all_formats();
  if (size < 1) return 0;
  const FormatInfo& format = formats[data[0] % formats.size()];
  if (!format.supported) return 0;
  data++, size--;

  // As weights.
  const size_t blocks = size / sizeof(float) / format.block_elements;
  std::vector<float> weights(blocks * format.block_elements);
  if (blocks > 0) std::memcpy(weights.data(), data, weights.size() * sizeof(float));
  std::vector<std::byte> encoded(blocks * format.block_bytes);
  format.encode(weights.data(), encoded.data(), blocks);
  format.decode(encoded.data(), weights.data(), blocks);
  if (format.block_elements > 1)
    for (const float weight : weights) fuzz::expect(std::isfinite(weight), "a block that is not finite");

  // As blocks, which may decode to anything.
  const size_t any = size / format.block_bytes;
  weights.resize(any * format.block_elements);
  format.decode(reinterpret_cast<const std::byte*>(data), weights.data(), any);
  return 0;
}
