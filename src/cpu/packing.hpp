// What weights.cpp needs of the tile types, as functions.
#pragma once

#include <cstdint>

#include "soffit/format.hpp"

namespace soffit::cpu {

struct TilePacking {
  Format format = Format::f32;
  int columns = 0, bytes = 0;  // of a tile; 0: the format has no tiles
  int block_bytes = 0;
  // Rows [0, rows) x one block each, `stride` bytes apart, into a tile; missing rows become zero bytes.
  void (*pack)(const uint8_t* blocks, int64_t stride, int rows, uint8_t* tile) = nullptr;
  void (*unpack)(const uint8_t* tile, int row, uint8_t* block) = nullptr;
  // Whether unpack gives back this very block; null: always.
  bool (*packable)(const uint8_t* block) = nullptr;
};
// Of the tile type at a place in the list of tiles.hpp, below tile_count(); -1: no tile.
TilePacking tile_packing(int tile);
int tile_count();

}  // namespace soffit::cpu
