#include "text/chat_template.hpp"

#include <algorithm>
#include <array>

#include "text/utf8.hpp"

namespace soffit::text {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// What Python's str.strip() takes, and so Jinja's trim.
bool is_python_space(uint32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view trim(std::string_view text) {
  while (!text.empty()) {
    const DecodedCodePoint point = decode_lenient(text, 0);
    if (!is_python_space(point.value)) break;
    text.remove_prefix(point.length);
  }
  while (!text.empty()) {
    size_t start = text.size() - 1;
    while (start > 0 && text.size() - start < 4 && (uint8_t(text[start]) & 0xC0) == 0x80) --start;
    if (!is_python_space(decode_lenient(text, start).value)) break;
    text = text.substr(0, start);
  }
  return text;
}

std::string_view strip_newlines(std::string_view text, bool left, bool right) {
  while (left && text.substr(0, 1) == "\n") text.remove_prefix(1);
  while (right && !text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

void append(std::string& out, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts) out.append(part);
}

// The default system message of a ChatML template: the one that stands in a single string literal.
std::string find_default_system(std::string_view jinja) {
  constexpr std::string_view kBegin = "<|im_start|>system", kEnd = "<|im_end|>";
  for (size_t at = 0; (at = jinja.find(kBegin, at)) != std::string_view::npos; at += kBegin.size()) {
    std::string_view rest = jinja.substr(at + kBegin.size());
    if (rest.substr(0, 2) == "\\n") {
      rest.remove_prefix(2);
    } else if (rest.substr(0, 1) == "\n") {
      rest.remove_prefix(1);
    } else {
      continue;
    }
    const std::string_view text = rest.substr(0, rest.find(kEnd));
    if (text.size() == rest.size() || text.empty() || text.find_first_of("'\"{}") != std::string_view::npos) continue;
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      const bool newline = text.substr(i, 2) == "\\n";
      out.push_back(newline ? '\n' : text[i]);
      if (newline) ++i;
    }
    return out;
  }
  return {};
}

Error unknown_template() {
  return unsupported(
      "the file's chat template is none of those that soffit knows (ChatML, Qwen 3, Llama 3, Gemma); the model still "
      "runs on raw text: give the whole prompt with -p and leave out --chat and -cnv");
}

}  // namespace

const char* to_string(ChatFamily family) {
  switch (family) {
    case ChatFamily::chatml:
      return "chatml";
    case ChatFamily::qwen3:
      return "qwen3";
    case ChatFamily::llama3:
      return "llama3";
    case ChatFamily::gemma:
      return "gemma";
  }
  return "unknown";
}

Result<ChatTemplate> ChatTemplate::recognize(std::string_view jinja) {
  // Templates that carry a family's markers but say more than the family does.
  for (std::string_view foreign : {"<|im_sep|>", "<end_of_utterance>", "function calling AI model", "functools",
                                   "recipient", "In this environment you have access"}) {
    if (contains(jinja, foreign)) return unknown_template();
  }
  ChatTemplate out;
  out.wants_bos_ = contains(jinja, "bos_token");
  const bool thinks = contains(jinja, "<think>") || contains(jinja, "</think>");
  if (contains(jinja, "<|im_start|>") && !thinks) {
    out.family_ = ChatFamily::chatml;
    out.default_system_ = find_default_system(jinja);
  } else if (contains(jinja, "<|im_start|>") && contains(jinja, "last_query_index") &&
             contains(jinja, "loop.last or (not loop.last and reasoning_content)")) {
    out.family_ = ChatFamily::qwen3;
    out.opens_thought_ = contains(jinja, "'<|im_start|>assistant\\n<think>\\n'");
    // Whether the answer opens with a thought must not hang on an option that only a caller of Jinja can give.
    if (out.opens_thought_ && contains(jinja, "enable_thinking")) return unknown_template();
  } else if (contains(jinja, "<|start_header_id|>") && contains(jinja, "<|end_header_id|>")) {
    out.family_ = ChatFamily::llama3;
    out.dated_ = contains(jinja, "Cutting Knowledge Date: December 2023");
    if (out.dated_ && !contains(jinja, "\"Today Date: \" + date_string")) return unknown_template();
  } else if (contains(jinja, "<start_of_turn>") && contains(jinja, "<end_of_turn>")) {
    out.family_ = ChatFamily::gemma;
  } else {
    return unknown_template();
  }
  return out;
}

Result<ChatTemplate> ChatTemplate::of(const Vocabulary& vocabulary) {
  if (vocabulary.chat_template) return recognize(*vocabulary.chat_template);
  return unsupported(
      "the file has no chat template (tokenizer.chat_template): the model was not made for conversations; give raw "
      "text "
      "with -p and leave out --chat and -cnv");
}

Result<std::string> ChatTemplate::render(std::span<const Message> messages, bool open_answer) const {
  constexpr std::array<std::string_view, 3> kRoles = {"system", "user", "assistant"};
  for (size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    if (std::find(kRoles.begin(), kRoles.end(), role) == kRoles.end()) {
      return invalid_argument("message " + std::to_string(i) + " has the role \"" + role +
                              "\"; it must be system, user or assistant");
    }
    if (role == "system" && i > 0) {
      return invalid_argument("message " + std::to_string(i) + " is a system message; only the first can be one");
    }
  }
  std::string out;
  switch (family_) {
    case ChatFamily::chatml:
      chatml(messages, out);
      break;
    case ChatFamily::qwen3:
      qwen3(messages, out);
      break;
    case ChatFamily::llama3:
      llama3(messages, out);
      break;
    case ChatFamily::gemma:
      SOFFIT_CHECK(gemma(messages, out));
      break;
  }
  if (!open_answer) return out;
  switch (family_) {
    case ChatFamily::chatml:
      out += "<|im_start|>assistant\n";
      break;
    case ChatFamily::qwen3:
      append(out, {"<|im_start|>assistant\n", opens_thought_ ? "<think>\n" : ""});
      break;
    case ChatFamily::llama3:
      out += "<|start_header_id|>assistant<|end_header_id|>\n\n";
      break;
    case ChatFamily::gemma:
      out += "<start_of_turn>model\n";
      break;
  }
  return out;
}

void ChatTemplate::chatml(std::span<const Message> messages, std::string& out) const {
  if (!default_system_.empty() && (messages.empty() || messages[0].role != "system")) {
    append(out, {"<|im_start|>system\n", default_system_, "<|im_end|>\n"});
  }
  for (const Message& message : messages) {
    append(out, {"<|im_start|>", message.role, "\n", message.content, "<|im_end|>\n"});
  }
}

// An answer before the last question loses its thinking; one after it (to be continued) shows it, empty if need be.
void ChatTemplate::qwen3(std::span<const Message> messages, std::string& out) const {
  size_t last_question = messages.empty() ? 0 : messages.size() - 1;
  for (size_t i = messages.size(); i-- > 0;) {
    if (messages[i].role != "user") continue;
    last_question = i;
    break;
  }
  constexpr std::string_view kOpen = "<think>", kClose = "</think>";
  for (size_t i = 0; i < messages.size(); ++i) {
    std::string_view content = messages[i].content, thought;
    append(out, {"<|im_start|>", messages[i].role, "\n"});
    if (messages[i].role == "assistant") {
      if (const size_t close = content.find(kClose); close != std::string_view::npos) {
        thought = strip_newlines(content.substr(0, close), false, true);
        const size_t open = thought.rfind(kOpen);
        if (open != std::string_view::npos) thought.remove_prefix(open + kOpen.size());
        content = strip_newlines(content.substr(content.rfind(kClose) + kClose.size()), true, false);
      }
      const bool last = i + 1 == messages.size();
      if (i > last_question && (last || !strip_newlines(thought, true, false).empty())) {
        append(out, {"<think>\n", strip_newlines(thought, true, true), "\n</think>\n\n"});
        content = strip_newlines(content, true, false);
      }
    }
    append(out, {content, "<|im_end|>\n"});
  }
}

void ChatTemplate::llama3(std::span<const Message> messages, std::string& out) const {
  const auto header = [&](std::string_view role) {
    append(out, {"<|start_header_id|>", role, "<|end_header_id|>\n\n"});
  };
  if (dated_) {
    // The date that the template has for programs that give none: the same prompt every day.
    const bool system = !messages.empty() && messages[0].role == "system";
    header("system");
    append(out, {"Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n",
                 system ? trim(messages[0].content) : std::string_view(), "<|eot_id|>"});
    if (system) messages = messages.subspan(1);
  }
  for (const Message& message : messages) {
    header(message.role);
    append(out, {trim(message.content), "<|eot_id|>"});
  }
}

// There is no system turn: its text stands before the first question.
Status ChatTemplate::gemma(std::span<const Message> messages, std::string& out) const {
  std::string prefix;
  if (!messages.empty() && messages[0].role == "system") {
    prefix = messages[0].content + "\n\n";
    messages = messages.subspan(1);
    if (messages.empty()) return invalid_argument("a Gemma conversation needs a user message after the system message");
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    const bool user = messages[i].role == "user";
    if (user != (i % 2 == 0)) {
      return invalid_argument("user and assistant must take turns, beginning with the user; message " +
                              std::to_string(i + (prefix.empty() ? 0 : 1)) + " is of the " + messages[i].role);
    }
    append(out, {"<start_of_turn>", user ? "user" : "model", "\n", i == 0 ? std::string_view(prefix) : "",
                 trim(messages[i].content), "<end_of_turn>\n"});
  }
  return {};
}

}  // namespace soffit::text
