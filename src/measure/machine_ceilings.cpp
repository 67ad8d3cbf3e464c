#include "measure/machine_ceilings.hpp"

#include <algorithm>

#include "core/concat.hpp"

namespace soffit::measure {
namespace {

constexpr uint64_t kLeastDram = 256 << 20, kLine = 64;
// What one call reads, at least: starting the threads must not count.
constexpr uint64_t kLeastCall = 32 << 20;

// How many processors a list such as "0-3,8" names; at least one.
int processors_in(const std::string& list) {
  int count = 0;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string range = list.substr(begin, end - begin);
    const size_t dash = range.find('-');
    const int first = std::atoi(range.c_str());
    count += dash == std::string::npos ? 1 : std::max(1, std::atoi(range.c_str() + dash + 1) - first + 1);
    begin = end + 1;
  }
  return std::max(1, count);
}

}  // namespace

std::vector<Working> working_sets(const std::vector<Cache>& caches, int threads, uint64_t available) {
  std::vector<Working> sets;
  uint64_t before = 0;  // in the smaller levels, together
  for (const Cache& cache : caches) {
    if (cache.type == "instruction" || cache.size == 0) continue;
    // A level that several processors share is there once for each group of them that the threads fill.
    const int sharing = processors_in(cache.shared_with);
    const uint64_t size = cache.size * uint64_t((threads + sharing - 1) / sharing), bytes = size / 2 / kLine * kLine;
    if (bytes >= 2 * before) sets.push_back({concat("L", cache.level), bytes});
    before = std::max(before, size);
  }
  const uint64_t dram = std::min(std::max(4 * before, kLeastDram), available / 2) / kLine * kLine;
  if (dram >= 2 * before && dram > 0) sets.push_back({"DRAM", dram});
  return sets;
}

Result<std::vector<ReadCeiling>> read_ceilings(Backend& backend, const std::vector<Working>& sets, double seconds) {
  SOFFIT_TRY(const auto roof, Roof::create(backend));
  std::vector<ReadCeiling> ceilings;
  for (const Working& set : sets) {
    SOFFIT_TRY(const auto buffer, backend.new_buffer(set.bytes));
    if (!buffer->host()) return unsupported("read bandwidth of memory that the host cannot reach");
    auto* memory = static_cast<std::byte*>(buffer->host());
    std::fill(memory, memory + set.bytes, std::byte{1});  // untouched pages would all be one page of zeros
    // Every thread takes the same band of each repetition, which stays in its own caches.
    const std::vector<Bytes> regions(std::max<uint64_t>(1, kLeastCall / set.bytes), Bytes(memory, set.bytes));
    const ReadSpeed speed = read_speed(*roof, regions, seconds);
    ceilings.push_back(
        {set.level, backend.threads(), set.bytes, speed.gb_per_second, std::string(speed.reader), speed.noisy});
  }
  return ceilings;
}

Result<std::vector<ArithmeticCeiling>> arithmetic_ceilings(Backend& backend, double seconds) {
  SOFFIT_TRY(const auto roof, Roof::create(backend));
  std::vector<ArithmeticCeiling> ceilings;
  for (const auto& [arithmetic, name] : {std::pair{Arithmetic::integer8, "int8"}, {Arithmetic::float32, "fp32"}}) {
    SOFFIT_TRY(const double gflops, peak_gflops(backend, arithmetic, seconds));
    ceilings.push_back({name, std::string(roof->instruction(arithmetic)), backend.threads(), gflops});
  }
  return ceilings;
}

}  // namespace soffit::measure
