#include "lanes/names.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace soffit::lanes {
namespace {

template <size_t n>
bool among(const std::array<std::string_view, n>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

const std::set<std::string, std::less<>>& type_names() {
  static const std::set<std::string, std::less<>> kNames = [] {
    std::set<std::string, std::less<>> names = {"half",
                                                "bfloat",
                                                "uchar",
                                                "ushort",
                                                "uint",
                                                "ulong",
                                                "int8_t",
                                                "uint8_t",
                                                "int16_t",
                                                "uint16_t",
                                                "int32_t",
                                                "uint32_t",
                                                "int64_t",
                                                "uint64_t",
                                                "size_t",
                                                "ptrdiff_t",
                                                "uintptr_t",
                                                "simdgroup_float8x8",
                                                "simdgroup_half8x8",
                                                "simdgroup_bfloat8x8",
                                                "simd_vote"};
    for (const std::string element :
         {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "half", "bfloat"}) {
      for (const std::string n : {"2", "3", "4"}) {
        names.insert(element + n);
        names.insert("packed_" + element + n);
      }
    }
    for (const std::string element : {"float", "half", "bfloat"}) {
      for (const char* shape : {"2x2", "2x3", "2x4", "3x2", "3x3", "3x4", "4x2", "4x3", "4x4"})
        names.insert(element + shape);
    }
    return names;
  }();
  return kNames;
}

struct Refusal {
  std::string_view name, reason;
};
// Prefixes, the longer before the shorter.
constexpr Refusal kRefusals[] = {
    {"texture", "textures are not known here"},
    {"depth2d", "textures are not known here"},
    {"sampler", "samplers are not known here"},
    {"atomic", "atomics are not known here"},
    {"intersect", "ray tracing is not known here"},
    {"ray_data", "ray tracing is not known here"},
    {"imageblock", "image blocks are not known here"},
    {"visible_function_table", "function tables are not known here"},
    {"simdgroup_async_copy", "asynchronous copies are not known here"},
    {"os_log", "logging is not known here"},
};
constexpr Refusal kRefusedWords[] = {
    {"double", "Metal has no double"},
    {"goto", "Metal has no goto"},
    {"try", "Metal has no exceptions"},
    {"catch", "Metal has no exceptions"},
    {"throw", "Metal has no exceptions"},
    {"new", "Metal has no new"},
    {"delete", "Metal has no delete"},
    {"virtual", "Metal has no virtual functions"},
    {"dynamic_cast", "Metal has no dynamic_cast"},
    {"typeid", "Metal has no typeid"},
    {"asm", "no assembler in Metal"},
    {"register", "Metal has no register"},
    {"thread_local", "Metal has no thread_local"},
    {"std", "Metal has no std"},
    {"mpp", "tensor operations are not known here"},
    {"tensor", "tensors are not known here"},
    {"tensor_ops", "tensor operations are not known here"},
};

}  // namespace

bool is_address_space(std::string_view name) {
  return among(std::array<std::string_view, 4>{"device", "constant", "threadgroup", "thread"}, name);
}

bool is_type_word(std::string_view name) {
  return among(std::array<std::string_view, 8>{"bool", "char", "short", "int", "long", "float", "signed", "unsigned"},
               name);
}

bool is_type_name(std::string_view name) { return type_names().contains(name); }

bool is_type_template(std::string_view name) {
  return among(std::array<std::string_view, 9>{"vec", "matrix", "packed_vec", "simdgroup_matrix", "numeric_limits",
                                               "conditional_t", "enable_if_t", "integral_constant", "is_same"},
               name);
}

bool is_function_template(std::string_view name) {
  return among(std::array<std::string_view, 7>{"static_cast", "reinterpret_cast", "const_cast", "as_type",
                                               "make_filled_simdgroup_matrix", "is_same_v", "template"},
               name);
}

bool is_library_function(std::string_view name) {
  static constexpr std::string_view kNames[] = {
#define SOFFIT_METAL_FUNCTION(f) #f,
#include "lanes/shim/functions.inc"
#undef SOFFIT_METAL_FUNCTION
  };
  return std::ranges::binary_search(kNames, name);
}

std::optional<std::string_view> refusal(std::string_view name) {
  for (const Refusal& refused : kRefusedWords) {
    if (refused.name == name) return refused.reason;
  }
  for (const Refusal& refused : kRefusals) {
    if (name.starts_with(refused.name)) return refused.reason;
  }
  return std::nullopt;
}

std::string swizzle_indices(std::string_view name) {
  if (name.size() < 2 || name.size() > 4) return {};
  for (const std::string_view letters : {"xyzw", "rgba"}) {
    std::string indices;
    for (const char c : name) {
      const size_t at = letters.find(c);
      if (at == std::string_view::npos) break;
      indices += (indices.empty() ? "" : ", ") + std::to_string(at);
    }
    if (indices.size() == 3 * name.size() - 2) return indices;
  }
  return {};
}

}  // namespace soffit::lanes
