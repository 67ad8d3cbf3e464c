// The cases of the suite, for one format: the shapes, values and options that kernels have failed at in the field.
#pragma once

#include <vector>

#include "check/linear_case.hpp"
#include "check/rows_case.hpp"
#include "check/shard_case.hpp"

namespace soffit::checker {

// `quick`: a few of each kind, in well under a second.
std::vector<LinearCase> linear_cases(Format format, bool quick);
std::vector<LinearCase> linear_id_cases(Format format, bool quick);
std::vector<RowsCase> rows_cases(Format format, bool quick);
std::vector<ShardCase> shard_cases(Format format, bool experts, bool quick);

}  // namespace soffit::checker
