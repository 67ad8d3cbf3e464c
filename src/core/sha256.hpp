// SHA-256. Source: FIPS 180-4. Our own, since it is all that soffit needs of a cryptographic library: nothing secret is
// hashed, and files of a few megabytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "soffit/status.hpp"

namespace soffit {

class Sha256 {
 public:
  void add(std::span<const std::byte> bytes);
  // The digest of all that was added, as 64 lower-case hexadecimal digits. The object is used up.
  std::string hex();

 private:
  void compress(const std::byte* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> rest_{};
  uint64_t size_ = 0;  // bytes added
};

std::string sha256(std::span<const std::byte> bytes);
Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace soffit
