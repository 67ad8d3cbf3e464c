#include "lanes/memory.hpp"

#include <algorithm>
#include <bit>

#include "core/concat.hpp"

namespace soffit::lanes {

bool BlockLayout::is_payload(uint64_t offset) const {
  if (block_bytes == 0) return false;
  const uint64_t at = offset % block_bytes;
  return std::ranges::any_of(payload, [at](const ByteRange& r) { return at >= r.begin && at < r.end; });
}

bool ByteHistory::ordered(const Accessor& before, const Accessor& now) {
  if (before.group == 0) return true;  // there was none
  if (before.group != now.group) return false;
  if (before.simdgroup == now.simdgroup && before.lane == now.lane) return true;
  if (before.epoch < now.epoch) return true;
  return before.simdgroup == now.simdgroup && before.simd_epoch < now.simd_epoch;
}

std::optional<Accessor> ByteHistory::read(const Accessor& by) {
  const bool fine = ordered(write_, by);
  const Accessor writer = write_;
  if (read_.group != by.group) {
    many_groups_ |= read_.group != 0;
    many_lanes_ = many_simdgroups_ = false;
  } else if (read_.epoch != by.epoch) {
    many_lanes_ = many_simdgroups_ = false;
  } else {
    many_simdgroups_ |= read_.simdgroup != by.simdgroup;
    many_lanes_ =
        read_.simd_epoch == by.simd_epoch && (many_lanes_ || read_.lane != by.lane || read_.simdgroup != by.simdgroup);
  }
  read_ = by;
  if (fine) return std::nullopt;
  return writer;
}

std::optional<Accessor> ByteHistory::write(const Accessor& by) {
  std::optional<Accessor> other;
  if (!ordered(write_, by)) other = write_;
  const bool same_epoch = read_.group == by.group && read_.epoch == by.epoch;
  const bool others_read =
      many_groups_ || (read_.group != 0 && read_.group != by.group) || (same_epoch && many_simdgroups_) ||
      !ordered(read_, by) ||
      (same_epoch && many_lanes_ && read_.simdgroup == by.simdgroup && read_.simd_epoch == by.simd_epoch);
  if (!other && others_read) other = read_;
  write_ = by;
  return other;
}

uint64_t ByteSet::add(uint64_t offset, uint64_t bytes) {
  uint64_t added = 0;
  for (; bytes > 0; --bytes, ++offset) {
    const uint64_t page = offset / kPage, bit = offset % kPage;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) {
      pages_[page] = std::make_unique<std::array<uint64_t, kPage / 64>>();
      pages_[page]->fill(0);
    }
    uint64_t& word = (*pages_[page])[bit / 64];
    const uint64_t mask = uint64_t(1) << bit % 64;
    if (word & mask) continue;
    word |= mask;
    ++added;
    if (used_.empty() || used_.back() != page) used_.push_back(page);
  }
  return added;
}

void ByteSet::clear() {
  for (const uint64_t page : used_) pages_[page]->fill(0);
  used_.clear();
}

AddressMap::AddressMap(const Library& library, const Kernel& kernel, const Launch& launch) {
  for (const auto& [index, buffer] : launch.buffers) {
    const auto begin = reinterpret_cast<uintptr_t>(buffer.data);
    Region region{Region::Kind::buffer, begin, begin + buffer.bytes, index, concat("buffer ", index), &buffer, nullptr};
    for (uint32_t p = 0; p < kernel.parameter_count; ++p) {
      const KernelParameter& parameter = kernel.parameters[p];
      if (parameter.kind == Parameter::buffer && parameter.index == index)
        region.name += concat(" '", parameter.name, "'");
    }
    // What is only read cannot race.
    if (buffer.role == Role::output) region.histories = std::make_unique<Histories>(buffer.bytes);
    regions_.push_back(std::move(region));
  }
  for (uint32_t t = 0; t < library.table_count; ++t) {
    const auto begin = reinterpret_cast<uintptr_t>(library.tables[t].address);
    regions_.push_back({Region::Kind::table, begin, begin + library.tables[t].bytes, 0,
                        concat("table '", library.tables[t].name, "'"), nullptr, nullptr});
  }
}

void AddressMap::drop_threadgroup_memory() {
  std::erase_if(regions_, [](const Region& region) { return region.kind == Region::Kind::threadgroup; });
  last_ = 0;
}

Region& AddressMap::add_threadgroup_memory(std::byte* begin, uint64_t bytes, std::string name) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  regions_.push_back({Region::Kind::threadgroup, address, address + bytes, 0, std::move(name), nullptr,
                      std::make_unique<Histories>(bytes)});
  return regions_.back();
}

Region* AddressMap::find(const void* address, uint64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const auto holds = [&](const Region& r) { return begin >= r.begin && begin < r.end && bytes <= r.end - begin; };
  if (last_ < regions_.size() && holds(regions_[last_])) return &regions_[last_];
  for (size_t i = 0; i < regions_.size(); ++i) {
    if (!holds(regions_[i])) continue;
    last_ = i;
    return &regions_[i];
  }
  return nullptr;
}

std::string AddressMap::describe(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const Region* nearest = nullptr;
  uint64_t distance = ~uint64_t(0);
  for (const Region& r : regions_) {
    const uint64_t d = at < r.begin ? r.begin - at : at >= r.end ? at - r.end : 0;
    if (d >= distance) continue;
    nearest = &r;
    distance = d;
  }
  if (!nearest || distance > uint64_t(1) << 40) return "at an address that is nowhere near a buffer";
  const std::string size = concat(" (", nearest->end - nearest->begin, " bytes)");
  if (at < nearest->begin) return concat(distance, " bytes before ", nearest->name, size);
  if (at >= nearest->end) return concat(distance, " bytes behind the end of ", nearest->name, size);
  return concat("at byte ", at - nearest->begin, " of ", nearest->name, size);
}

}  // namespace soffit::lanes
