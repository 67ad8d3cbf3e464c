// Small files that each reach another part of the reader.
#include <limits>

#include "corpus.hpp"
#include "raw_bytes.hpp"

namespace soffit::fuzz {
namespace {

using gguf::ValueType;
using gguf::test::RawBytes;

RawBytes every_format() {
  RawBytes raw;
  raw.header(int64_t(all_formats().size()), 0);
  uint64_t offset = 0;
  for (const FormatInfo& format : all_formats()) {
    raw.tensor(format.name, {int64_t(format.block_elements)}, format.id, offset);
    offset += (format.block_bytes + 31) / 32 * 32;
  }
  return raw.pad().fill(offset);
}

RawBytes vocabulary() {
  RawBytes raw;
  raw.header(0, 3);
  raw.array("tokenizer.ggml.tokens", ValueType::string, 4)
      .string("<s>")
      .string("\xe2\x96\x81the")
      .string("")
      .string("\xff");
  raw.array("tokenizer.ggml.scores", ValueType::f32, 4).put(0.f).put(-1.f).put(-2.f).put(-3.f);
  raw.array("tokenizer.ggml.token_type", ValueType::i32, 4).put(3).put(1).put(1).put(6);
  return raw;
}

}  // namespace

void make_gguf(const Corpus& corpus) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto one_tensor = [](std::initializer_list<int64_t> shape, uint32_t type, uint64_t offset) {
    return RawBytes().header(1, 0).tensor("t", shape, type, offset).pad().fill(64);
  };
  const auto one_key = [](std::string_view name, uint32_t type) { return RawBytes().header(0, 1).key(name, type); };

  const auto seed = [&](const char* name, const RawBytes& raw) { corpus.seed(name, raw.bytes()); };

  seed("sample", gguf::test::sample_file());
  seed("every_format", every_format());
  seed("vocabulary", vocabulary());
  seed("version_2", RawBytes().header(0, 0, 2));
  seed("version_big_endian", RawBytes().header(0, 0, 0x03000000));
  seed("alignment_1",
       RawBytes().header(1, 1).key("general.alignment", ValueType::u32).put(1u).tensor("t", {3}, 24, 0).fill(3));
  seed("alignment_wrong", one_key("general.alignment", 4).put(33u));
  seed("split", one_key("split.count", 2).put(uint16_t(3)));
  seed("array_of_arrays", RawBytes().header(0, 1).array("a", ValueType::array, 1).fill(64));
  seed("array_huge", RawBytes().header(0, 1).array("a", ValueType::string, uint64_t(1) << 61).fill(32));
  seed("string_huge", one_key("k", 8).put(~uint64_t(0)).fill(32));
  seed("count_huge", RawBytes().header(kMax, kMax).fill(64));
  seed("elements_overflow", one_tensor({kMax, 2, 1, 1}, 0, 0));
  seed("bytes_wrap", one_tensor({5124095576030431008, 1, 1, 1}, 2, 0));
  seed("zero_elements", one_tensor({0, 7}, 1, 0));
  seed("offset_unaligned", one_tensor({4}, 0, 4));
  seed("type_removed", one_tensor({256}, 36, 0));
}

}  // namespace soffit::fuzz
