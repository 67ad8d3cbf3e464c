#include "tensor_check.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

namespace soffit::tool {
namespace {

constexpr size_t kPieceBytes = 4 << 20;      // what a thread takes at a time
constexpr size_t kElementsAtOnce = 1 << 14;  // decoded, 64 kB of floats

struct Piece {
  size_t tensor;
  uint64_t begin, end;  // blocks
};

// Sums over the pieces of one tensor, in whatever order they finish.
struct Counts {
  std::atomic<uint64_t> values{0}, blocks{0}, first_block{std::numeric_limits<uint64_t>::max()};

  void add(uint64_t block, uint64_t block_values) {
    values += block_values;
    blocks++;
    uint64_t first = first_block;
    while (block < first && !first_block.compare_exchange_weak(first, block)) {
    }
  }
};

uint64_t count_non_finite(const float* values, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += !std::isfinite(values[i]);
  return sum;
}

void check_piece(const gguf::File& file, const gguf::Tensor& tensor, const Piece& piece, Counts& counts) {
  const FormatInfo& format = *tensor.format;
  const size_t at_once = std::max<size_t>(1, kElementsAtOnce / format.block_elements);
  std::vector<float> values(at_once * format.block_elements);
  for (uint64_t block = piece.begin; block < piece.end; block += at_once) {
    const size_t blocks = size_t(std::min<uint64_t>(at_once, piece.end - block));
    format.decode(tensor.bytes.data() + block * format.block_bytes, values.data(), blocks);
    if (count_non_finite(values.data(), blocks * format.block_elements) == 0) continue;
    for (size_t i = 0; i < blocks; i++) {
      const uint64_t bad = count_non_finite(&values[i * format.block_elements], format.block_elements);
      if (bad) counts.add(block + i, bad);
    }
  }
  file.release(tensor.bytes.subspan(piece.begin * format.block_bytes, (piece.end - piece.begin) * format.block_bytes));
}

}  // namespace

TensorCheck check_tensors(const gguf::File& file, int threads) {
  TensorCheck result;
  std::vector<Piece> pieces;
  std::vector<Counts> counts(file.tensors().size());
  for (size_t i = 0; i < file.tensors().size(); i++) {
    const gguf::Tensor& tensor = file.tensors()[i];
    if (!tensor.format->decode) {
      result.unchecked.push_back(&tensor);
      continue;
    }
    const uint64_t blocks = tensor.bytes.size() / tensor.format->block_bytes;
    const uint64_t step = std::max<uint64_t>(1, kPieceBytes / tensor.format->block_bytes);
    for (uint64_t begin = 0; begin < blocks; begin += step) {
      pieces.push_back({i, begin, std::min(blocks, begin + step)});
    }
  }
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next++) < pieces.size();) {
      const Piece& piece = pieces[i];
      check_piece(file, file.tensors()[piece.tensor], piece, counts[piece.tensor]);
    }
  };
  {
    std::vector<std::jthread> team;
    for (int i = 1; i < threads && size_t(i) < pieces.size(); i++) team.emplace_back(work);
    work();
  }
  for (size_t i = 0; i < counts.size(); i++) {
    if (counts[i].blocks == 0) continue;
    result.faults.push_back({&file.tensors()[i], counts[i].values, counts[i].blocks, counts[i].first_block});
  }
  return result;
}

}  // namespace soffit::tool
