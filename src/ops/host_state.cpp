#include "ops/host_state.hpp"

#include <algorithm>
#include <cstring>

#include "core/checked.hpp"
#include "core/concat.hpp"

namespace soffit {
namespace {

// Stores begin at whole cache lines.
constexpr uint64_t kAlignment = 64;

}  // namespace

Result<uint64_t> HostState::lay_out(const StateDescription& d) {
  if (d.sequences < 1 || d.context < 1 || d.batch < 1 || (d.type != DataType::f16 && d.type != DataType::f32))
    return invalid_argument(concat("state of ", d.sequences, " sequences, ", d.context, " positions, batches of ",
                                   d.batch, ", type ", to_string(d.type)));
  description_ = d;
  const auto add = [&](auto store) -> Status {
    offsets_.push_back(bytes_);
    const auto end = checked_add(bytes_, store.bytes());
    const auto next = end ? checked_align(*end, kAlignment) : std::nullopt;
    if (!next) return invalid_argument(concat("state of ", d.layers.size(), " layers is too large"));
    bytes_ = *next;
    layers_.emplace_back(std::move(store));
    return {};
  };
  for (const auto& layer : d.layers) {
    if (const auto* l = std::get_if<KeyValueLayer>(&layer)) {
      SOFFIT_TRY(KeyValueStore store, KeyValueStore::create(*l, d));
      SOFFIT_CHECK(add(std::move(store)));
    } else {
      SOFFIT_TRY(RecurrentStore store, RecurrentStore::create(std::get<RecurrentLayer>(layer), d));
      SOFFIT_CHECK(add(std::move(store)));
    }
  }
  return bytes_;
}

void HostState::place(uint8_t* memory) {
  for (size_t i = 0; i < layers_.size(); ++i)
    std::visit([&](auto& store) { store.place(memory + offsets_[i]); }, layers_[i]);
}

Status HostState::check(int64_t sequence, int64_t length) const {
  if (sequence < 0 || sequence >= description_.sequences)
    return invalid_argument(concat("sequence ", sequence, " of a state of ", description_.sequences));
  if (length < 0 || length > description_.context)
    return invalid_argument(concat("length ", length, " of a context of ", description_.context));
  return {};
}

Status HostState::can_cut(int64_t sequence, int64_t length) const {
  SOFFIT_CHECK(check(sequence, length));
  for (size_t i = 0; i < layers_.size(); ++i)
    if (auto can = std::visit([&](const auto& store) { return store.can_cut(sequence, length); }, layers_[i]); !can)
      return Error{can.error().code, concat("layer ", i, ": ", can.error().message)};
  return {};
}

template <class F>
void HostState::for_each_range(int64_t sequence, int64_t length, F&& f) const {
  for (const auto& layer : layers_)
    if (const auto* store = std::get_if<KeyValueStore>(&layer))
      store->for_each_range(sequence, length, f);
    else
      f(reinterpret_cast<uint8_t*>(std::get<RecurrentStore>(layer).all(sequence).data()),
        std::get<RecurrentStore>(layer).all(sequence).size_bytes());
}

// Keys and values behind the cut stay: a row sees no position beyond its own.
Status HostState::truncate(int64_t sequence, int64_t length) {
  SOFFIT_CHECK(can_cut(sequence, length));
  for (auto& layer : layers_)
    if (auto* store = std::get_if<KeyValueStore>(&layer))
      store->cut(sequence, length);
    else
      std::get<RecurrentStore>(layer).filled(sequence, length);
  return {};
}

Status HostState::copy(int64_t from, int64_t to, int64_t length) {
  SOFFIT_CHECK(can_cut(from, length));
  SOFFIT_CHECK(check(to, length));
  if (from == to) return truncate(to, length);
  std::vector<uint8_t*> targets;
  for_each_range(to, length, [&](uint8_t* p, size_t) { targets.push_back(p); });
  size_t i = 0;
  for_each_range(from, length, [&](const uint8_t* p, size_t count) { std::memcpy(targets[i++], p, count); });
  for (auto& layer : layers_)
    if (auto* store = std::get_if<KeyValueStore>(&layer))
      store->filled(to, std::min(store->first_held(from), length), length);
    else
      std::get<RecurrentStore>(layer).filled(to, length);
  return {};
}

// The length and, for each layer of keys and values, the first position that it holds; then what the layers hold.
Result<std::vector<std::byte>> HostState::save(int64_t sequence, int64_t length) const {
  SOFFIT_CHECK(can_cut(sequence, length));
  std::vector<std::byte> saved;
  const auto append = [&](const void* from, size_t count) {
    const auto* bytes = static_cast<const std::byte*>(from);
    saved.insert(saved.end(), bytes, bytes + count);
  };
  append(&length, sizeof length);
  for (const auto& layer : layers_)
    if (const auto* store = std::get_if<KeyValueStore>(&layer)) {
      const int64_t first = std::min(store->first_held(sequence), length);
      append(&first, sizeof first);
    }
  for_each_range(sequence, length, append);
  return saved;
}

Status HostState::load(int64_t sequence, std::span<const std::byte> saved) {
  int64_t length = -1;
  std::vector<int64_t> firsts;
  size_t at = 0;
  const auto number = [&](int64_t& to) {
    if (saved.size() - at < sizeof to) return;
    std::memcpy(&to, saved.data() + at, sizeof to);
    at += sizeof to;
  };
  number(length);
  SOFFIT_CHECK(check(sequence, length));
  for (const auto& layer : layers_)
    if (std::holds_alternative<KeyValueStore>(layer)) number(firsts.emplace_back(-1));
  size_t expected = sizeof length + firsts.size() * sizeof length;
  for_each_range(sequence, length, [&](const uint8_t*, size_t count) { expected += count; });
  if (saved.size() != expected)
    return invalid_argument(concat("saved state of ", saved.size(), " bytes, expected ", expected));
  for (int64_t first : firsts)
    if (first < 0 || first > length)
      return invalid_argument(concat("saved state of ", length, " positions that begins at ", first));
  for_each_range(sequence, length, [&](uint8_t* p, size_t count) {
    std::memcpy(p, saved.data() + at, count);
    at += count;
  });
  size_t i = 0;
  for (auto& layer : layers_)
    if (auto* store = std::get_if<KeyValueStore>(&layer))
      store->filled(sequence, firsts[i++], length);
    else
      std::get<RecurrentStore>(layer).filled(sequence, length);
  return {};
}

}  // namespace soffit
