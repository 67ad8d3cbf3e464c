// soffit devices: the backends, what each has here, and why one is not available.
#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "console.hpp"
#include "core/topology.hpp"
#include "machine.hpp"
#include "measure/system.hpp"
#include "model_setup.hpp"
#include "options.hpp"
#include "soffit/operation.hpp"
#include "table.hpp"

namespace soffit::tool {
namespace {

// Formats by operation, as the backend's one predicate says.
Json formats_of(const Backend& backend) {
  Json operations = Json::object();
  for (const auto kind : {OperationKind::linear, OperationKind::linear_id, OperationKind::get_rows}) {
    Json formats = Json::array();
    for (const FormatInfo& format : all_formats()) {
      const Shape shape{.rows = 256, .cols = 256};
      if (format.supported && backend.supports(kind, Format(format.id), shape)) formats.push_back(format.name);
    }
    operations[to_string(kind)] = std::move(formats);
  }
  return operations;
}

Json cpu_members(const Backend& backend) {
  const auto read = read_machine();
  const Machine machine = read ? *read : Machine{};
  Json caches = Json::array();
  for (const measure::Cache& cache : machine.caches) {
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"bytes", cache.size},
                      {"line_bytes", cache.line},
                      {"shared_with", cache.shared_with}});
  }
  const auto processors = allowed_processors();
  const double quota = cgroup_quota();
  const auto memory = measure::memory_state();
  return {{"name", measure::cpu_name()},
          {"processors", measure::ranges(processors)},
          {"processor_count", processors.size()},
          {"processor_quota", quota > 0 ? Json(quota) : Json()},
          {"cores", machine.cores},
          {"packages", machine.packages},
          {"numa_nodes", machine.numa_nodes},
          {"topology_fault", read ? Json() : Json(read.error().message)},
          {"threads", backend.threads()},
          {"caches", caches},
          {"memory_bytes", memory.total},
          {"available_memory_bytes", memory.available},
          {"pages", measure::page_sizes()}};
}

Json describe(std::string_view name, const BackendOptions& options) {
  Json row = {{"backend", name}, {"available", false}, {"reason", ""}};
  const auto entry = std::ranges::find(backends(), name, &BackendEntry::name);
  if (entry == backends().end()) {
    row["reason"] = fmt::format("this build has no {} backend", name);
    return row;
  }
  if (const Status available = entry->available(); !available) {
    row["reason"] = available.error().message;
    return row;
  }
  const auto backend = create_backend(name, options);
  if (!backend) {
    row["reason"] = backend.error().message;
    return row;
  }
  row["available"] = true;
  row["isa"] = (*backend)->isa();
  row["isas"] = Json::array();
  for (const InstructionSet& set : entry->instruction_sets()) {
    row["isas"].push_back({{"name", set.name}, {"available", set.unavailable.empty()}, {"reason", set.unavailable}});
  }
  row["threads"] = (*backend)->threads();
  if (name == "cpu") row.update(cpu_members(**backend));
  row["formats"] = formats_of(**backend);
  return row;
}

std::string joined(const Json& list) {
  std::string text;
  for (const Json& item : list) text += (text.empty() ? "" : ", ") + item.get<std::string>();
  return text;
}

void print_cpu(const Json& row) {
  print(fmt::format("{}  {}\n", styled("cpu", Style::bold), printable(row["name"].get<std::string>())));
  for (const Json& isa : row["isas"]) {
    const std::string_view name = isa["name"].get_ref<const std::string&>();
    const bool chosen = row["isa"] == isa["name"];
    print(fmt::format("  {:16}{}\n", name,
                      chosen             ? "available, chosen"
                      : isa["available"] ? "available"
                                         : isa["reason"].get<std::string>()));
  }
  print(fmt::format(
      "  {:16}{} ({}){}, {} threads\n", "processors", row["processor_count"].get<int>(),
      row["processors"].get<std::string>(),
      row["processor_quota"].is_null() ? "" : fmt::format(", a quota of {:.1f}", row["processor_quota"].get<double>()),
      row["threads"].get<int>()));
  if (row["topology_fault"].is_null()) {
    print(fmt::format("  {:16}{} cores, {} packages, {} NUMA nodes\n", "topology", row["cores"].get<int>(),
                      row["packages"].get<int>(), row["numa_nodes"].get<int>()));
  } else {
    print(fmt::format("  {:16}not known: {}\n", "topology", row["topology_fault"].get<std::string>()));
  }
  for (const Json& cache : row["caches"]) {
    print(fmt::format("  {:16}{} KiB, lines of {} B, shared by {}\n",
                      fmt::format("L{} {}", cache["level"].get<int>(),
                                  cache["type"] == "unified" ? "cache" : cache["type"].get<std::string>()),
                      cache["bytes"].get<uint64_t>() >> 10, cache["line_bytes"].get<int>(),
                      cache["shared_with"].get<std::string>()));
  }
  print(fmt::format("  {:16}{}, {} available\n", "memory", show_bytes(row["memory_bytes"]),
                    show_bytes(row["available_memory_bytes"])));
  print(fmt::format("  {:16}{}\n", "pages", row["pages"].get<std::string>()));
  for (const auto& [operation, formats] : row["formats"].items()) {
    print(fmt::format("  {:16}{}\n", operation, joined(formats)));
  }
}

int devices(const CommonOptions& options) {
  // What was asked for by name must be there.
  if (const auto asked = make_backend(options); !asked) return fail(asked.error());
  std::vector<Json> rows;
  for (const std::string& name : backend_names()) {
    BackendOptions backend;
    if (name == options.backend) backend.isa = options.isa, backend.threads = options.threads;
    rows.push_back(describe(name, backend));
  }
  if (options.output != Output::text) {
    static const std::vector<Column> kColumns = {{"backend", "backend", {}}, {"available", "available", {}},
                                                 {"isa", "isa", {}},         {"threads", "threads", {}},
                                                 {"name", "name", {}},       {"reason", "reason", {}}};
    print_rows(options.output, kColumns, rows);
    return kDone;
  }
  for (const Json& row : rows) {
    if (row["backend"] == "cpu" && row["available"]) {
      print_cpu(row);
    } else if (row["available"]) {
      print(fmt::format("{}  available, {}, {} threads\n", styled(row["backend"].get<std::string>(), Style::bold),
                        row["isa"].get<std::string>(), row["threads"].get<int>()));
    } else {
      print(fmt::format("{}  not available: {}\n", styled(row["backend"].get<std::string>(), Style::bold),
                        printable(row["reason"].get<std::string>())));
    }
  }
  return kDone;
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<CommonOptions>();
  add_common_options(app, *options);
  return [options] { return devices(*options); };
}

}  // namespace

extern const Command kDevices;
const Command kDevices = {"devices", "backends, instruction sets, caches, memory",
                          "  soffit devices\n"
                          "  soffit devices --output json",
                          declare};

}  // namespace soffit::tool
