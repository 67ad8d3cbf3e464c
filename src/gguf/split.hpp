// The names and keys of a model split into several files: PREFIX-00001-of-0000N.gguf.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "gguf/parse.hpp"

namespace soffit::gguf {

struct SplitName {
  std::string prefix;
  uint32_t number = 0;  // from 1
  uint32_t count = 0;

  // Nothing when the name is not of that form.
  static std::optional<SplitName> parse(std::string_view file_name);
  // The name of part `number`, from 1.
  std::string part(uint32_t number) const;
};

struct SplitKeys {
  int64_t number = 0;              // split.no, from 0
  int64_t count = 1;               // split.count
  std::optional<int64_t> tensors;  // split.tensors.count, of all parts
};

// The part's split.* keys; a file without them is the only one of its model.
Result<SplitKeys> split_keys(const Part& part, std::string_view name);

}  // namespace soffit::gguf
