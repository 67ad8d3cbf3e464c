#include "machine.hpp"

#include <hwloc.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <type_traits>

#include "core/concat.hpp"
#include "core/topology.hpp"

namespace soffit::tool {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

std::string text_of(hwloc_const_bitmap_t set) {
  std::string text(size_t(hwloc_bitmap_list_snprintf(nullptr, 0, set)), '\0');
  hwloc_bitmap_list_snprintf(text.data(), text.size() + 1, set);
  return text;
}

const char* name_of(hwloc_obj_cache_type_t type) {
  return type == HWLOC_OBJ_CACHE_DATA ? "data" : type == HWLOC_OBJ_CACHE_INSTRUCTION ? "instruction" : "unified";
}

Result<TopologyHandle> load() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology)) return Error{Code::io, "hwloc cannot begin"};
  TopologyHandle handle(topology);
  hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(topology))
    return Error{Code::io, concat("hwloc cannot read the topology: ", std::strerror(errno))};
  return handle;
}

}  // namespace

Result<Machine> read_machine() {
  SOFFIT_TRY(const TopologyHandle handle, load());
  const hwloc_topology_t topology = handle.get();
  const auto processors = allowed_processors();
  const Bitmap allowed(hwloc_bitmap_alloc());
  if (!allowed) return Error{Code::out_of_memory, "hwloc cannot allocate"};
  for (int p : processors) hwloc_bitmap_set(allowed.get(), unsigned(p));
  const auto count = [&](hwloc_obj_type_t type) {
    int n = 0;
    for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(topology, type, o));)
      n += hwloc_bitmap_intersects(o->cpuset, allowed.get()) != 0;
    return n;
  };
  Machine machine{count(HWLOC_OBJ_PACKAGE), count(HWLOC_OBJ_NUMANODE), count(HWLOC_OBJ_CORE), {}};
  for (hwloc_obj_t o = hwloc_get_pu_obj_by_os_index(topology, unsigned(processors.front())); o; o = o->parent)
    if (hwloc_obj_type_is_cache(o->type) || hwloc_obj_type_is_icache(o->type)) {
      const auto& cache = o->attr->cache;
      machine.caches.push_back(
          {int(cache.depth), name_of(cache.type), cache.size, int(cache.linesize), text_of(o->cpuset)});
    }
  return machine;
}

}  // namespace soffit::tool
