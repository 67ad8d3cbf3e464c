// Any text as Metal source to be run on the lanes: it is refused, line by line in messages that can be printed, or
// translated. What the C++ compiler then makes of the translation is not looked at.
#include "fault.hpp"
#include "lanes/translate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace soffit;
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  for (const lanes::Mode mode : {lanes::Mode::plain, lanes::Mode::checked}) {
    const auto translation = lanes::translate(source, {mode, "fuzz.metal", "fuzz_library", {{"copies", {"float"}}}});
    if (translation) continue;
    std::string_view message = translation.error().message;
    for (size_t end = 0; end != std::string_view::npos; message.remove_prefix(end + 1)) {
      end = message.find('\n');
      fuzz::expect_printable({Code::unsupported, std::string(message.substr(0, end))});
      if (end == std::string_view::npos) break;
    }
  }
  return 0;
}
