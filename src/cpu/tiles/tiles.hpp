// The list of tile types. A new one is a struct in a file of this folder and its name here.
#pragma once

#include <type_traits>

#include "cpu/tiles/iq4_xs.hpp"
#include "cpu/tiles/k_quants.hpp"
#include "cpu/tiles/legacy.hpp"
#include "cpu/tiles/ternary.hpp"

namespace soffit::cpu {

template <class... T>
struct TileList {
  static constexpr int kCount = sizeof...(T);
  // Calls visit.operator()<Tile>() for each type in turn.
  static constexpr void for_each(auto&& visit) { (visit.template operator()<T>(), ...); }
  // Only for those of an instruction set: one for a format.
  template <class V>
  static constexpr void for_each_of(auto&& visit) {
    for_each([&]<class Tile>() {
      if constexpr (Tile::template kFor<V>) visit.template operator()<Tile>();
    });
  }
  template <class Tile>
  static constexpr int index() {
    int at = 0, found = -1;
    ((std::is_same_v<T, Tile> ? found = at : 0, ++at), ...);
    return found;
  }
};

using Tiles = TileList<TileQ4_0, TileQ4_1, TileQ5_0, TileQ5_1, TileQ8_0, TileIQ4_NL, TileMXFP4, TileQ2_K, TileQ3_K,
                       TileQ4_K, TileQ5_K, TileQ6_K, TileIQ4_XS, TileTQ1_0, TileTQ1_0Numbers, TileTQ2_0>;

}  // namespace soffit::cpu
