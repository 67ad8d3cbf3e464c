#include "conversation.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "command.hpp"
#include "console.hpp"
#include "interrupt.hpp"

namespace soffit::tool {

Result<std::vector<text::TokenId>> encode_chat(const text::Tokenizer& tokenizer,
                                               std::span<const text::Message> messages) {
  SOFFIT_TRY(const auto chat, text::ChatTemplate::of(tokenizer.vocabulary()));
  SOFFIT_TRY(const std::string text, chat.render(messages));
  // The template says what stands before and after; only a BOS is left to the tokenizer.
  SOFFIT_TRY(auto tokens, tokenizer.encode(text, {.add_special = false, .parse_special = true}));
  if ((tokenizer.adds_bos() || chat.wants_bos()) && tokenizer.bos()) tokens.insert(tokens.begin(), *tokenizer.bos());
  return tokens;
}

namespace {

class Conversation {
 public:
  Conversation(const RunOptions& options, const LoadedModel& loaded, model::Session& session, text::Sampler& sampler)
      : options_(options), loaded_(loaded), session_(session), generator_(session, *loaded.tokenizer, sampler) {
    if (options.has_system) messages_.push_back({"system", options.system});
  }

  // The model's answer to what the user says, on stdout.
  Status answer(const std::string& text) {
    messages_.push_back({"user", text});
    const Status done = generate();
    if (!done) messages_.pop_back();  // as if it had not been said
    return done;
  }

 private:
  Status generate() {
    SOFFIT_TRY(const auto tokens, encode_chat(*loaded_.tokenizer, messages_));
    InterruptGuard guard;
    bool writable = true;
    model::GenerationOptions options;
    options.max_tokens = options_.tokens;
    options.ignore_end = options_.ignore_end;
    options.on_text = [&](std::string_view text) {
      print(text);
      writable = flush_stdout();
    };
    options.keep_going = [&] { return writable && !guard.interrupted(); };
    SOFFIT_TRY(const auto generation, generator_.generate(tokens, options));
    print("\n");
    if (!flush_stdout()) return Error{Code::io, "standard output cannot be written"};
    messages_.push_back({"assistant", generation.text});
    if (generation.stop == model::Stop::context) {
      warn(fmt::format("the context of {} positions is full; -c makes it larger", session_.options().context));
    }
    if (options_.common.verbose) note(run_summary(figures(loaded_, session_, generation), generation));
    return {};
  }

  const RunOptions& options_;
  const LoadedModel& loaded_;
  model::Session& session_;
  model::Generator generator_;
  std::vector<text::Message> messages_;
};

void show_prompt() {
  if (!isatty(STDIN_FILENO)) return;
  const std::string mark = styled_stderr("> ", Style::bold);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, mark.data(), mark.size());
}

}  // namespace

int converse(const RunOptions& options, const LoadedModel& loaded, model::Session& session, text::Sampler& sampler,
             const std::string& first) {
  // An unknown template is said before the user has typed anything.
  if (const auto chat = text::ChatTemplate::of(loaded.tokenizer->vocabulary()); !chat) return fail(chat.error());
  Conversation conversation(options, loaded, session, sampler);
  if (!first.empty()) {
    if (const Status done = conversation.answer(first); !done) return fail(done.error());
  }
  std::string line;
  for (show_prompt(); std::getline(std::cin, line); show_prompt()) {
    if (line.empty()) continue;
    if (const Status done = conversation.answer(line); !done) return fail(done.error());
  }
  return kDone;
}

}  // namespace soffit::tool
