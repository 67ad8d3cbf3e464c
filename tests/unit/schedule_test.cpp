// Which accesses of a plan's operations can touch a common byte.
#include "ops/schedule.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace soffit {
namespace {

struct Bytes final : Buffer {
  uint64_t size() const override { return 1 << 20; }
  void* host() override { return nullptr; }
  Status write(uint64_t, std::span<const std::byte>) override { return {}; }
  Status read(uint64_t, std::span<std::byte>) const override { return {}; }
};

// Every byte of both views, one by one.
bool share_a_byte(const ArrayView& a, const ArrayView& b) {
  std::vector<bool> touched(4096);
  const auto each = [](const ArrayView& v, auto&& f) {
    for (int64_t r = 0; r < v.rows; ++r)
      for (int64_t c = 0; c < v.cols * size_of(v.type); ++c)
        f(size_t(v.offset) + size_t(r * v.row_stride * size_of(v.type) + c));
  };
  bool shared = false;
  each(a, [&](size_t i) { touched[i] = true; });
  each(b, [&](size_t i) { shared = shared || touched[i]; });
  return shared;
}

// What is not said to overlap has no byte in common; the other way round a doubt is allowed, but not in the cases that
// plans consist of.
TEST(Schedule, NoOverlapIsMissed) {
  Bytes buffer;
  std::vector<ArrayView> views;
  for (DataType type : {DataType::f32, DataType::f16})
    for (uint64_t offset : {0, 4, 32, 64, 100, 128})
      for (int64_t rows : {0, 1, 3})
        for (int64_t cols : {1, 8, 16})
          for (int64_t stride : {0, 8, 16, 24, 32}) views.push_back({&buffer, offset, type, rows, cols, stride});
  for (const auto& a : views)
    for (const auto& b : views) {
      if (overlap({&buffer, a, 0, true}, {&buffer, b, 0, false})) continue;
      ASSERT_FALSE(share_a_byte(a, b)) << a.offset << " " << a.rows << " " << a.cols << " " << a.row_stride << " and "
                                       << b.offset << " " << b.rows << " " << b.cols << " " << b.row_stride;
    }
}

TEST(Schedule, WhatPlansConsistOfIsToldApart) {
  Bytes buffer, other;
  const ArrayView whole = view(buffer, DataType::f32, 4, 48), elsewhere = view(other, DataType::f32, 4, 48);
  EXPECT_FALSE(overlap({&buffer, whole.columns(0, 16), 0, true}, {&buffer, whole.columns(16, 32), 0, true}));
  EXPECT_TRUE(overlap({&buffer, whole.columns(0, 17), 0, true}, {&buffer, whole.columns(16, 32), 0, true}));
  EXPECT_FALSE(overlap({&buffer, whole, 0, true}, {&other, elsewhere, 0, true}));
  EXPECT_FALSE(overlap({&buffer, {}, 1, true}, {&buffer, {}, 2, true})) << "layers of a state";
  EXPECT_TRUE(overlap({&buffer, {}, 1, true}, {&buffer, {}, 1, false}));
}

}  // namespace
}  // namespace soffit
