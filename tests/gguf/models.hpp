// The real models that some tests need. They are not in the repository.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace soffit::gguf::test {

inline constexpr std::string_view kSmolLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf";
inline constexpr std::string_view kGemma3 = "gemma-3-270m-q4_k_m.gguf";

// Where models are kept: $SOFFIT_TEST_MODEL_DIR, else the cache that ./demo fills.
inline std::filesystem::path model_directory() {
  const auto variable = [](const char* name) { return std::string_view(std::getenv(name) ? std::getenv(name) : ""); };
  if (const auto given = variable("SOFFIT_TEST_MODEL_DIR"); !given.empty()) return given;
  if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) return std::filesystem::path(cache) / "soffit";
  return std::filesystem::path(variable("HOME")) / ".cache" / "soffit";
}

inline std::optional<std::filesystem::path> find_model(std::string_view name) {
  const std::filesystem::path path = model_directory() / name;
  std::error_code error;
  return std::filesystem::exists(path, error) ? std::optional(path) : std::nullopt;
}

}  // namespace soffit::gguf::test
