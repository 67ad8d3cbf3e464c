// Talking with a model: its chat template, and turn after turn.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/session.hpp"
#include "run_options.hpp"
#include "text/chat_template.hpp"

namespace soffit::tool {

// The conversation's tokens, up to where the model's answer begins.
Result<std::vector<text::TokenId>> encode_chat(const text::Tokenizer& tokenizer,
                                               std::span<const text::Message> messages);

// Reads what the user says from standard input, line by line, until it ends; `first`, if not empty, is said before.
// Ctrl-C stops an answer; between answers it ends the program. Returns the program's exit code.
int converse(const RunOptions& options, const LoadedModel& loaded, model::Session& session, text::Sampler& sampler,
             const std::string& first);

}  // namespace soffit::tool
