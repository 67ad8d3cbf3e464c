// Any bytes as a file of saved logits: it is refused with a printable message, or read to its end.
#include <sys/mman.h>
#include <unistd.h>

#include "fault.hpp"
#include "model/base_logits.hpp"

namespace {

using namespace soffit;

void read(const std::filesystem::path& path) {
  auto reader = model::BaseReader::open(path);
  if (!reader) return fuzz::expect_printable(reader.error());
  const auto& header = reader->header();
  fuzz::expect(header.tokens.size() == size_t(header.window * header.chunks), "another number of tokens");
  const std::vector<float> logits(size_t(header.vocabulary), 0.0f);
  const model::LogSoftmax flat(logits);
  for (;;) {
    const auto comparison = reader->compare(flat);
    if (!comparison) return fuzz::expect_printable(comparison.error());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int descriptor = memfd_create("logits", 0);
  fuzz::expect(descriptor >= 0 && write(descriptor, data, size) == ssize_t(size), "no file in memory");
  read("/proc/self/fd/" + std::to_string(descriptor));
  close(descriptor);
  return 0;
}
