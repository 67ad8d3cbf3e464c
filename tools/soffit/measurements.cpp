#include "measurements.hpp"

#include <vector>

#include "measure/roof.hpp"

namespace soffit::tool {
namespace {

measure::Arithmetic arithmetic_of(const model::Model& model, bool exact) {
  uint64_t integer = 0, all = 0;
  for (const auto& weights : model.weights().matrices) {
    for (const MatrixDescription& part : weights->parts()) {
      const auto bytes = matrix_bytes(part);
      if (!bytes) continue;
      all += *bytes;
      if (measure::arithmetic_of(part.format, exact) == measure::Arithmetic::integer8) integer += *bytes;
    }
  }
  return 2 * integer > all ? measure::Arithmetic::integer8 : measure::Arithmetic::float32;
}

}  // namespace

Roofs measured_roofs(const model::Model& model, bool exact) {
  std::vector<const Weights*> weights;
  for (const auto& matrix : model.weights().matrices) weights.push_back(matrix.get());
  Roofs roofs;
  if (const auto read = measure::read_bandwidth(model.backend(), weights)) {
    roofs.read_gb_per_second = read->gb_per_second;
  }
  if (const auto peak = measure::peak_gflops(model.backend(), arithmetic_of(model, exact))) roofs.gflops = *peak;
  return roofs;
}

}  // namespace soffit::tool
