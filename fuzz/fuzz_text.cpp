// Any GGUF file as a tokenizer and a chat template. They refuse it with a printable message, or every text becomes ids
// of the vocabulary, and these become text again. The text is the file's own, under the key below.
#include "fault.hpp"
#include "text/chat_template.hpp"
#include "text/load_tokenizer.hpp"
#include "text/utf8.hpp"

namespace {

using namespace soffit;
using fuzz::expect;

void check_tokenizer(const text::Tokenizer& tokenizer, std::string_view prompt) {
  for (const bool special : {false, true}) {
    const auto ids = tokenizer.encode(prompt, {.add_special = special, .parse_special = special});
    expect(bool(ids), "a text that has no ids");
    std::string streamed;
    text::TokenStream stream(tokenizer);
    for (const text::TokenId id : *ids) {
      const auto piece = stream.push(id);
      expect(bool(piece), "an id outside the vocabulary");
      streamed += *piece;
    }
    streamed += stream.finish();
    expect(text::replace_invalid(streamed) == streamed, "a stream of something else than UTF-8");
    expect(bool(tokenizer.decode(*ids, {.skip_special = special})), "ids that have no text");
  }
}

void check_chat(const text::Vocabulary& vocabulary, const std::string& prompt) {
  const auto chat = text::ChatTemplate::of(vocabulary);
  if (!chat) return fuzz::expect_printable(chat.error());
  const text::Message messages[] = {{"system", prompt}, {"user", prompt}, {"assistant", prompt}};
  for (size_t count = 0; count <= std::size(messages); count++) {
    const auto rendered = chat->render(std::span(messages).first(count), count != 3);
    if (!rendered) fuzz::expect_printable(rendered.error());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = gguf::File::parse({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (!file) return 0;
  const auto tokenizer = text::load_tokenizer(**file);
  if (!tokenizer) {
    fuzz::expect_printable(tokenizer.error());
    return 0;
  }
  std::string prompt;
  if (const gguf::Value* value = (*file)->find("fuzz.text")) {
    if (const auto text = value->as_string()) prompt = *text;
  }
  check_tokenizer(**tokenizer, prompt);
  check_chat((*tokenizer)->vocabulary(), prompt);
  return 0;
}
