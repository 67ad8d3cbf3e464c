#include "gguf/mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "core/concat.hpp"
#include "core/escape.hpp"

namespace soffit::gguf {
namespace {

Error io_error(const std::filesystem::path& path, std::string_view action) {
  const std::string reason = std::generic_category().message(errno);
  return {Code::io, concat("cannot ", action, " ", escaped(path.native(), 200), ": ", reason)};
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

Result<Mapping> Mapping::open(const std::filesystem::path& path, bool prefault) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not hang.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) return io_error(path, "open");
  struct stat status;
  if (fstat(file.number(), &status) != 0) return io_error(path, "examine");
  if (!S_ISREG(status.st_mode)) return Error{Code::io, concat(escaped(path.native(), 200), " is not a regular file")};
  if (status.st_size == 0) return invalid_file(concat(escaped(path.native(), 200), ": the file is empty"));
  if (uint64_t(status.st_size) > std::numeric_limits<size_t>::max()) {
    return Error{Code::out_of_memory, concat(escaped(path.native(), 200), ": too large for this address space")};
  }
  const size_t size = size_t(status.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (address == MAP_FAILED) return io_error(path, "map");
  if (prefault) madvise(address, size, MADV_WILLNEED);  // advice: a refusal changes nothing but speed
  return Mapping({static_cast<const std::byte*>(address), size});
}

void Mapping::release(std::span<const std::byte> part) const {
  if (part.data() < bytes_.data() || part.data() + part.size() > bytes_.data() + bytes_.size()) return;
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  // The mapping begins at a page; pages that the neighbours share are left.
  const size_t begin = (size_t(part.data() - bytes_.data()) + page - 1) / page * page;
  const size_t end = size_t(part.data() + part.size() - bytes_.data()) / page * page;
  if (begin >= end) return;
  madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
}

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace soffit::gguf
