// soffit detokenize: token ids → text, byte for byte.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <memory>

#include "command.hpp"
#include "console.hpp"
#include "table.hpp"
#include "text_file.hpp"
#include "tokenizer_input.hpp"

namespace soffit::tool {
namespace {

struct Options {
  CommonOptions common;
  std::vector<std::string> ids;
  bool no_special = false;
};

// Numbers separated by white space and commas, in brackets or not: what tokenize prints.
Result<std::vector<text::TokenId>> parse_ids(std::string_view text) {
  std::vector<text::TokenId> ids;
  for (size_t at = 0; (at = text.find_first_not_of(" \t\r\n,[]", at)) != std::string_view::npos;) {
    const std::string_view word = text.substr(at, text.find_first_of(" \t\r\n,[]", at) - at);
    text::TokenId id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size()) {
      return invalid_argument(fmt::format("'{}' is not a token id", printable(word.substr(0, 40))));
    }
    ids.push_back(id);
    at += word.size();
  }
  return ids;
}

int detokenize(const Options& options) {
  const Output output = options.common.output;
  if (output != Output::text && output != Output::json) return usage_error("detokenize has --output text and json");
  const auto input =
      options.ids.empty() ? read_standard_input() : Result(fmt::format("{}", fmt::join(options.ids, " ")));
  if (!input) return fail(input.error());
  const auto ids = parse_ids(*input);
  if (!ids) return fail(ids.error());
  const auto tokenizer = open_tokenizer(options.common.model);
  if (!tokenizer) return fail(tokenizer.error());
  const auto text = (*tokenizer)->decode(*ids, {.skip_special = options.no_special});
  if (!text) return fail(text.error());
  if (output == Output::json) {
    print_json(*text);
  } else {
    print(*text);
    if (isatty(STDOUT_FILENO)) print("\n");  // in a pipe the bytes are the text's alone
  }
  return kDone;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_common_options_with_model(app, options->common);
  add_arguments(app, "ids", options->ids, "token ids (default: from standard input)").named("ID…");
  add_flag(app, "--no-special", options->no_special, "leave control tokens out");
  return [options] { return detokenize(*options); };
}

}  // namespace

extern const Command kDetokenize;
const Command kDetokenize = {"detokenize", "text of token ids",
                             "  soffit detokenize -m model.gguf 19556 28 905\n"
                             "  soffit tokenize -m model.gguf < text.txt | soffit detokenize -m model.gguf",
                             declare};

}  // namespace soffit::tool
