// Token strings → ids.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/flat_index.hpp"
#include "text/vocabulary.hpp"

namespace soffit::text {

// Refers to the strings it is made of, which must stay where they are.
class TokenMap {
 public:
  explicit TokenMap(const std::vector<std::string>& tokens) : tokens_(&tokens), index_(tokens.size()) {
    for (size_t id = 0; id < tokens.size(); ++id) {
      longest_ = std::max(longest_, tokens[id].size());
      // Empty strings cannot be found, and of equal ones the lowest id is.
      if (!tokens[id].empty() && !find(tokens[id])) index_.insert(hash(tokens[id]), uint32_t(id));
    }
  }

  std::optional<TokenId> find(std::string_view text) const {
    if (text.size() > longest_) return std::nullopt;
    const uint32_t id = index_.find(hash(text), [&](uint32_t i) { return (*tokens_)[i] == text; });
    if (id == FlatIndex::kNone) return std::nullopt;
    return TokenId(id);
  }

 private:
  static uint64_t hash(std::string_view text) { return std::hash<std::string_view>{}(text); }

  const std::vector<std::string>* tokens_;
  FlatIndex index_;
  size_t longest_ = 0;
};

}  // namespace soffit::text
