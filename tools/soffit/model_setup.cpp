#include "model_setup.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "console.hpp"
#include "interrupt.hpp"
#include "measure/system.hpp"
#include "open_file.hpp"
#include "progress.hpp"
#include "table.hpp"
#include "text/load_tokenizer.hpp"

namespace soffit::tool {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void warn_of_unused_tensors(const model::Model& model) {
  const auto& unused = model.weights().unused;
  if (unused.empty()) return;
  std::string names;
  for (size_t i = 0; i < std::min<size_t>(unused.size(), 5); i++) names += (i ? ", " : "") + printable(unused[i]);
  warn(fmt::format("{} tensors of the file are not used: {}{}", unused.size(), names, unused.size() > 5 ? ", …" : ""));
}

// How weights are to lie: rearranging copies them, which must not bring the machine to its knees.
Layout layout_for(const CommonOptions& options, uint64_t file_bytes) {
  if (options.no_repack) return Layout::file;
  if (options.backend != "cpu") return Layout::automatic;
  constexpr uint64_t kBesideWeights = 64 << 20;
  const uint64_t available = measure::memory_state().available;
  if (available > 0 && file_bytes + kBesideWeights > available) {
    warn(
        fmt::format("rearranging the weights takes {}, {} are available: they are used as they lie in the file, "
                    "which is slower",
                    show_bytes(file_bytes + kBesideWeights), show_bytes(available)));
    return Layout::file;
  }
  if (const std::string denied = measure::huge_pages_denied(); !denied.empty())
    warn(fmt::format("weights lie in small pages, which is slower: of huge ones, {}", denied));
  return Layout::automatic;
}

}  // namespace

Result<std::unique_ptr<Backend>> make_backend(const CommonOptions& options) {
  if (options.backend == "cpu" && options.gpu_layers > 0) {
    return unsupported("-ngl: the cpu backend has no device to put layers on");
  }
  BackendOptions backend;
  backend.threads = options.threads;
  backend.isa = options.isa;
  backend.device = options.device;
  backend.exact = options.exact;
  return create_backend(options.backend, backend);
}

Result<LoadedModel> load_model(const CommonOptions& options, const std::string& path) {
  const Clock::time_point start = Clock::now();
  LoadedModel loaded;
  SOFFIT_TRY(loaded.file, open_file(path));
  SOFFIT_TRY(loaded.backend, make_backend(options));
  model::LoadOptions load;
  load.layout = layout_for(options, loaded.file->size_bytes());
  InterruptGuard guard;
  ProgressLine progress("loading");
  load.progress = [&](uint64_t done, uint64_t total) {
    progress.update(done, total);
    return !guard.interrupted();
  };
  SOFFIT_TRY(loaded.model, model::Model::load(loaded.file, *loaded.backend, load));
  SOFFIT_TRY(loaded.tokenizer, text::load_tokenizer(*loaded.file));
  if (guard.interrupted()) return Error{Code::cancelled, "interrupted"};  // after the last call of progress
  loaded.seconds = seconds_since(start);
  warn_of_unused_tensors(*loaded.model);
  for (const std::string& warning : loaded.tokenizer->vocabulary().warnings) warn(printable(warning));
  return loaded;
}

std::string layout_names(const model::Model& model) {
  std::map<std::string_view, uint64_t> bytes;
  for (const auto& weights : model.weights().matrices) {
    const auto parts = weights->parts();
    for (size_t i = 0; i < parts.size(); i++) {
      if (const auto size = matrix_bytes(parts[i])) bytes[weights->layout_name(i)] += *size;
    }
  }
  std::vector<std::pair<uint64_t, std::string_view>> order;
  for (const auto& [name, size] : bytes) order.emplace_back(size, name);
  std::ranges::sort(order, std::greater());
  std::string names;
  for (const auto& [size, name] : order) names.append(names.empty() ? "" : ",").append(name);
  return names;
}

uint64_t peak_resident_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss) * 1024;
}

}  // namespace soffit::tool
