// What C++ takes and Apple's compiler refuses. Words that Metal does not have are in names.cpp; types and conversions
// between address spaces are for a compiler that knows them, see opencl.hpp.
#include <algorithm>
#include <functional>
#include <map>

#include "core/concat.hpp"
#include "lanes/names.hpp"
#include "lanes/translator.hpp"

namespace soffit::lanes {

// Some source is read more than once.
void Translator::add_once(std::vector<std::string>& list, std::string text) const {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

// `mark` is what stands behind a type.
void Translator::refuse_without_address_space(Range type, size_t mark) {
  const bool declares = tokens_[mark].is("*") || tokens_[mark].is("&");
  const bool in_parentheses = tokens_[mark].is("(") && (tokens_[mark + 1].is("*") || tokens_[mark + 1].is("&")) &&
                              tokens_[mark + 2].identifier() && tokens_[mark + 3].is(")") &&
                              !tokens_[mark + 4].is("(");  // T (&name)[n], but no T (*function)(…)
  if (!declares && !in_parentheses) return;
  for (size_t i = type.begin; i < mark; ++i) {
    const Token& t = tokens_[i];
    if (t.identifier() && (is_address_space(t.text) || t.is("auto") || t.is("decltype"))) return;
  }
  const bool pointer = tokens_[declares ? mark : mark + 1].is("*");
  add_once(faults_, concat(where(type.begin), "a ", pointer ? "pointer" : "reference",
                           " without an address space: device, constant, threadgroup or thread"));
}

void Translator::refuse_local_variable(size_t end, bool is_constexpr, bool marks) {
  bool is_static = false, in_constant = false;
  for (size_t i = at_; i < end && !tokens_[i].is("=") && !tokens_[i].is("[") && !tokens_[i].is("("); ++i) {
    is_static |= tokens_[i].is("static");
    in_constant |= tokens_[i].is("constant");
  }
  if (is_static && !is_constexpr) fault(at_, "Metal has no static variables in functions, but for constexpr ones");
  if (in_constant && !is_constexpr && !marks)
    fault(at_, "a variable in the constant address space has to stand at namespace scope");
  if (!tokens_[at_].is("threadgroup") || marks || in_kernel_) return;
  fault(at_, "a variable in threadgroup memory has to stand in a kernel");
}

void Translator::refuse_kernel(size_t name, const ParsedKernel& kernel) {
  if (name > 0 && !tokens_[name - 1].is("void")) fault(name, concat("kernel '", kernel.name, "' has to return void"));
  const size_t close = matching(name + 1);
  for (size_t i = name + 2; i < close; ++i) {
    if (tokens_[i].is("thread")) fault(i, "a kernel's arguments are in device, constant or threadgroup memory");
    if (tokens_[i].is("*") && tokens_[i + 1].is("*")) fault(i, "a kernel takes no pointers to pointers");
  }
}

size_t Translator::argument_count(size_t open) const {
  const size_t close = matching(open);
  if (open + 1 == close) return 0;
  size_t count = 1;
  for (size_t i = open + 1; i < close; ++i) {
    const Token& t = tokens_[i];
    if (t.is("(") || t.is("[") || t.is("{")) i = matching(i);
    if (t.is("<")) {
      const size_t end = template_close(i);
      if (end != 0 && end < close) i = end;
    }
    count += tokens_[i].is(",");
  }
  return count;
}

// A call of a name that only one function has, with as many arguments. Overloads are not followed: which of them is
// meant their types decide.
void Translator::refuse_recursion() {
  std::map<std::string_view, std::vector<size_t>> by_name;
  for (size_t f = 0; f < functions_.size(); ++f) by_name[functions_[f].name].push_back(f);
  std::vector<std::vector<std::pair<size_t, size_t>>> calls(functions_.size());  // function and token
  for (size_t f = 0; f < functions_.size(); ++f) {
    for (size_t i = functions_[f].body.begin; i < functions_[f].body.end; ++i) {
      const Token& t = tokens_[i];
      if (!t.identifier() || !tokens_[i + 1].is("(") || is_library_function(t.text)) continue;
      const Token& before = tokens_[i - 1];
      if (before.is(".") || before.is("->") || before.is("::")) continue;
      const auto named = by_name.find(t.text);
      if (named == by_name.end() || named->second.size() != 1) continue;
      const size_t callee = named->second.front();
      if (functions_[callee].parameters == argument_count(i + 1)) calls[f].emplace_back(callee, i);
    }
  }
  enum class State { unseen, open, done };
  std::vector<State> states(functions_.size(), State::unseen);
  const std::function<void(size_t)> visit = [&](size_t f) {
    states[f] = State::open;
    for (const auto& [callee, token] : calls[f]) {
      if (states[callee] == State::open) {
        faults_.push_back(concat(where(token), "'", functions_[callee].name,
                                 callee == f ? "' calls itself" : "' calls itself by way of others",
                                 ": Metal has no recursion"));
      } else if (states[callee] == State::unseen) {
        visit(callee);
      }
    }
    states[f] = State::done;
  };
  for (size_t f = 0; f < functions_.size(); ++f) {
    if (states[f] == State::unseen) visit(f);
  }
}

}  // namespace soffit::lanes
