#include "measure/command_line.hpp"

#include <unistd.h>

#include <cstdlib>

#include "core/concat.hpp"
#include "core/escape.hpp"

namespace soffit::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\r\n", kShellOnly = "|&;<>()$`*?[]#~{}!";

bool is_variable(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!allowed) return false;
  }
  return true;
}

// A word, and how many of its first characters were outside quotes: 'A'=1 is no assignment.
struct Word {
  std::string text;
  size_t plain = 0;
};

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  Result<std::vector<Word>> words() {
    std::vector<Word> list;
    for (;;) {
      while (!done() && kBlanks.find(text_[at_]) != std::string_view::npos) ++at_;
      if (done()) return list;
      SOFFIT_TRY(Word next, word());
      list.push_back(std::move(next));
    }
  }

 private:
  bool done() const { return at_ >= text_.size(); }

  Result<Word> word() {
    Word word;
    bool plain = true;
    for (; !done() && kBlanks.find(text_[at_]) == std::string_view::npos; ++at_) {
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        plain = false;
        SOFFIT_CHECK(quoted(c, word.text));
      } else if (c == '\\') {
        plain = false;
        if (++at_ >= text_.size()) return invalid_argument(concat("command ends in \\: ", escaped(text_, 200)));
        word.text += text_[at_];
      } else if (kShellOnly.find(c) != std::string_view::npos) {
        return invalid_argument(concat("commands are run without a shell, and '", std::string(1, c),
                                       "' needs one: quote it, or write sh -c '…': ", escaped(text_, 200)));
      } else {
        word.text += c;
        if (plain) word.plain = word.text.size();
      }
    }
    return word;
  }

  Status quoted(char quote, std::string& to) {
    for (++at_; !done() && text_[at_] != quote; ++at_) {
      const bool escape = quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() &&
                          (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\');
      if (escape) ++at_;
      to += text_[at_];
    }
    if (done())
      return invalid_argument(concat("command without a closing ", std::string(1, quote), ": ", escaped(text_, 200)));
    return {};
  }

  const std::string_view text_;
  size_t at_ = 0;
};

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<CommandLine> split_command(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return invalid_argument("a command with a zero byte");
  SOFFIT_TRY(const auto words, Splitter(text).words());
  CommandLine command;
  for (const Word& word : words) {
    const size_t equals = word.text.find('=');
    const bool assignment = command.words.empty() && equals != std::string::npos && equals < word.plain &&
                            is_variable(std::string_view(word.text).substr(0, equals));
    if (assignment) {
      command.environment.emplace_back(word.text.substr(0, equals), word.text.substr(equals + 1));
    } else {
      command.words.push_back(word.text);
    }
  }
  if (command.words.empty()) return invalid_argument(concat("a command without a program: '", escaped(text, 200), "'"));
  return command;
}

fs::path find_program(const CommandLine& command, const std::string& word) {
  if (word.empty()) return {};
  if (word.find('/') != std::string::npos) return is_program(word) ? fs::path(word) : fs::path();
  const char* own = std::getenv("PATH");
  std::string list = own ? own : "/usr/local/bin:/usr/bin:/bin";
  for (const auto& [name, value] : command.environment) {
    if (name == "PATH") list = value;
  }
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    // An empty part is the current directory.
    const fs::path candidate = fs::path(end > begin ? list.substr(begin, end - begin) : ".") / word;
    if (is_program(candidate)) return candidate;
    begin = end + 1;
  }
  return {};
}

}  // namespace soffit::measure
