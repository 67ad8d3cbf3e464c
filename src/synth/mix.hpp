// Which format each matrix of a synthetic model has. Named mixes follow llama.cpp's quantiser without an importance
// matrix; ud-q4_k_xl is after the "dynamic" files of Unsloth. The name of a format is a mix as well: everything in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "soffit/format.hpp"
#include "soffit/status.hpp"
#include "synth/tensors.hpp"

namespace soffit::synth {

class Mix {
 public:
  static Result<Mix> find(std::string_view name);  // the error lists the names
  static std::string names();                      // of those that are no plain formats

  // Routers, norms and RoPE factors are f32 in every mix.
  Format format(const Shape& shape, const TensorPlan& tensor) const;
  std::string_view name() const { return name_; }
  uint32_t file_type() const { return file_type_; }

 private:
  using Choose = Format (*)(Format base, const Shape& shape, const TensorPlan& tensor);
  struct Named;
  static const Named kNamed[];

  std::string_view name_;
  uint32_t file_type_ = 0;
  Format base_ = Format::f16;
  Choose choose_ = nullptr;  // null: base_ for all
};

}  // namespace soffit::synth
