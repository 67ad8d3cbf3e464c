#include "model/generator.hpp"

#include <algorithm>
#include <chrono>

namespace soffit::model {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void emit(std::string_view text, const GenerationOptions& options, Generation& result) {
  if (text.empty()) return;
  result.text += text;
  if (options.on_text) options.on_text(text);
}

}  // namespace

const char* to_string(Stop stop) {
  switch (stop) {
    case Stop::end:
      return "end";
    case Stop::length:
      return "length";
    case Stop::context:
      return "context";
    case Stop::cancelled:
      return "cancelled";
  }
  return "unknown";
}

Result<std::span<const float>> Generator::run_prompt(std::span<const text::TokenId> prompt,
                                                     const GenerationOptions& options, Generation& result) {
  if (int64_t(prompt.size()) > session_.options().context) {
    return invalid_argument("the prompt has " + std::to_string(prompt.size()) + " tokens and the context " +
                            std::to_string(session_.options().context) + " positions");
  }
  // The last token is run again even if it is held: its logits are wanted.
  const auto [held, next] = std::ranges::mismatch(held_, prompt.first(prompt.size() - 1));
  SOFFIT_TRY(const int64_t kept, session_.rewind(sequence_, held - held_.begin()));
  held_.resize(size_t(kept));
  result.reused_tokens = int64_t(held_.size());
  const auto rest = prompt.subspan(held_.size());
  const auto logits = session_.append(sequence_, rest, options.keep_going);
  // Of a prompt that was cancelled or failed, what was run is held.
  held_.insert(held_.end(), rest.begin(), rest.begin() + (session_.length(sequence_) - result.reused_tokens));
  return logits;
}

Status Generator::run_tokens(std::span<const float> logits, const GenerationOptions& options, Generation& result) {
  text::TokenStream stream(tokenizer_);
  const Clock::time_point start = Clock::now();
  for (;;) {
    SOFFIT_TRY(const text::TokenId token, sampler_.sample(logits));
    sampler_.accept(token);
    if (tokenizer_.is_end_of_generation(token) && !options.ignore_end) {
      result.stop = Stop::end;
      break;
    }
    result.tokens.push_back(token);
    SOFFIT_TRY(const std::string text, stream.push(token));
    emit(text, options, result);
    if (int64_t(result.tokens.size()) == options.max_tokens) {
      result.stop = Stop::length;
      break;
    }
    const int64_t position = session_.length(sequence_);
    if (position == session_.options().context) {
      result.stop = Stop::context;
      break;
    }
    if (options.keep_going && !options.keep_going()) {
      result.stop = Stop::cancelled;
      break;
    }
    const BatchRow row{token, int32_t(sequence_), int32_t(position)};
    constexpr int32_t kOnly = 0;
    SOFFIT_TRY(logits, session_.decode({&row, 1}, {&kOnly, 1}));
    held_.push_back(token);
    result.decoded_tokens++;
    result.depth = position;
  }
  result.decode_seconds = seconds_since(start);
  emit(stream.finish(), options, result);
  return {};
}

Result<Generation> Generator::generate(std::span<const text::TokenId> prompt, const GenerationOptions& options) {
  if (prompt.empty()) return invalid_argument("the prompt has no tokens");
  Generation result;
  result.prompt_tokens = int64_t(prompt.size());
  const int64_t room = session_.options().context;
  held_.reserve(size_t(room));
  result.tokens.reserve(size_t(options.max_tokens < 0 ? room : std::min(room + 1, options.max_tokens)));

  const Clock::time_point start = Clock::now();
  const auto logits = run_prompt(prompt, options, result);
  result.prompt_seconds = seconds_since(start);
  result.run_tokens = int64_t(held_.size()) - result.reused_tokens;
  if (!logits && logits.error().code == Code::cancelled) {
    result.stop = Stop::cancelled;
    return result;
  }
  if (!logits) return logits.error();
  for (const text::TokenId token : prompt) sampler_.accept(token);
  if (options.max_tokens == 0) {
    result.stop = Stop::length;
    return result;
  }
  SOFFIT_CHECK(run_tokens(*logits, options, result));
  return result;
}

}  // namespace soffit::model
