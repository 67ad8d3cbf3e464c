// soffit tokenize: text → token ids.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "command.hpp"
#include "console.hpp"
#include "table.hpp"
#include "text_file.hpp"
#include "tokenizer_input.hpp"

namespace soffit::tool {
namespace {

struct Options {
  CommonOptions common;
  std::optional<std::string> text;
  bool no_special = false, bos = false;
};

void print_table(Output output, const text::Tokenizer& tokenizer, std::span<const text::TokenId> ids) {
  const Column columns[] = {{"id", "id", {}}, {"text", "text", {}}};
  std::vector<Json> rows;
  for (const text::TokenId id : ids) {
    const auto piece = tokenizer.piece(id);
    rows.push_back({{"id", id}, {"text", piece ? printable(*piece) : ""}});
  }
  print_rows(output, columns, rows);
}

int tokenize(const Options& options) {
  const auto tokenizer = open_tokenizer(options.common.model);
  if (!tokenizer) return fail(tokenizer.error());
  const auto bos = (*tokenizer)->bos();
  if (options.bos && !bos) return fail(unsupported("--bos: this model has no begin-of-sequence token"));
  const auto text = options.text ? Result<std::string>(*options.text) : read_standard_input();
  if (!text) return fail(text.error());
  text::EncodeLoss loss;
  auto ids = (*tokenizer)->encode(*text, {.add_special = false, .parse_special = !options.no_special}, &loss);
  if (!ids) return fail(ids.error());
  if (options.bos) ids->insert(ids->begin(), *bos);
  if (loss.replaced_bytes) warn(fmt::format("{} bytes of the text are not valid UTF-8", loss.replaced_bytes));
  if (loss.dropped_bytes) warn(fmt::format("the vocabulary has no token for {} bytes of the text", loss.dropped_bytes));
  switch (options.common.output) {
    case Output::json:
      print(Json(*ids).dump() + "\n");  // on one line, unlike print_json()
      break;
    case Output::text:
      print(fmt::format("{}\n", fmt::join(*ids, " ")));
      break;
    case Output::md:
    case Output::csv:
      print_table(options.common.output, **tokenizer, *ids);
      break;
  }
  return kDone;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_common_options_with_model(app, options->common);
  add_text(
      app, "-p,--prompt", [options](const std::string& text) { options->text = text; },
      "the text (default: standard input)")
      .named("TEXT");
  add_flag(app, "--no-special", options->no_special, "names of control tokens such as <|im_end|> are plain text");
  add_flag(app, "--bos", options->bos, "put the begin-of-sequence token first");
  return [options] { return tokenize(*options); };
}

}  // namespace

extern const Command kTokenize;
const Command kTokenize = {"tokenize", "token ids of a text",
                           "  soffit tokenize -m model.gguf -p 'Hello, world'\n"
                           "  soffit tokenize -m model.gguf --output json --bos < text.txt",
                           declare};

}  // namespace soffit::tool
