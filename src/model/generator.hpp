// Text from a model: prompt tokens in, tokens and their text out, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/session.hpp"
#include "text/sampler.hpp"
#include "text/tokenizer.hpp"

namespace soffit::model {

enum class Stop : uint8_t {
  end,        // the model ended its answer
  length,     // as many tokens as were asked for
  context,    // the sequence is full
  cancelled,  // the caller did not want more
};
const char* to_string(Stop stop);

struct GenerationOptions {
  int64_t max_tokens = -1;  // below zero: until another reason to stop
  bool ignore_end = false;  // go on after an end-of-generation token
  // Called with text as soon as it is certain: whole code points, never empty.
  std::function<void(std::string_view text)> on_text = {};
  // Asked before each run of the model; false stops.
  std::function<bool()> keep_going = {};
};

struct Generation {
  std::string text;
  std::vector<text::TokenId> tokens;  // without the one that ended it
  Stop stop = Stop::end;
  int64_t prompt_tokens = 0;   // of the whole prompt
  int64_t reused_tokens = 0;   // of these, what the sequence still held
  int64_t run_tokens = 0;      // and what was run: not the whole rest, if it was cancelled
  int64_t decoded_tokens = 0;  // single-token runs after the prompt
  int64_t depth = 0;           // positions held when the last of them ran
  double prompt_seconds = 0, decode_seconds = 0;
};

// Uses one sequence of a session, which nobody else may change meanwhile.
class Generator {
 public:
  Generator(Session& session, const text::Tokenizer& tokenizer, text::Sampler& sampler, int64_t sequence = 0)
      : session_(session), tokenizer_(tokenizer), sampler_(sampler), sequence_(sequence) {}

  // Continues `prompt`. What the sequence holds of the prompt's beginning is not computed again; the rest of what it
  // holds is forgotten. A prompt that does not fit the context is an error.
  Result<Generation> generate(std::span<const text::TokenId> prompt, const GenerationOptions& options);

 private:
  Result<std::span<const float>> run_prompt(std::span<const text::TokenId> prompt, const GenerationOptions& options,
                                            Generation& result);
  Status run_tokens(std::span<const float> logits, const GenerationOptions& options, Generation& result);

  Session& session_;
  const text::Tokenizer& tokenizer_;
  text::Sampler& sampler_;
  int64_t sequence_;
  std::vector<text::TokenId> held_;  // the sequence's tokens
};

}  // namespace soffit::model
