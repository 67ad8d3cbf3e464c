// Opens a GGUF file and prints the first values of each tensor, as the reference decodes them.
// Usage: 01_decode FILE.gguf
#include <algorithm>
#include <cstdio>
#include <soffit/gguf.hpp>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: 01_decode FILE.gguf\n"), 2;
  const auto file = soffit::gguf::File::open(argv[1]);
  if (!file) return std::fprintf(stderr, "%s\n", file.error().message.c_str()), 1;

  for (const soffit::gguf::Tensor& tensor : (*file)->tensors()) {
    const soffit::FormatInfo& format = *tensor.format;
    std::printf("%.*s, %.*s:", int(tensor.name.size()), tensor.name.data(), int(format.name.size()),
                format.name.data());
    if (format.supported && tensor.elements() > 0) {
      // The reader has proven that the bytes of every tensor are there, in whole blocks.
      std::vector<float> block(format.block_elements);
      format.decode(tensor.bytes.data(), block.data(), 1);
      for (size_t i = 0; i < std::min<size_t>(4, block.size()); ++i) std::printf(" %g", double(block[i]));
    } else if (!format.supported) {
      std::printf(" known by name and size only");
    }
    std::printf("\n");
  }
}
