#include "core/sha256.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string_view>

namespace soffit {
namespace {

std::string hash_of(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

// The examples of FIPS 180-4 as NIST publishes them ("Secure Hashing, Example Values").
TEST(Sha256, ExamplesOfTheStandard) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      hash_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmno"
              "pqrstnopqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(hash_of(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfEverySizeGiveTheHashOfTheWhole) {
  std::string text(300, ' ');
  for (size_t i = 0; i < text.size(); ++i) text[i] = char(i * 7);
  for (size_t size = 0; size <= text.size(); ++size) {
    const auto bytes = std::as_bytes(std::span(text).first(size));
    const std::string whole = sha256(bytes);
    for (const size_t piece : {1, 55, 56, 63, 64, 65, 128}) {
      Sha256 hash;
      for (size_t at = 0; at < size; at += piece) hash.add(bytes.subspan(at, std::min(piece, size - at)));
      EXPECT_EQ(hash.hex(), whole) << size << " bytes in pieces of " << piece;
    }
  }
}

TEST(Sha256, Files) {
  const std::string path = testing::TempDir() + "sha256_test.bin";
  const std::string text(200'000, 'x');
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(*sha256_of_file(path), hash_of(text));
  const auto missing = sha256_of_file(path + ".missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::io);
  const auto directory = sha256_of_file(testing::TempDir());
  EXPECT_FALSE(directory);
}

}  // namespace
}  // namespace soffit
