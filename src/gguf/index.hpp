// Finds items by name. Sorted rather than hashed, so that no choice of names in a file makes it slow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace soffit::gguf {

// The indices of `items` in the order of their names.
template <class Item>
std::vector<uint32_t> order_by_name(std::span<const Item> items, std::string_view Item::*name) {
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t i) { return std::pair(items[i].*name, i); });
  return order;
}

template <class Item>
const Item* find_by_name(std::span<const Item> items, std::span<const uint32_t> order, std::string_view Item::*name,
                         std::string_view wanted) {
  const auto found = std::ranges::lower_bound(order, wanted, {}, [&](uint32_t i) { return items[i].*name; });
  return found != order.end() && items[*found].*name == wanted ? &items[*found] : nullptr;
}

// The first two items of one name, null if every name is unique.
template <class Item>
std::pair<const Item*, const Item*> find_duplicate(std::span<const Item> items, std::span<const uint32_t> order,
                                                   std::string_view Item::*name) {
  const auto equal = [&](uint32_t a, uint32_t b) { return items[a].*name == items[b].*name; };
  const auto found = std::ranges::adjacent_find(order, equal);
  if (found == order.end()) return {nullptr, nullptr};
  return {&items[found[0]], &items[found[1]]};
}

}  // namespace soffit::gguf
