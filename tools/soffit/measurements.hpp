// What a report of a whole model sets its figures against: the machine's measured roofs.
#pragma once

#include <optional>

#include "model/model.hpp"
#include "table.hpp"

namespace soffit::tool {

struct Roofs {
  std::optional<double> read_gb_per_second;  // plain reads of the model's weights where they lie
  std::optional<double> gflops;              // of the arithmetic that most of the weights need
};

// Takes less than a second. Empty where nothing here can measure the backend; what depends on it is null then.
Roofs measured_roofs(const model::Model& model, bool exact);

// null for what is not known.
inline Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace soffit::tool
