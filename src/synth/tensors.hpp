// The tensors of a model: names, shapes, and what each is for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synth/shape.hpp"

namespace soffit::synth {

enum class Role : uint8_t {
  embedding,
  output,  // a tied embedding too: the output decides its format, as in llama.cpp's quantiser
  query,
  key,
  value,
  attention_output,
  gate,
  up,
  down,
  router,        // f32
  norm,          // f32, one row
  rope_factors,  // f32, one row
};

struct TensorPlan {
  std::string name;
  Role role = Role::norm;
  int64_t layer = -1;          // -1: of the whole model
  std::vector<int64_t> shape;  // ne0 first
};

// In the order of the file.
std::vector<TensorPlan> plan_tensors(const Shape& shape);

}  // namespace soffit::synth
