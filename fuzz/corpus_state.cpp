// Saved sequences of the state in fuzz_state.cpp: up to 64 positions take 2096 bytes, up to 100 take 2608.
#include "corpus.hpp"
#include "raw_bytes.hpp"

namespace soffit::fuzz {

void make_state(const Corpus& corpus) {
  using gguf::test::RawBytes;
  const auto seed = [&](const char* name, const RawBytes& raw) { corpus.seed(name, raw.bytes()); };
  // The positions, and the first ones that the two layers of keys and values hold.
  const auto head = [](int64_t length, int64_t first, int64_t second) {
    return RawBytes().put(length).put(first).put(second);
  };
  seed("empty", head(0, 0, 0).fill(48));
  seed("empty_full", head(0, 0, 0).fill(48, 0x3c));
  seed("three", head(3, 0, 0).fill(2096, 0x3c));
  seed("full", head(100, 0, 36).fill(2608, 0x7c));
  seed("first_overwritten", head(90, 0, 0).fill(2608, 0x7c));
  seed("first_beyond", head(3, 0, 4).fill(2096));
  seed("first_negative", head(3, -1, 0).fill(2096));
  seed("too_long", head(101, 0, 0).fill(2608));
  seed("negative", head(-1, 0, 0).fill(2096));
  seed("cut", head(3, 0, 0).fill(2095));
}

}  // namespace soffit::fuzz
