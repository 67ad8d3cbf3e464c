// The list of tile types. A new one is a struct in a file of this folder and its name here.
#pragma once

#include "cpu/tiles/iq4_xs.hpp"
#include "cpu/tiles/k_quants.hpp"
#include "cpu/tiles/legacy.hpp"
#include "cpu/tiles/ternary.hpp"

namespace soffit::cpu {

template <class... T>
struct TileList {
  // Calls visit.operator()<Tile>() for each type in turn.
  static constexpr void for_each(auto&& visit) { (visit.template operator()<T>(), ...); }
};

using Tiles = TileList<TileQ4_0, TileQ4_1, TileQ5_0, TileQ5_1, TileQ8_0, TileIQ4_NL, TileMXFP4, TileQ2_K, TileQ3_K,
                       TileQ4_K, TileQ5_K, TileQ6_K, TileIQ4_XS, TileTQ1_0, TileTQ2_0>;

}  // namespace soffit::cpu
