// Copies between buffers of several backends, and of some that the host cannot reach.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "backends.hpp"

namespace soffit::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A device's memory as the host sees it: through read and write alone.
class FarBuffer final : public Buffer {
 public:
  explicit FarBuffer(uint64_t size) : bytes_(size) {}
  uint64_t size() const override { return bytes_.size(); }
  void* host() override { return nullptr; }
  Status write(uint64_t offset, std::span<const std::byte> from) override {
    largest = std::max(largest, from.size());
    std::memcpy(bytes_.data() + offset, from.data(), from.size());
    return {};
  }
  Status read(uint64_t offset, std::span<std::byte> to) const override {
    if (broken) return Error{Code::io, "the device is gone"};
    std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return {};
  }
  size_t largest = 0;
  bool broken = false;

 private:
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> pattern(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = std::byte(i * 131 + i / 251);
  return bytes;
}

// Every pair of a host's and a device's buffers, at odd offsets, with what lies around left alone.
TEST(Copy, BetweenBuffersOfAnyBackends) {
  const auto one = make_backend({"scalar", false}, 1), other = make_backend({"scalar", false}, 2);
  for (const size_t size : {size_t(0), size_t(1), size_t(1000), size_t(9 << 20) + 77})
    for (const bool from_host : {true, false})
      for (const bool to_host : {true, false}) {
        const auto make = [&](bool host, Backend& backend) {
          return host ? *backend.new_buffer(size + 20) : std::unique_ptr<Buffer>(new FarBuffer(size + 20));
        };
        const auto from = make(from_host, *one), to = make(to_host, *other);
        const auto bytes = pattern(size + 20);
        ASSERT_TRUE(from->write(0, bytes));
        ASSERT_TRUE(copy(*from, 13, *to, 5, size));
        std::vector<std::byte> back(size + 20), expected(size + 20);
        ASSERT_TRUE(to->read(0, back));
        std::copy_n(bytes.begin() + 13, ptrdiff_t(size), expected.begin() + 5);
        EXPECT_EQ(back, expected) << size << " bytes, " << from_host << to_host;
        // Between two devices the host's memory is a piece at a time.
        if (!from_host && !to_host) {
          EXPECT_LE(static_cast<FarBuffer&>(*to).largest, size_t(4 << 20));
        }
      }
}

TEST(Copy, WithinOneBuffer) {
  const auto backend = make_backend({"scalar", false}, 1);
  const auto buffer = *backend->new_buffer(100);
  const auto bytes = pattern(100);
  ASSERT_TRUE(buffer->write(0, bytes));
  ASSERT_TRUE(copy(*buffer, 0, *buffer, 50, 50));
  std::vector<std::byte> back(100);
  ASSERT_TRUE(buffer->read(0, back));
  EXPECT_TRUE(std::equal(back.begin(), back.begin() + 50, back.begin() + 50));
  const auto overlapping = copy(*buffer, 0, *buffer, 49, 50);
  ASSERT_FALSE(overlapping);
  EXPECT_THAT(overlapping.error().message, AllOf(HasSubstr("overlap"), HasSubstr("49")));
}

TEST(Copy, OutsideABufferIsAnError) {
  const auto backend = make_backend({"scalar", false}, 1);
  const auto small = *backend->new_buffer(10), large = *backend->new_buffer(100);
  const auto message = [](const Status& status) { return status ? "no error" : status.error().message; };
  EXPECT_THAT(message(copy(*small, 1, *large, 0, 10)),
              AllOf(HasSubstr("from bytes 1 + 10"), HasSubstr("buffer of 10")));
  EXPECT_THAT(message(copy(*large, 0, *small, 5, 6)), AllOf(HasSubstr("to bytes 5 + 6"), HasSubstr("buffer of 10")));
  EXPECT_FALSE(copy(*large, UINT64_MAX, *small, 0, 2));
  EXPECT_FALSE(copy(*large, 0, *small, 0, UINT64_MAX));
  EXPECT_EQ(message(copy(*small, 10, *large, 100, 0)), "no error");
}

TEST(Copy, ADevicesErrorComesBack) {
  const auto backend = make_backend({"scalar", false}, 1);
  FarBuffer far(10), other(10);
  far.broken = true;
  const auto near = *backend->new_buffer(10);
  for (Buffer* to : {near.get(), static_cast<Buffer*>(&other)}) {
    const auto status = copy(far, 0, *to, 0, 10);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "the device is gone");
  }
}

}  // namespace
}  // namespace soffit::test
