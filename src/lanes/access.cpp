// Loads and stores of a checked lane.
#include <algorithm>
#include <cstring>

#include "core/concat.hpp"
#include "lanes/threadgroup.hpp"

namespace soffit::lanes {

Accessor ThreadgroupRunner::accessor(const Lane& lane) const {
  return {number_, lane.simdgroup, lane.lane, barriers_, simdgroups_[lane.simdgroup].barriers};
}

std::string ThreadgroupRunner::bytes_at(std::string_view verb, const void* address, uint32_t bytes) const {
  return concat(verb, " ", bytes, bytes == 1 ? " byte " : " bytes ", launch_.memory.describe(address));
}

Flags ThreadgroupRunner::load(Lane& lane, const void* from, uint32_t bytes, uint32_t alignment, void* to) {
  ThreadgroupRunner& runner = runner_of(lane);
  Region* region = runner.launch_.memory.find(from, bytes);
  if (!region) {
    runner.fault(lane, FaultKind::out_of_bounds, runner.bytes_at("reads", from, bytes));
    std::memset(to, 0, bytes);
    return kData;
  }
  const uint64_t offset = reinterpret_cast<uintptr_t>(from) - region->begin;
  if (offset % alignment != 0) {
    runner.fault(lane, FaultKind::misaligned,
                 concat("reads ", bytes, " bytes at byte ", offset, " of ", region->name, ", which is no multiple of ",
                        alignment));
  }
  std::memcpy(to, from, bytes);
  if (region->histories) runner.check_history(lane, *region, offset, bytes, false);
  switch (region->kind) {
    case Region::Kind::buffer:
      runner.count_load(lane, *region, offset, bytes);
      return region->buffer->role == Role::index ? kIndex : kData;
    case Region::Kind::threadgroup:
      return kData;
    case Region::Kind::table:
      return kData;  // which element it is depends on data
  }
  return kData;
}

void ThreadgroupRunner::store(Lane& lane, void* to, uint32_t bytes, uint32_t alignment, const void* from, Flags) {
  ThreadgroupRunner& runner = runner_of(lane);
  Region* region = runner.launch_.memory.find(to, bytes);
  if (!region || region->kind == Region::Kind::table) {
    runner.fault(lane, FaultKind::out_of_bounds, runner.bytes_at("writes", to, bytes));
    return;
  }
  const uint64_t offset = reinterpret_cast<uintptr_t>(to) - region->begin;
  if (offset % alignment != 0) {
    runner.fault(lane, FaultKind::misaligned,
                 concat("writes ", bytes, " bytes at byte ", offset, " of ", region->name, ", which is no multiple of ",
                        alignment));
  }
  if (region->histories) runner.check_history(lane, *region, offset, bytes, true);
  std::memcpy(to, from, bytes);
  lane.counts[(lane.base + lane.site) * kCosts + uint32_t(Cost::store)] += 1;
}

void ThreadgroupRunner::check_history(Lane& lane, Region& region, uint64_t offset, uint32_t bytes, bool write) {
  const Accessor by = accessor(lane);
  bool raced = false, unwritten = false;
  Accessor other{};
  for (uint32_t i = 0; i < bytes; ++i) {
    ByteHistory& history = region.histories->of(offset + i);
    if (!write && region.kind == Region::Kind::threadgroup && !history.written(by.group)) unwritten = true;
    if (const auto found = write ? history.write(by) : history.read(by)) {
      raced = true;
      other = *found;
    }
  }
  const auto place = [&] {
    return concat(bytes, bytes == 1 ? " byte" : " bytes", " at byte ", offset, " of ", region.name);
  };
  if (unwritten) fault(lane, FaultKind::uninitialised, concat("reads ", place(), ", which no lane has written"));
  if (raced) {
    fault(lane, FaultKind::race,
          concat(write ? "writes " : "reads ", place(), ", which lane ", other.lane, " of simdgroup ", other.simdgroup,
                 other.group != by.group ? concat(" of threadgroup number ", other.group - 1) : std::string(),
                 " accesses without a barrier between"));
  }
}

void ThreadgroupRunner::count_load(Lane& lane, const Region& region, uint64_t offset, uint32_t bytes) {
  lane.counts[(lane.base + lane.site) * kCosts + uint32_t(Cost::load)] += 1;
  const Buffer& buffer = *region.buffer;
  if (buffer.role != Role::weights && buffer.role != Role::activations) return;
  const bool payload = buffer.role == Role::weights && buffer.layout.is_payload(offset);
  if (launch_.trace_loads && number_ == 1) {
    launch_.loads[lane.simdgroup * kLanes + lane.lane].loads.push_back(
        {lane.node, lane.site, launch_.library.sites[lane.site].line, region.index, bytes, buffer.role == Role::weights,
         payload, offset});
  }
  SimdgroupCounters& counters = simdgroups_[lane.simdgroup].counters;
  const uint64_t added = counters.touched[region.index].add(offset, bytes);
  if (buffer.role == Role::activations) {
    launch_.counts.activation_bytes += added;
    return;
  }
  launch_.counts.weight_bytes += added;
  if (!payload) return;
  counters.lanes[lane.lane].runs.add(lane.node, lane.site, region.index, offset, bytes);
  launch_.nodes.loads_payload(lane.node);
}

}  // namespace soffit::lanes
