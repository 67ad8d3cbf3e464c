// Files of saved logits: a whole one, and some that say more than they hold.
#include "corpus.hpp"
#include "raw_bytes.hpp"

namespace soffit::fuzz {
namespace {

using gguf::test::RawBytes;

// One window of four tokens, of which one is scored, and a vocabulary of five.
RawBytes header(uint32_t window = 4, uint32_t vocabulary = 5, uint32_t chunks = 1) {
  return RawBytes().text("_logits_").put(window).put(vocabulary).put(chunks).put(0).put(1).put(2).put(3);
}

RawBytes row(RawBytes raw, float step, float least) {
  raw.put(step).put(least);
  for (const int code : {0, 65535, 7, 40000, 1, 0}) raw.put(uint16_t(code));
  return raw;
}

}  // namespace

void make_logits(const Corpus& corpus) {
  const auto seed = [&](const char* name, const RawBytes& raw) { corpus.seed(name, raw.bytes()); };
  seed("whole", row(header(), 2e-4f, -14.0f));
  seed("two_rows", row(row(header(), 2e-4f, -14.0f), 0.0f, -1.6f));
  seed("infinite", row(header(), 1.0f / 0.0f, -1.0f / 0.0f));
  seed("no_row", header());
  seed("half_a_row", header().put(1.0f).put(0.0f).put(uint16_t(3)));
  seed("vocabulary_huge", header(4, 1 << 26).fill(16));
  seed("windows_wrap", header(~0u, 5, ~0u).fill(16));
}

}  // namespace soffit::fuzz
