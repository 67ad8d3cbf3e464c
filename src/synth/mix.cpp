#include "synth/mix.hpp"

#include "convert/file_type.hpp"
#include "core/concat.hpp"
#include "core/escape.hpp"

namespace soffit::synth {
namespace {

// The layers whose errors cost most: the first and the last eighth, and every third between.
bool deserves_more_bits(int64_t layer, int64_t layers) {
  const int64_t eighth = layers / 8;
  return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}

Format q4_k_m(Format base, const Shape& shape, const TensorPlan& tensor) {
  if (tensor.role == Role::output) return Format::q6_k;
  const bool sensitive = tensor.role == Role::value || tensor.role == Role::down;
  return sensitive && deserves_more_bits(tensor.layer, shape.layers) ? Format::q6_k : base;
}

Format iq4_xs(Format base, const Shape& shape, const TensorPlan& tensor) {
  if (tensor.role == Role::output) return Format::q6_k;
  if (tensor.role == Role::value && shape.heads / shape.key_value_heads >= 4) return Format::q5_k;
  if (tensor.role == Role::down && tensor.layer < shape.layers / 8) return Format::q5_k;
  return base;
}

Format ternary(Format base, const Shape&, const TensorPlan& tensor) {
  if (tensor.role == Role::output) return Format::q6_k;
  return tensor.role == Role::embedding ? Format::q4_k : base;
}

Format ud_q4_k_xl(Format base, const Shape& shape, const TensorPlan& tensor) {
  switch (tensor.role) {
    case Role::output:
      return Format::q6_k;
    case Role::embedding:
    case Role::query:
    case Role::attention_output:
      return Format::q5_k;
    case Role::key:
    case Role::value:
      return Format::q8_0;
    case Role::down:
      return deserves_more_bits(tensor.layer, shape.layers) ? Format::q5_k : Format::iq4_xs;
    default:
      return base;
  }
}

}  // namespace

struct Mix::Named {
  std::string_view name;
  uint32_t file_type;
  Format base;
  Choose choose;
};

constexpr Mix::Named Mix::kNamed[] = {
    {"q8_0", convert::file_type(Format::q8_0), Format::q8_0, nullptr},
    {"q6_k", convert::file_type(Format::q6_k), Format::q6_k, nullptr},
    {"q4_k_m", convert::kFileTypeQ4KM, Format::q4_k, q4_k_m},
    {"ud-q4_k_xl", convert::kFileTypeQ4KM, Format::q4_k, ud_q4_k_xl},
    {"iq4_xs", convert::file_type(Format::iq4_xs), Format::iq4_xs, iq4_xs},
    {"tq1_0", convert::file_type(Format::tq1_0), Format::tq1_0, ternary},
    {"tq2_0", convert::file_type(Format::tq2_0), Format::tq2_0, ternary},
};

Result<Mix> Mix::find(std::string_view name) {
  Mix mix;
  for (const Named& named : kNamed) {
    if (named.name != name) continue;
    mix.name_ = named.name, mix.file_type_ = named.file_type, mix.base_ = named.base, mix.choose_ = named.choose;
    return mix;
  }
  const FormatInfo* format = find_format(name);
  if (!format || !format->supported) {
    return invalid_argument(concat("there is no mix '", escaped(name, 80), "'; there are ", names(),
                                   ", and every format with kernels, such as f16 or q4_0"));
  }
  mix.name_ = format->name, mix.base_ = Format(format->id), mix.file_type_ = convert::file_type(mix.base_);
  return mix;
}

std::string Mix::names() {
  std::string names;
  for (const Named& named : kNamed) names += concat(names.empty() ? "" : ", ", named.name);
  return names;
}

Format Mix::format(const Shape& shape, const TensorPlan& tensor) const {
  switch (tensor.role) {
    case Role::router:
    case Role::norm:
    case Role::rope_factors:
      return Format::f32;
    default:
      return choose_ ? choose_(base_, shape, tensor) : base_;
  }
}

}  // namespace soffit::synth
