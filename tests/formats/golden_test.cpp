// Blocks decoded once by the PyPI package gguf (tests/formats/golden/make_golden.py) and kept: some blocks of random
// bytes and special scales, followed by their values.
#include <fstream>
#include <iterator>

#include "support.hpp"

namespace soffit::test {
namespace {

class Golden : public EachFormat {};

TEST_P(Golden, DecodesAsGgufDid) {
  const std::string path = std::string(SOFFIT_GOLDEN_DIR "/") + std::string(f.name) + ".bin";
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path;
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const size_t unit = f.block_bytes + f.block_elements * sizeof(float);
  ASSERT_EQ(bytes.size() % unit, 0u) << path;
  const size_t blocks = bytes.size() / unit;
  ASSERT_GE(blocks, 4u) << path;
  const auto y = decode(format, std::vector<uint8_t>(bytes.begin(), bytes.begin() + blocks * f.block_bytes));
  for (size_t i = 0; i < y.size(); ++i) {
    float expected;
    std::memcpy(&expected, bytes.data() + blocks * f.block_bytes + i * sizeof(float), sizeof(float));
    ASSERT_TRUE(same(y[i], expected)) << f.name << " value " << i << ": " << y[i] << ", kept " << expected;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Golden, testing::ValuesIn(formats_with_kernels()), format_name);

}  // namespace
}  // namespace soffit::test
