// Wraps a conversation the way a model was trained on. The families below are recognised from the Jinja text in the
// model's file (tokenizer.chat_template) and rendered by hand; tests compare with what Jinja makes of the real
// templates. Tools, images and the like are outside all of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"
#include "text/vocabulary.hpp"

namespace soffit::text {

struct Message {
  std::string role;  // "system", "user" or "assistant"
  std::string content;
};

enum class ChatFamily {
  chatml,  // <|im_start|>role\n…<|im_end|>\n: SmolLM2, Qwen 2.5, …
  qwen3,   // ChatML that leaves the thinking of past answers out
  llama3,  // <|start_header_id|>role<|end_header_id|>\n\n…<|eot_id|>
  gemma,   // <start_of_turn>role\n…<end_of_turn>\n
};
const char* to_string(ChatFamily family);

class ChatTemplate {
 public:
  // An unknown template is an error that says how to go on without one.
  static Result<ChatTemplate> recognize(std::string_view jinja);
  static Result<ChatTemplate> of(const Vocabulary& vocabulary);

  // The text to encode with parse_special on, without a BOS token at its start: see wants_bos(). With
  // `open_answer`, it ends where the assistant's answer begins.
  Result<std::string> render(std::span<const Message> messages, bool open_answer = true) const;

  ChatFamily family() const { return family_; }
  // The template writes a BOS token first. A tokenizer that adds one by itself gives it already.
  bool wants_bos() const { return wants_bos_; }
  // What stands as system message where none is given; empty: nothing.
  const std::string& default_system() const { return default_system_; }

 private:
  void chatml(std::span<const Message> messages, std::string& out) const;
  void qwen3(std::span<const Message> messages, std::string& out) const;
  void llama3(std::span<const Message> messages, std::string& out) const;
  Status gemma(std::span<const Message> messages, std::string& out) const;

  ChatFamily family_ = ChatFamily::chatml;
  bool wants_bos_ = false;
  bool dated_ = false;          // Llama 3.1 and later: a system message with dates comes first
  bool opens_thought_ = false;  // the answer begins with <think>
  std::string default_system_;
};

}  // namespace soffit::text
