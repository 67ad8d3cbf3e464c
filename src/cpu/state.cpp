#include "cpu/state.hpp"

#include <cstring>

#include "core/checked.hpp"
#include "core/half.hpp"

namespace soffit::cpu {

Result<std::unique_ptr<State>> CpuState::create(const StateDescription& d) {
  if (d.sequences < 1 || d.context < 1 || (d.type != DataType::f16 && d.type != DataType::f32))
    return invalid_argument("state of " + std::to_string(d.sequences) + " sequences, " + std::to_string(d.context) +
                            " positions, type " + to_string(d.type));
  auto s = std::make_unique<CpuState>();
  s->description_ = d;
  const auto rows = checked_align(uint64_t(d.context), uint64_t(kKeyBlock));
  if (!rows || *rows > uint64_t(INT64_MAX))
    return invalid_argument("state of " + std::to_string(d.context) + " positions is too large");
  s->rows_ = int64_t(*rows);
  uint64_t total = 0;
  for (const auto& l : d.layers) {
    s->layer_offset_.push_back(total);
    if (l.heads < 1 || l.head_dim < 1)
      return invalid_argument("state layer of " + std::to_string(l.heads) + " heads of " + std::to_string(l.head_dim));
    std::optional<uint64_t> bytes = 2 * uint64_t(size_of(d.type));
    for (int64_t f : {l.heads, l.head_dim, d.sequences, s->rows_})
      if (bytes) bytes = checked_mul(*bytes, uint64_t(f));
    const auto sum = bytes ? checked_add(total, *bytes) : std::nullopt;
    if (!sum) return invalid_argument("state of " + std::to_string(d.context) + " positions is too large");
    total = *sum;
  }
  SOFFIT_TRY(s->memory_, Memory::allocate(total));
  return std::unique_ptr<State>(std::move(s));
}

uint8_t* CpuState::at(int64_t layer, int64_t sequence, int64_t head, int which) const {
  const auto& l = description_.layers[size_t(layer)];
  const int64_t row = ((sequence * l.heads + head) * 2 + which) * rows_;
  return memory_.data() + layer_offset_[size_t(layer)] + uint64_t(row * l.head_dim * element_bytes());
}

void CpuState::put(const VectorKernels& kernels, int64_t layer, Place place, int64_t head, const float* key,
                   const float* value) const {
  const int64_t dim = description_.layers[size_t(layer)].head_dim;
  const int64_t first_key = place.position / kKeyBlock * kKeyBlock * dim + place.position % kKeyBlock;
  if (description_.type == DataType::f16) {
    auto* k = reinterpret_cast<uint16_t*>(keys(layer, place.sequence, head)) + first_key;
    for (int64_t d = 0; d < dim; ++d) k[d * kKeyBlock] = float_to_half(key[d]);
    kernels.to_half(value, reinterpret_cast<uint16_t*>(values(layer, place.sequence, head)) + place.position * dim,
                    dim);
  } else {
    auto* k = reinterpret_cast<float*>(keys(layer, place.sequence, head)) + first_key;
    for (int64_t d = 0; d < dim; ++d) k[d * kKeyBlock] = key[d];
    std::memcpy(reinterpret_cast<float*>(values(layer, place.sequence, head)) + place.position * dim, value,
                size_t(dim) * sizeof(float));
  }
}

Status CpuState::check(int64_t sequence, int64_t length) const {
  if (sequence < 0 || sequence >= description_.sequences)
    return invalid_argument("sequence " + std::to_string(sequence) + " of a state of " +
                            std::to_string(description_.sequences));
  if (length < 0 || length > description_.context)
    return invalid_argument("length " + std::to_string(length) + " of a context of " +
                            std::to_string(description_.context));
  return {};
}

template <class F>
void CpuState::for_each_range(int64_t sequence, int64_t length, F&& f) const {
  const int64_t rows = (length + kKeyBlock - 1) / kKeyBlock * kKeyBlock;
  for (int64_t layer = 0; layer < int64_t(description_.layers.size()); ++layer) {
    const auto& l = description_.layers[size_t(layer)];
    for (int64_t head = 0; head < l.heads; ++head)
      for (int which = 0; which < 2; ++which)
        f(at(layer, sequence, head, which), size_t(rows * l.head_dim * element_bytes()));
  }
}

// A row sees no position beyond its own, so what lies there need not be cleared.
Status CpuState::truncate(int64_t sequence, int64_t length) { return check(sequence, length); }

Status CpuState::copy(int64_t from, int64_t to, int64_t length) {
  SOFFIT_CHECK(check(from, length));
  SOFFIT_CHECK(check(to, length));
  if (from == to) return {};
  std::vector<uint8_t*> targets;
  for_each_range(to, length, [&](uint8_t* p, size_t) { targets.push_back(p); });
  size_t i = 0;
  for_each_range(from, length, [&](const uint8_t* p, size_t count) { std::memcpy(targets[i++], p, count); });
  return {};
}

Result<std::vector<std::byte>> CpuState::save(int64_t sequence, int64_t length) const {
  SOFFIT_CHECK(check(sequence, length));
  std::vector<std::byte> saved(sizeof(int64_t));
  std::memcpy(saved.data(), &length, sizeof length);
  for_each_range(sequence, length, [&](const uint8_t* p, size_t count) {
    const auto* bytes = reinterpret_cast<const std::byte*>(p);
    saved.insert(saved.end(), bytes, bytes + count);
  });
  return saved;
}

Status CpuState::load(int64_t sequence, std::span<const std::byte> saved) {
  int64_t length = -1;
  if (saved.size() >= sizeof length) std::memcpy(&length, saved.data(), sizeof length);
  SOFFIT_CHECK(check(sequence, length));
  size_t expected = sizeof length;
  for_each_range(sequence, length, [&](const uint8_t*, size_t count) { expected += count; });
  if (saved.size() != expected)
    return invalid_argument("saved state of " + std::to_string(saved.size()) + " bytes, expected " +
                            std::to_string(expected));
  size_t at = sizeof length;
  for_each_range(sequence, length, [&](uint8_t* p, size_t count) {
    std::memcpy(p, saved.data() + at, count);
    at += count;
  });
  return {};
}

}  // namespace soffit::cpu
