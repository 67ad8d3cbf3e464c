#include "cpu/packing.hpp"

#include <cstring>

#include "cpu/tiles/tiles.hpp"

namespace soffit::cpu {
namespace {

template <class Tile>
void pack(const uint8_t* blocks, int64_t stride, int rows, uint8_t* tile) {
  std::memset(tile, 0, Tile::kBytes);
  for (int r = 0; r < rows; ++r) {
    typename Tile::Block block;  // the file's bytes may lie at any address
    std::memcpy(&block, blocks + r * stride, sizeof block);
    Tile::pack(block, r, tile);
  }
}

template <class Tile>
void unpack(const uint8_t* tile, int row, uint8_t* to) {
  typename Tile::Block block;
  Tile::unpack(tile, row, block);
  std::memcpy(to, &block, sizeof block);
}

template <class Tile>
bool packable(const uint8_t* from) {
  typename Tile::Block block;
  std::memcpy(&block, from, sizeof block);
  return Tile::packable(block);
}

}  // namespace

TilePacking tile_packing(int tile) {
  TilePacking p;
  Tiles::for_each([&]<class Tile>() {
    if (Tiles::index<Tile>() != tile) return;
    p = {Tile::Reference::kFormat,
         Tile::kColumns,
         Tile::kBytes,
         int(sizeof(typename Tile::Block)),
         pack<Tile>,
         unpack<Tile>,
         nullptr};
    if constexpr (requires(typename Tile::Block b) { Tile::packable(b); }) p.packable = packable<Tile>;
  });
  return p;
}

int tile_count() { return Tiles::kCount; }

}  // namespace soffit::cpu
