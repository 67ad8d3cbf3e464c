// Parsing in tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "raw_bytes.hpp"
#include "soffit/gguf.hpp"
#include "touch.hpp"

namespace soffit::gguf::test {

// The bytes in an allocation of exactly their size, so that AddressSanitizer sees a read beyond them.
struct ExactBytes {
  explicit ExactBytes(std::span<const std::byte> bytes) : size(bytes.size()), data(new std::byte[bytes.size()]) {
    std::ranges::copy(bytes, data.get());
  }
  std::span<const std::byte> view() const { return {data.get(), size}; }
  size_t size;
  std::unique_ptr<std::byte[]> data;
};

// That the bytes are refused as a file's fault with a message that has each of the texts.
template <class... Texts>
void expect_refused(std::span<const std::byte> bytes, const Texts&... texts) {
  const ExactBytes exact(bytes);
  const auto file = File::parse(exact.view(), "test.gguf");
  ASSERT_FALSE(file) << "accepted";
  EXPECT_EQ(file.error().code, Code::invalid_file);
  const std::string& message = file.error().message;
  EXPECT_THAT(message, testing::StartsWith("test.gguf: "));
  for (const std::string& text : {std::string(texts)...}) EXPECT_THAT(message, testing::HasSubstr(text));
}
template <class... Texts>
void expect_refused(const RawBytes& raw, const Texts&... texts) {
  expect_refused(std::span(raw.bytes()), texts...);
}

}  // namespace soffit::gguf::test
