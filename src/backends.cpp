// The backends that are built in. A machine that is not built in has a stub of its own that says why.
#include <array>
#include <string>

#include "cpu/backend.hpp"
#include "soffit/backend.hpp"

namespace soffit {

std::span<const BackendEntry> backends() {
  static const std::array kList = {BackendEntry{"cpu", cpu::available, cpu::instruction_sets, cpu::create}};
  return kList;
}

Result<std::unique_ptr<Backend>> create_backend(std::string_view name, const BackendOptions& options) {
  std::string known;
  for (const auto& b : backends()) {
    if (name == b.name || (name == "auto" && b.available())) return b.create(options);
    known += known.empty() ? "" : ", ";
    known += b.name;
  }
  return unsupported("backend '" + std::string(name) + "' is not built in; there is: " + known);
}

}  // namespace soffit
