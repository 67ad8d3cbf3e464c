// One operation to be measured.
#pragma once

#include "soffit/backend.hpp"
#include "soffit/operation.hpp"

namespace soffit::measure {

struct KernelCase {
  OperationKind operation = OperationKind::linear;  // linear, linear_id, get_rows
  MatrixDescription matrix;                         // experts: of linear_id
  int64_t n = 1;                                    // tokens; rows taken by get_rows
  int64_t used = 1;                                 // experts of a token
  DataType activations = DataType::f32;             // or f16

  int64_t result_rows() const { return operation == OperationKind::linear_id ? n * used : n; }
  int64_t result_cols() const { return operation == OperationKind::get_rows ? matrix.cols : matrix.rows; }
};

}  // namespace soffit::measure
