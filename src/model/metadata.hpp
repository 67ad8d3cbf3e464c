// Typed access to a model's hyper-parameters: every value is checked against its bounds, and every error names the key
// and the numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/gguf.hpp"

namespace soffit::model {

// Reads keys of the form "ARCHITECTURE.name". A missing key gives the fallback; without one it is an error.
class Metadata {
 public:
  Metadata(const gguf::File& file, std::string architecture);

  const std::string& architecture() const { return architecture_; }
  const gguf::File& file() const { return file_; }
  std::string key(std::string_view name) const { return architecture_ + "." + std::string(name); }
  bool has(std::string_view name) const { return file_.find(key(name)) != nullptr; }

  struct Bounds {
    int64_t least, most;
  };
  Result<int64_t> integer(std::string_view name, Bounds bounds) const;
  Result<int64_t> integer(std::string_view name, Bounds bounds, int64_t fallback) const;
  // One integer for all layers, or an array of exactly one for each.
  Result<std::vector<int64_t>> per_layer(std::string_view name, Bounds bounds, int64_t layers) const;

  // Finite numbers; `positive` excludes zero and below, otherwise only what is below zero.
  Result<float> number(std::string_view name, bool positive) const;
  Result<float> number(std::string_view name, bool positive, float fallback) const;

  Result<bool> boolean(std::string_view name, bool fallback) const;
  Result<std::string> string(std::string_view name, std::string_view fallback) const;

 private:
  Error missing(std::string_view name) const;
  Error wrong(std::string_view name, const Error& error) const;

  const gguf::File& file_;
  std::string architecture_;
};

}  // namespace soffit::model
