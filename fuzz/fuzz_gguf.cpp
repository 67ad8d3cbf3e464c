// Any bytes through the GGUF reader: it refuses them with a printable message, or everything that it offers can be
// read.
#include "fault.hpp"
#include "soffit/gguf.hpp"
#include "touch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto file = soffit::gguf::File::parse(bytes, "fuzz");
  if (!file) {
    soffit::fuzz::expect_printable(file.error());
    return 0;
  }
  const char* fault = soffit::gguf::test::touch_everything(**file, bytes);
  soffit::fuzz::expect(!fault, fault);
  return 0;
}
