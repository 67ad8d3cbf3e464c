// The formats on standard input and output, for comparison with other programs:
//   format_tool list             id, name, elements and bytes a block of every known type
//   format_tool decode FORMAT    blocks in, fp32 out
//   format_tool encode FORMAT    fp32 in, blocks out
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "soffit/format.hpp"

namespace {

std::vector<std::byte> read_all() {
  std::vector<std::byte> bytes;
  std::byte buffer[1 << 16];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, stdin)) bytes.insert(bytes.end(), buffer, buffer + n);
  return bytes;
}

int fail(const char* reason) {
  std::fprintf(stderr, "format_tool: %s\n", reason);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "list" && argc == 2) {
    for (const auto& f : soffit::all_formats())
      std::printf("%u %.*s %u %u\n", f.id, int(f.name.size()), f.name.data(), f.block_elements, f.block_bytes);
    return 0;
  }
  if (argc != 3 || (command != "decode" && command != "encode"))
    return fail("usage: format_tool list | decode FORMAT | encode FORMAT");
  const auto* format = soffit::find_format(std::string_view(argv[2]));
  if (!format || !format->supported) return fail("no such format");
  const auto input = read_all();
  const size_t floats = format->block_elements * sizeof(float),
               unit = command == "decode" ? format->block_bytes : floats;
  if (input.size() % unit != 0) return fail("the input is no whole number of blocks");
  const size_t blocks = input.size() / unit;
  if (command == "decode") {
    std::vector<float> output(blocks * format->block_elements);
    format->decode(input.data(), output.data(), blocks);
    std::fwrite(output.data(), sizeof(float), output.size(), stdout);
  } else {
    std::vector<float> values(blocks * format->block_elements);
    if (!input.empty()) std::memcpy(values.data(), input.data(), input.size());
    std::vector<std::byte> output(blocks * format->block_bytes);
    format->encode(values.data(), output.data(), blocks);
    std::fwrite(output.data(), 1, output.size(), stdout);
  }
  return std::fflush(stdout) == 0 ? 0 : fail("cannot write");
}
