#include "convert/target.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "core/concat.hpp"
#include "core/escape.hpp"

namespace soffit::convert {
namespace {

bool has_rows(const gguf::Tensor& tensor) {
  return tensor.dimension(1) * tensor.dimension(2) * tensor.dimension(3) > 1;
}

bool is_converted(const gguf::Tensor& tensor) {
  const auto contains = [&](std::string_view part) { return tensor.name.find(part) != std::string_view::npos; };
  return has_rows(tensor) && tensor.name.ends_with(".weight") && !contains("_norm.") && !contains("ffn_gate_inp") &&
         !contains("conv1d");
}

std::string shown(std::string_view text) { return concat("'", escaped(text, 80), "'"); }

Status check_decoder(const gguf::Tensor& tensor, Format format) {
  if (tensor.format->supported) return {};
  return unsupported(concat("tensor ", shown(tensor.name), " is in ", tensor.format->name,
                            ", which cannot be decoded here, so it cannot become ", info(format).name));
}

}  // namespace

Format format_that_fits(Format wanted, int64_t cols) {
  const auto fits = [&](Format format) { return cols % info(format).block_elements == 0; };
  if (fits(wanted)) return wanted;
  Format format = Format::f16;
  switch (wanted) {
    case Format::q2_k:
    case Format::q3_k:
    case Format::tq1_0:
    case Format::tq2_0:
      format = Format::q4_0;
      break;
    case Format::q4_k:
      format = Format::q5_0;
      break;
    case Format::q5_k:
      format = Format::q5_1;
      break;
    case Format::q6_k:
      format = Format::q8_0;
      break;
    case Format::iq4_xs:
      format = Format::iq4_nl;
      break;
    default:
      break;
  }
  return fits(format) ? format : Format::f16;
}

Result<std::vector<Target>> choose_targets(const gguf::File& file, Format format, std::span<const Override> overrides) {
  std::vector<bool> matched(overrides.size());
  std::vector<Target> targets;
  for (const gguf::Tensor& tensor : file.tensors()) {
    std::optional<Format> wanted;
    if (is_converted(tensor)) wanted = format;
    for (size_t i = 0; i < overrides.size() && has_rows(tensor); ++i) {
      if (fnmatch(overrides[i].pattern.c_str(), std::string(tensor.name).c_str(), 0) != 0) continue;
      matched[i] = true;
      wanted = overrides[i].format;
    }
    Target target{tensor.format, {}};
    if (wanted) {
      SOFFIT_CHECK(check_decoder(tensor, *wanted));
      const Format fitting = format_that_fits(*wanted, tensor.dimension(0));
      target.format = &info(fitting);
      if (fitting != *wanted) target.wanted = wanted;
    }
    targets.push_back(target);
  }
  for (size_t i = 0; i < overrides.size(); ++i) {
    if (!matched[i]) {
      return invalid_argument(concat("the pattern ", shown(overrides[i].pattern), " matches none of the ",
                                     std::ranges::count_if(file.tensors(), has_rows), " matrices among ",
                                     file.tensors().size(), " tensors"));
    }
  }
  return targets;
}

}  // namespace soffit::convert
