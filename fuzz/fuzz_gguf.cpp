// Any bytes through the GGUF reader: it refuses them with a printable message, or everything that it offers can be
// read.
#include <cstdio>
#include <cstdlib>

#include "core/escape.hpp"
#include "soffit/gguf.hpp"
#include "touch.hpp"

namespace {

[[noreturn]] void report(const char* fault) {
  std::fprintf(stderr, "%s\n", fault);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto file = soffit::gguf::File::parse(bytes, "fuzz");
  if (!file) {
    const std::string& message = file.error().message;
    if (message.empty() || soffit::escaped(message) != message) report("a message that cannot be printed");
    return 0;
  }
  if (const char* fault = soffit::gguf::test::touch_everything(**file, bytes)) report(fault);
  return 0;
}
