#include "convert/band_writer.hpp"

#include <algorithm>

namespace soffit::convert {
namespace {

constexpr int kBandsPerThread = 4;
constexpr size_t kCopyBytes = 1 << 22;  // between two calls of the progress function

}  // namespace

BandWriter::BandWriter(gguf::Writer& writer, std::unique_ptr<Team> team, uint64_t total, Progress progress)
    : writer_(&writer),
      team_(std::move(team)),
      batch_(uint64_t(team_->size()) * kBandsPerThread),
      total_(total),
      progress_(std::move(progress)) {}

Result<BandWriter> BandWriter::create(gguf::Writer& writer, int threads, uint64_t total, Progress progress) {
  SOFFIT_TRY(auto executor, own_threads(threads));
  return BandWriter(writer, std::make_unique<Team>(std::move(executor)), total, std::move(progress));
}

Status BandWriter::copy(std::span<const std::byte> bytes) {
  SOFFIT_CHECK(write_pending());
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kCopyBytes));
    SOFFIT_CHECK(write_out(piece));
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

Status BandWriter::write_pending() { return write_out(std::exchange(pending_, {})); }

Status BandWriter::write_out(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  SOFFIT_CHECK(writer_->write(bytes));
  done_ += bytes.size();
  if (progress_ && !progress_(done_, total_)) return Error{Code::cancelled, "stopped; nothing was written"};
  return {};
}

}  // namespace soffit::convert
