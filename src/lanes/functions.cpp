// Functions and kernels: their parameters, their bodies.
#include <algorithm>

#include "core/concat.hpp"
#include "lanes/names.hpp"
#include "lanes/translator.hpp"

namespace soffit::lanes {

void Translator::function(size_t name, const Attributes& attributes, bool is_template, bool member) {
  const bool is_kernel = std::ranges::any_of(attributes, [](const Attribute& a) { return a.name == "kernel"; });
  const std::string function_name(tokens_[name].text);
  if (is_library_function(function_name)) own_functions_.insert(function_name);
  if (is_template) function_templates_.insert(function_name);
  const size_t open = find(name, tokens_.size() - 1, "(");
  if (cuda() && !is_defaulted(open)) put("__device__");
  specifiers(name, member);
  while (at_ < open) copy();  // operator+ is two tokens
  const size_t close = matching(open);
  const ParsedKernel parsed = is_kernel ? kernel(name, attributes, is_template) : ParsedKernel();
  copy();
  parameter_list(close);
  copy();
  while (now().identifier() && (now().is("const") || now().is("noexcept") || is_address_space(now().text))) {
    if (is_address_space(now().text)) {
      ++at_;  // of the object
    } else {
      copy();
    }
  }
  while (attributes_begin(at_)) at_ = attributes_end(at_);
  if (now().is(";")) return copy();
  if (now().is("=")) {  // = default
    raw(find(at_, tokens_.size() - 1, ";"));
    return copy();
  }
  if (now().is(":")) raw(find(at_, tokens_.size() - 1, "{"));
  const auto scope = uint32_t(scopes_.size());
  functions_.push_back({function_name, name, argument_count(open), {at_, matching(at_)}});
  in_kernel_ = is_kernel;
  function_body(function_name);
  in_kernel_ = false;
  if (!is_kernel) return;
  kernels_.push_back(parsed);
  kernels_.back().scope = scope;
  if (!is_template) entries_.push_back({parsed.host_name, parsed.name, kernels_.size() - 1});
}

bool Translator::is_defaulted(size_t open) const {
  size_t i = matching(open) + 1;
  while (tokens_[i].is("const") || tokens_[i].is("noexcept")) ++i;
  return tokens_[i].is("=");
}

void Translator::function_body(std::string_view name) {
  if (!checked()) return block();
  const auto scope = uint32_t(scopes_.size());
  scopes_.push_back({site(now(), "function"), 0, false, std::string(name)});
  put(concat("{ lanes::InScope scope_", scope, "(", scope, ");"));
  block();
  put("}");
  scopes_[scope].last = uint32_t(sites_.size());
}

void Translator::parameter_list(size_t close) {
  while (at_ < close) {
    size_t end = at_;
    while (end < close && !attributes_begin(end)) end = tokens_[end].is("(") ? matching(end) + 1 : end + 1;
    raw(end);
    if (at_ < close) at_ = attributes_end(at_);
  }
}

ParsedKernel Translator::kernel(size_t name, const Attributes& attributes, bool is_template) {
  ParsedKernel kernel;
  kernel.name = kernel.host_name = tokens_[name].text;
  kernel.is_template = is_template;
  kernel.line = tokens_[name].line;
  for (const Attribute& attribute : attributes) {
    if (attribute.name == "host_name") kernel.host_name = host_name(attribute, name);
    if (attribute.name == "max_total_threads_per_threadgroup") kernel.max_threads = attribute.arguments;
  }
  const size_t close = matching(name + 1);
  uint32_t buffers = 0;
  for (size_t begin = name + 2; begin < close;) {
    size_t end = begin;
    while (end < close && !tokens_[end].is(",")) {
      end = tokens_[end].is("(") || tokens_[end].is("[")  ? matching(end) + 1
            : tokens_[end].is("<") && template_close(end) ? template_close(end) + 1
                                                          : end + 1;
    }
    ParsedParameter parsed = parameter({begin, end});
    if (parsed.kind == "buffer" && parsed.index.empty()) parsed.index = std::to_string(buffers);
    buffers += parsed.kind == "buffer";
    kernel.parameters.push_back(std::move(parsed));
    begin = end + 1;
  }
  refuse_kernel(name, kernel);
  return kernel;
}

ParsedParameter Translator::parameter(Range range) {
  ParsedParameter result;
  Attributes attributes;
  bool pointer = false, is_const = false;
  for (size_t i = range.begin; i < range.end;) {
    if (attributes_begin(i)) {
      i = attributes_end(i, &attributes);
      continue;
    }
    const Token& t = tokens_[i];
    pointer |= t.is("*") || t.is("&");
    result.constant |= t.is("constant");
    is_const |= t.is("const");
    result.writable |= t.is("device");
    if (t.is("threadgroup")) result.kind = "threadgroup";
    if (t.identifier()) result.name = t.text;
    ++i;
  }
  if (pointer && result.kind.empty()) result.kind = "buffer";
  result.writable &= pointer && !is_const;
  static constexpr std::string_view kPositions[] = {"thread_position_in_grid",        "threads_per_grid",
                                                    "threadgroup_position_in_grid",   "threadgroups_per_grid",
                                                    "thread_position_in_threadgroup", "threads_per_threadgroup",
                                                    "thread_index_in_threadgroup",    "thread_index_in_simdgroup",
                                                    "threads_per_simdgroup",          "simdgroup_index_in_threadgroup",
                                                    "simdgroups_per_threadgroup"};
  for (const Attribute& attribute : attributes) {
    if (attribute.name == "buffer" || attribute.name == "threadgroup") {
      result.index = attribute.arguments;
    } else if (std::ranges::find(kPositions, attribute.name) != std::end(kPositions)) {
      result.kind = attribute.name;
    } else {
      fault(range.begin, concat("[[", attribute.name, "]] is not known here as the attribute of a parameter"));
    }
  }
  if (result.kind.empty())
    fault(range.begin, concat("nothing says what the parameter '", result.name, "' is bound to"));
  if (result.kind == "threadgroup" && result.index.empty()) result.index = '0';
  return result;
}

}  // namespace soffit::lanes
