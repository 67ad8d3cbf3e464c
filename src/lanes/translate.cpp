// The translator's frame: tokens in, C++ out.
#include "lanes/translate.hpp"

#include <algorithm>

#include "core/concat.hpp"
#include "core/escape.hpp"
#include "lanes/names.hpp"
#include "lanes/translator.hpp"

namespace soffit::lanes {

std::string Translator::where(size_t token) const {
  const Token& t = tokens_[std::min(token, tokens_.size() - 1)];
  return concat(files_[t.file], ":", t.line, ":", t.column, ": ");
}

size_t Translator::matching(size_t open) const {
  size_t depth = 0;
  for (size_t i = open; i < tokens_.size(); ++i) {
    const Token& t = tokens_[i];
    if (t.is("(") || t.is("[") || t.is("{")) ++depth;
    if ((t.is(")") || t.is("]") || t.is("}")) && --depth == 0) return i;
  }
  fault(open, concat("'", tokens_[open].text, "' is never closed"));
}

size_t Translator::template_close(size_t open) const {
  size_t depth = 0;
  for (size_t i = open; i < tokens_.size(); ++i) {
    const Token& t = tokens_[i];
    if (t.is("(") || t.is("[") || t.is("{")) i = matching(i);
    if (t.is("<")) ++depth;
    if (t.is(">") && --depth == 0) return i;
    if (t.is(";") || t.is(")") || t.is("]") || t.is("}")) return 0;
  }
  return 0;
}

size_t Translator::find(size_t from, size_t end, std::string_view what) const {
  for (size_t i = from; i < end; ++i) {
    if (tokens_[i].is(what)) return i;
    if (tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{")) i = matching(i);
  }
  return end;
}

void Translator::expect(std::string_view what) {
  if (!now().is(what)) fault(at_, concat("'", what, "' expected before '", now().text, "'"));
  copy();
}

void Translator::line_of(const Token& token) {
  if (raw_text_) return;
  if (token.file != out_file_ || token.line < out_line_ || token.line > out_line_ + 8) {
    out_ += concat("\n#line ", token.line, " \"", files_[token.file], "\"\n");
  } else {
    out_.append(token.line - out_line_, '\n');
  }
  out_file_ = token.file;
  out_line_ = token.line;
}

void Translator::copy() {
  line_of(now());
  put(now().text);
  ++at_;
}

uint32_t Translator::site(const Token& token, std::string_view text) {
  sites_.push_back({token.file, token.line, token.column, std::string(text)});
  return uint32_t(sites_.size() - 1);
}

std::string Translator::at(const Token& token, std::string_view text) {
  return concat("lanes::At{", site(token, text), "}");
}

void Translator::refuse_unknown_words() {
  for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
    const Token& t = tokens_[i];
    if (!t.identifier() || (i > 0 && (tokens_[i - 1].is(".") || tokens_[i - 1].is("->")))) continue;
    if (t.is("std") && !tokens_[i + 1].is("::")) continue;
    if (t.is("long") && (tokens_[i + 1].is("long") || tokens_[i + 1].is("double")))
      faults_.push_back(concat(where(i), "'long ", tokens_[i + 1].text, "': Metal has none"));
    if (const auto reason = refusal(t.text)) faults_.push_back(concat(where(i), "'", t.text, "': ", *reason));
  }
}

Result<std::string> Translator::run() {
  refuse_unknown_words();
  if (faults_.empty()) {
    try {
      declarations(tokens_.size() - 1);
      refuse_recursion();
    } catch (const Fault& fault) {
      faults_.push_back(where(fault.token) + fault.message);
    }
  }
  for (const Instantiation& wanted : request_.instantiations) {
    const auto kernel = std::ranges::find(kernels_, wanted.kernel, &ParsedKernel::name);
    if (kernel == kernels_.end() || !kernel->is_template) {
      if (faults_.empty())
        faults_.push_back(concat(request_.source_name, ": no kernel template '", wanted.kernel, "'"));
      continue;
    }
    std::string arguments;
    for (const std::string& argument : wanted.arguments) arguments += (arguments.empty() ? "" : ", ") + argument;
    entries_.push_back({wanted.kernel, concat(wanted.kernel, "<", arguments, ">"), size_t(kernel - kernels_.begin())});
  }
  if (!faults_.empty()) {
    std::string message;
    constexpr size_t kShown = 20;
    for (size_t i = 0; i < std::min(faults_.size(), kShown); ++i)
      message.append(i ? "\n" : "").append(escaped(faults_[i]));
    if (faults_.size() > kShown) message += concat("\nand ", faults_.size() - kShown, " more");
    return unsupported(std::move(message));
  }
  if (request_.remarks) *request_.remarks = std::move(remarks_);
  static constexpr std::string_view kHeaders[] = {"plain.h", "checked.h", "lanes/shim/cuda.h"};
  return concat("#include \"", kHeaders[size_t(request_.mode)], "\"\n", uses_members_ ? "#include \"member.h\"\n" : "",
                "namespace metal { namespace {\n", out_, "\n", cuda() ? cuda_tables() : tables());
}

Result<std::string> translate(std::string_view preprocessed, const TranslationRequest& request) {
  SOFFIT_TRY(const Tokens tokens, tokens_of(preprocessed, request.source_name));
  return Translator(tokens, request).run();
}

}  // namespace soffit::lanes
