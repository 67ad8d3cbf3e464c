// The lists at the end of a translation: sites, scopes, constants, kernels.
#include <algorithm>

#include "core/concat.hpp"
#include "lanes/translator.hpp"

namespace soffit::lanes {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

// An array of constants, and its size by its side. An empty one has one element that does not count.
template <class List, class F>
std::string array(std::string_view type, std::string_view name, const List& list, F&& element) {
  std::string text = concat("static const ", type, " ", name, "[] = {");
  for (const auto& item : list) text += concat("\n  ", element(item), ",");
  return text + (list.empty() ? "{}" : "") + "};\n";
}

std::string capitalised_position(std::string_view kind) { return concat("::soffit::lanes::Parameter::", kind); }

}  // namespace

std::string Translator::parameter_table() const {
  std::string text;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    text += array("::soffit::lanes::KernelParameter", concat("kParameters", k), kernels_[k].parameters,
                  [](const ParsedParameter& p) {
                    return concat("{", capitalised_position(p.kind), ", ", p.index.empty() ? "0" : p.index, ", ",
                                  p.constant ? "true" : "false", ", ", p.writable ? "true" : "false", ", ",
                                  quoted(p.name), "}");
                  });
  }
  return text;
}

std::string Translator::call_of(size_t entry) const {
  const ParsedKernel& kernel = kernels_[entries_[entry].kernel];
  std::string text = entries_[entry].expression + "(";
  for (size_t p = 0; p < kernel.parameters.size(); ++p) {
    const ParsedParameter& parameter = kernel.parameters[p];
    const bool memory = parameter.kind == "buffer" || parameter.kind == "threadgroup";
    text += concat(p ? ", " : "", "::soffit::lanes::", memory ? parameter.kind : "position", "_argument(arguments, ",
                   memory ? parameter.index : capitalised_position(parameter.kind), ")");
  }
  return text + ")";
}

std::string Translator::kernel_table() const {
  std::string text = parameter_table();
  for (size_t e = 0; e < entries_.size(); ++e) {
    text += concat("static void run", e, "(const ::soffit::lanes::Arguments& arguments) {\n  ", call_of(e), ";\n}\n");
  }
  size_t number = 0;
  return text + array("::soffit::lanes::Kernel", "kKernels", entries_, [&](const Entry& entry) {
           const ParsedKernel& kernel = kernels_[entry.kernel];
           return concat("{", quoted(entry.name), ", kParameters", entry.kernel, ", ", kernel.parameters.size(), ", ",
                         kernel.max_threads, ", ", kernel.line, ", ", kernel.scope, ", run", number++, "}");
         });
}

// Function constants are variables of the device, which a kernel of one thread sets.
std::string Translator::cuda_tables() const {
  std::string text = "#line 1 \"library\"\n" + parameter_table();
  for (size_t e = 0; e < entries_.size(); ++e) {
    const std::string& most = kernels_[entries_[e].kernel].max_threads;
    text += concat("static __global__ __launch_bounds__(", most == "0" ? "1024" : most, ") void run", e,
                   "(const ::soffit::lanes::GridArguments arguments) {\n  ", call_of(e), ";\n}\n");
  }
  text += "static __global__ void set_constants(const ::soffit::lanes::ConstantSettings settings) {\n";
  for (size_t c = 0; c < constants_.size(); ++c) {
    const std::string& name = constants_[c].name;
    text += concat("  ", name, " = decltype(", name, ")(settings.values[", c, "]); ", name,
                   "_is_defined = settings.defined[", c, "];\n");
  }
  text += derived_ + "}\n";
  size_t number = 0;
  text += array("::soffit::lanes::CudaKernel", "kKernels", entries_, [&](const Entry& entry) {
    const ParsedKernel& kernel = kernels_[entry.kernel];
    return concat("{", quoted(entry.name), ", kParameters", entry.kernel, ", ", kernel.parameters.size(), ", ",
                  kernel.max_threads, ", (const void*)run", number++, "}");
  });
  text += array("::soffit::lanes::CudaConstant", "kConstants", constants_, [this](const GlobalConstant& c) {
    return concat("{", quoted(c.name), ", ", c.index, ", ", optional_.contains(c.name) ? "true" : "false", "}");
  });
  text += concat("static_assert(", constants_.size(), " <= ::soffit::lanes::kMostConstants);\n",
                 "static const ::soffit::lanes::CudaLibrary kLibrary = {", quoted(request_.source_name), ", kKernels, ",
                 entries_.size(), ", kConstants, ", constants_.size(), ", (const void*)set_constants};\n}}\n");
  return text + concat("extern \"C\" const ::soffit::lanes::CudaLibrary* ", request_.library_symbol,
                       "() { return &metal::kLibrary; }\n");
}

std::string Translator::tables() const {
  std::string text;
  if (!derived_.empty()) text += concat("static void set_derived_constants() {\n", derived_, "}\n");
  text += "#line 1 \"library\"\n" + kernel_table();
  text += array("::soffit::lanes::FunctionConstant", "kConstants", constants_, [this](const GlobalConstant& c) {
    return concat("{", quoted(c.name), ", ", c.index, ", ::soffit::lanes::constant_type<decltype(", c.name, ")>(), &",
                  c.name, ", &", c.name, "_is_defined, ", optional_.contains(c.name) ? "true" : "false", "}");
  });
  text += array("::soffit::lanes::Table", "kTables", arrays_,
                [](const std::string& name) { return concat("{&", name, ", sizeof ", name, ", ", quoted(name), "}"); });
  text += array("::soffit::lanes::Site", "kSites", sites_, [](const SiteEntry& s) {
    return concat("{", s.file, ", ", s.line, ", ", s.column, ", ", quoted(s.text), "}");
  });
  text += array("::soffit::lanes::Scope", "kScopes", scopes_, [](const ScopeEntry& s) {
    return concat("{", s.first, ", ", s.last, ", ", s.loop ? "true" : "false", ", ", quoted(s.name), "}");
  });
  text += array("char* const", "kFiles", files_, [](const std::string& name) { return quoted(name); });
  text += concat("static const ::soffit::lanes::Library kLibrary = {::soffit::lanes::kInterface, ",
                 request_.mode == Mode::checked ? "true" : "false", ", ", quoted(request_.source_name), ", kKernels, ",
                 entries_.size(), ", kConstants, ", constants_.size(), ", kTables, ", arrays_.size(), ", kSites, ",
                 sites_.size(), ", kScopes, ", scopes_.size(), ", kFiles, ", files_.size(), ", ",
                 derived_.empty() ? "nullptr" : "set_derived_constants", "};\n");
  text += "}}  // namespace metal\n";
  text += concat("extern \"C\" __attribute__((visibility(\"default\"))) const ::soffit::lanes::Library* ",
                 request_.library_symbol, "() { return &metal::kLibrary; }\n");
  return text;
}

}  // namespace soffit::lanes
