#include "open_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "command.hpp"
#include "console.hpp"

namespace soffit::tool {
namespace {

// Of one part of a file. Fixed memory: a signal handler can use neither locks nor strings.
struct MappedPart {
  uintptr_t begin = 0, end = 0;
  char name[256] = {};
};

constexpr size_t kParts = 256;
MappedPart parts[kParts];
std::atomic<size_t> part_count{0};  // also of those that were overwritten
static_assert(std::atomic<size_t>::is_always_lock_free);

void remember(const std::byte* begin, const std::byte* end, const std::string& name) {
  MappedPart& part = parts[part_count % kParts];
  part.begin = uintptr_t(begin), part.end = uintptr_t(end);
  name.copy(part.name, sizeof part.name - 1);
  part.name[std::min(name.size(), sizeof part.name - 1)] = 0;
  part_count++;
}

// The newest first: addresses are used again when a file is closed.
const char* name_at(uintptr_t address) {
  const size_t count = part_count;
  for (size_t i = 0; i < std::min(count, kParts); i++) {
    const MappedPart& part = parts[(count - 1 - i) % kParts];
    if (address >= part.begin && address < part.end) return part.name;
  }
  return nullptr;
}

void say(const char* text) { [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text)); }

void on_lost_memory(int signal, siginfo_t* info, void*) {
  if (info->si_code != BUS_ADRERR) {  // no page behind the address; anything else is a fault of the program
    std::signal(signal, SIG_DFL);
    return;  // and the same access ends it
  }
  const char* name = name_at(uintptr_t(info->si_addr));
  say("soffit: error: ");
  say(name ? name : "a mapped file");
  say(": cut short while it was read, or its disk failed\n");
  _exit(kFailed);
}

}  // namespace

void install_lost_file_handler() {
  struct sigaction action = {};
  action.sa_sigaction = on_lost_memory;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

Result<std::shared_ptr<const gguf::File>> open_file(const std::string& path) {
  SOFFIT_TRY(auto file, gguf::File::open(path));
  const std::string name = printable(file->name());
  for (uint32_t part = 0; part < file->parts(); part++) {
    const std::byte *begin = nullptr, *end = nullptr;
    const auto include = [&](std::span<const std::byte> bytes) {
      if (bytes.empty()) return;
      begin = begin ? std::min(begin, bytes.data()) : bytes.data();
      end = std::max(end, bytes.data() + bytes.size());
    };
    for (const gguf::Tensor& tensor : file->tensors()) {
      if (tensor.part == part) include(tensor.bytes);
    }
    if (part == 0) {
      for (const gguf::KeyValue& pair : file->metadata()) include(pair.value.bytes);
    }
    if (begin) remember(begin, end, file->parts() == 1 ? name : name + ", part " + std::to_string(part + 1));
  }
  return file;
}

}  // namespace soffit::tool
