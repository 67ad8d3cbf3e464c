// Writes a file's tensors in bands that several threads produce at once. The bytes of a file do not depend on the
// number of threads, and memory is a few bands a thread however large a tensor is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/threads.hpp"
#include "soffit/gguf.hpp"
#include "soffit/status.hpp"

namespace soffit::convert {

// Called now and then with the bytes written and all there will be; false stops the work with Code::cancelled.
using Progress = std::function<bool(uint64_t done, uint64_t total)>;

class BandWriter {
 public:
  // `total`: bytes of all tensors, for `progress`, which may be empty.
  static Result<BandWriter> create(gguf::Writer& writer, int threads, uint64_t total, Progress progress);

  int threads() const { return team_->size(); }

  // The next `bytes` of the file, in bands of `band_bytes`; the last may be shorter. produce(band, to, member) fills
  // `to` with band number `band`; it runs in thread `member`, and for several bands at once.
  template <class Produce>
  Status write(uint64_t bytes, size_t band_bytes, Produce&& produce) {
    for (uint64_t first = 0, bands = (bytes + band_bytes - 1) / band_bytes; first < bands; first += batch_) {
      const uint64_t end = std::min(first + batch_, bands);
      std::vector<std::byte>& buffer = buffers_[current_];
      buffer.resize(size_t(std::min(bytes, end * band_bytes) - first * band_bytes));
      std::atomic<uint64_t> next{first};
      Status written;
      team_->run([&](int member) {
        // While the others begin, the first thread writes what the batch before produced.
        if (member == 0) written = write_pending();
        for (uint64_t band; (band = next.fetch_add(1, std::memory_order_relaxed)) < end;) {
          const size_t offset = size_t(band - first) * band_bytes;
          produce(band, std::span(buffer).subspan(offset, std::min(band_bytes, buffer.size() - offset)), member);
        }
      });
      SOFFIT_CHECK(written);
      pending_ = buffer;
      current_ ^= 1;
    }
    return {};
  }

  // The next bytes of the file as they are.
  Status copy(std::span<const std::byte> bytes);
  // What is still buffered.
  Status flush() { return write_pending(); }

 private:
  BandWriter(gguf::Writer& writer, std::unique_ptr<Team> team, uint64_t total, Progress progress);
  Status write_pending();
  Status write_out(std::span<const std::byte> bytes);

  gguf::Writer* writer_;
  std::unique_ptr<Team> team_;
  uint64_t batch_;  // bands
  std::vector<std::byte> buffers_[2];
  int current_ = 0;
  std::span<const std::byte> pending_;
  uint64_t done_ = 0, total_;
  Progress progress_;
};

}  // namespace soffit::convert
