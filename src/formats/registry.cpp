// The table of all GGUF type ids: those with kernels from their structs, the others by name and size.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "formats/formats.hpp"
#include "soffit/format.hpp"

namespace soffit {
namespace {

// Block by block through a copy: a tensor's bytes may begin at any address.
template <class F>
void decode_blocks(const std::byte* from, float* to, size_t blocks) {
  for (size_t i = 0; i < blocks; ++i) {
    typename F::Block block;
    std::memcpy(&block, from + i * sizeof block, sizeof block);
    F::decode(block, to + i * F::kElements);
  }
}

template <class F>
void encode_blocks(const float* from, std::byte* to, size_t blocks) {
  for (size_t i = 0; i < blocks; ++i) {
    typename F::Block block;
    F::encode(from + i * F::kElements, block);
    std::memcpy(to + i * sizeof block, &block, sizeof block);
  }
}

template <class F>
constexpr FormatInfo describe() {
  return {uint32_t(F::kFormat), F::kName,        F::kElements, sizeof(typename F::Block), true,
          decode_blocks<F>,     encode_blocks<F>};
}

constexpr FormatInfo named_only(uint32_t id, std::string_view name, uint32_t elements, uint32_t bytes) {
  return {id, name, elements, bytes, false, nullptr, nullptr};
}

constexpr FormatInfo kWithoutKernels[] = {
    named_only(9, "q8_1", 32, 36),     named_only(15, "q8_k", 256, 292),   named_only(16, "iq2_xxs", 256, 66),
    named_only(17, "iq2_xs", 256, 74), named_only(18, "iq3_xxs", 256, 98), named_only(19, "iq1_s", 256, 50),
    named_only(21, "iq3_s", 256, 110), named_only(22, "iq2_s", 256, 82),   named_only(24, "i8", 1, 1),
    named_only(25, "i16", 1, 2),       named_only(26, "i32", 1, 4),        named_only(27, "i64", 1, 8),
    named_only(28, "f64", 1, 8),       named_only(29, "iq1_m", 256, 56),   named_only(40, "nvfp4", 64, 36),
    named_only(41, "q1_0", 128, 18),   named_only(42, "q2_0", 64, 18),
};

constexpr auto make_table() {
  std::array<FormatInfo, Formats::kCount + std::size(kWithoutKernels)> table{};
  size_t n = 0;
  Formats::for_each([&]<class F>() { table[n++] = describe<F>(); });
  for (const FormatInfo& f : kWithoutKernels) table[n++] = f;
  std::ranges::sort(table, {}, &FormatInfo::id);
  return table;
}

constexpr auto kTable = make_table();
static_assert(std::ranges::adjacent_find(kTable, {}, &FormatInfo::id) == kTable.end(), "two formats share an id");

constexpr FormatInfo kNoFormat = named_only(~uint32_t(0), "unknown", 1, 0);

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::span<const FormatInfo> all_formats() { return kTable; }

const FormatInfo* find_format(uint32_t id) {
  const auto* f = std::ranges::lower_bound(kTable, id, {}, &FormatInfo::id);
  return f != kTable.end() && f->id == id ? f : nullptr;
}

const FormatInfo* find_format(std::string_view name) {
  const auto* f = std::ranges::find_if(kTable, [&](const FormatInfo& g) { return equal_ignoring_case(g.name, name); });
  return f != kTable.end() ? f : nullptr;
}

const FormatInfo& info(Format format) {
  const FormatInfo* f = find_format(uint32_t(format));
  return f && f->supported ? *f : kNoFormat;
}

Result<int64_t> row_bytes(Format format, int64_t cols) {
  const FormatInfo& f = info(format);
  if (!f.supported) return invalid_argument("format id " + std::to_string(uint32_t(format)) + " has no kernels");
  const auto refuse = [&](const std::string& reason) {
    return invalid_argument("a row of " + std::to_string(cols) + " columns in " + std::string(f.name) + ": " + reason);
  };
  if (cols < 0) return refuse("the number is negative");
  if (cols % f.block_elements != 0) return refuse("not a multiple of the block of " + std::to_string(f.block_elements));
  int64_t bytes;
  if (__builtin_mul_overflow(cols / f.block_elements, int64_t(f.block_bytes), &bytes))
    return refuse("its size in bytes is over 2^63");
  return bytes;
}

}  // namespace soffit
