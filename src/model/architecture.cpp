#include "model/architecture.hpp"

#include <array>

namespace soffit::model {

extern const Architecture kLlama, kQwen2, kQwen3, kQwen3Moe, kGemma3;

std::span<const Architecture* const> architectures() {
  static constexpr std::array kAll = {&kLlama, &kQwen2, &kQwen3, &kQwen3Moe, &kGemma3};
  return kAll;
}

std::string architecture_names() {
  std::string names;
  for (const Architecture* architecture : architectures()) {
    if (!names.empty()) names += ", ";
    names += architecture->name;
  }
  return names;
}

}  // namespace soffit::model
