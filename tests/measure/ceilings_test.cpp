// The readers read what they say: every byte, once, and none outside.
#include "measure/ceilings.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <set>

namespace soffit::measure {
namespace {

// Bytes that end right before a page that must not be touched, or begin right after one.
class Guarded {
 public:
  explicit Guarded(size_t pages) : page_(size_t(sysconf(_SC_PAGESIZE))), size_(pages * page_) {
    base_ = static_cast<uint8_t*>(mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(static_cast<void*>(base_), MAP_FAILED);
    EXPECT_EQ(mprotect(data(), size_, PROT_READ | PROT_WRITE), 0);
    std::mt19937_64 random(1);
    for (size_t i = 0; i < size_; ++i) data()[i] = uint8_t(random());
  }
  ~Guarded() { munmap(base_, size_ + 2 * page_); }
  uint8_t* data() { return base_ + page_; }
  uint8_t* end() { return data() + size_; }

 private:
  size_t page_, size_;
  uint8_t* base_;
};

uint64_t words(const uint8_t* from, size_t size) {
  uint64_t sum = 0;
  for (size_t i = 0; i < size; ++i) sum ^= uint64_t(from[i]) << (8 * (i % 8));
  return sum;
}

class Readers : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (readers_of_width(GetParam()).empty()) GTEST_SKIP() << "no loads of " << GetParam() << " bytes here";
  }
};

TEST_P(Readers, ReadEveryByteOnceAndNoneOutside) {
  Guarded memory(6);
  std::vector<size_t> sizes = {1023, 1024, 1025, 4095, 4096, 4097, 10007, 20000};
  for (size_t size = 0; size <= 600; ++size) sizes.push_back(size);
  for (const Reader& reader : readers_of_width(GetParam())) {
    for (const size_t size : sizes) {
      EXPECT_EQ(reader.read(memory.data(), size), words(memory.data(), size)) << reader.name << ", " << size;
      const uint8_t* from = memory.end() - size;
      EXPECT_EQ(reader.read(from, size), words(from, size)) << reader.name << ", the last " << size;
    }
  }
}

TEST_P(Readers, AreAtLeastFourOfDistinctNames) {
  std::set<std::string_view> names;
  for (const Reader& reader : readers_of_width(GetParam())) names.insert(reader.name);
  EXPECT_EQ(names.size(), readers_of_width(GetParam()).size());
  EXPECT_GE(names.size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Widths, Readers, testing::Values(16, 32, 64));

TEST(Readers, TheWidestAreTaken) {
  const auto widest = widest_readers();
  ASSERT_FALSE(widest.empty());
  size_t width = 0;
  for (const int bytes : {16, 32, 64})
    if (!readers_of_width(bytes).empty()) width = size_t(bytes);
  EXPECT_EQ(widest.data(), readers_of_width(int(width)).data());
}

TEST(PeakLoops, CountTheirOperations) {
  for (const cpu::IsaEntry& isa : cpu::isas()) {
    if (!isa.available) continue;
    const PeakLoops& loops = peak_loops(isa.isa);
    for (const PeakLoop& loop : {loops.integer8, loops.float32}) {
      EXPECT_FALSE(loop.instruction.empty());
      const double one = loop.run(1);
      EXPECT_GT(one, 0) << loop.instruction;
      EXPECT_EQ(loop.run(1000), 1000 * one) << loop.instruction;
    }
  }
}

}  // namespace
}  // namespace soffit::measure
