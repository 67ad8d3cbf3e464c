// What a model remembers of its sequences between batches. Every row of a batch names its sequence and its position in
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "soffit/buffer.hpp"
#include "soffit/status.hpp"

namespace soffit {

// Keys and values of every position, or of the last ones.
struct KeyValueLayer {
  int64_t heads = 0;     // key-value heads
  int64_t head_dim = 0;  // of keys and of values
  // 0: every position of the context is held. Else a row sees no more than the last `window` positions, its own
  // included, and the state holds these and the batch's: StateDescription::batch.
  int64_t window = 0;
};
// The last inputs of a short convolution and the matrices of a gated delta rule, F32. It holds one moment of a
// sequence, after its last row, and nothing of what led there. See ShortConvolution and GatedDeltaRule.
struct RecurrentLayer {
  int64_t channels = 0, taps = 0;                 // inputs held: the last taps - 1, of `channels` elements each
  int64_t heads = 0, key_dim = 0, value_dim = 0;  // a matrix (key_dim, value_dim) for each head
};

struct StateDescription {
  using Layer = std::variant<KeyValueLayer, RecurrentLayer>;
  std::vector<Layer> layers;
  int64_t sequences = 1;
  int64_t context = 0;            // positions a sequence can hold
  DataType type = DataType::f16;  // of keys and values; or f32
  // Most rows that one operation appends to a layer with a window. A row must be attended to before more than these
  // are appended to its sequence.
  int64_t batch = 1;
};

// Sequences are 0 to sequences - 1, each empty at first. The host's calls are not for while a plan runs. After a run
// that failed, the recurrent layers of the sequences in its batch hold anything: clear() them, or load() or copy() into
// them; keys and values may be appended again.
class State {
 public:
  virtual ~State() = default;
  virtual const StateDescription& description() const = 0;
  virtual uint64_t size_bytes() const = 0;

  // Makes a sequence empty.
  virtual Status clear(int64_t sequence) = 0;
  // Forgets a sequence from position `length` on, so that its next row is at `length`. Code::unsupported, and nothing
  // has changed, where a layer cannot go back so far: a recurrent one to anything but where it is or to nothing, one
  // with a window to where positions that the next row would see have been overwritten.
  virtual Status truncate(int64_t sequence, int64_t length) = 0;
  // `to` becomes the first `length` positions of `from`, and these as bytes, which any state of the same backend and
  // description takes. Unsupported as truncate() is.
  virtual Status copy(int64_t from, int64_t to, int64_t length) = 0;
  virtual Result<std::vector<std::byte>> save(int64_t sequence, int64_t length) const = 0;
  virtual Status load(int64_t sequence, std::span<const std::byte> saved) = 0;
};

}  // namespace soffit
