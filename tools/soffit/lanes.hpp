// The parts of soffit lanes: our own kernels, and a user's.
#pragma once

#include <string>
#include <vector>

#include "lane_map.hpp"
#include "lanes/fault.hpp"
#include "metal/figures.hpp"
#include "metal/variants.hpp"
#include "options.hpp"
#include "table.hpp"

namespace soffit::tool {

struct LanesOptions {
  CommonOptions common;
  std::string what;  // an operation, or a file
  std::string variants, formats, activations = "f16", trace;
  int64_t rows = 64, cols = 4096, n = 1;
  bool sweep = false;
  std::string entry, arguments;  // of a file
};

// Of `rows` x `cols` weights; slots, bytes, segments and estimates as members of a row of the report.
void add_figures(Json& row, const metal::Figures& figures, uint64_t weights, uint64_t n, double memory_bytes);
void add_faults(Json& row, const std::vector<lanes::Fault>& faults, uint64_t total);
void print_lanes(Output output, const std::vector<Json>& rows);

// The kernels of an operation that the options ask for.
Result<std::vector<const metal::Variant*>> chosen_variants(const LanesOptions& options);

// Why --trace cannot draw these kernels, which are about to run; empty when it can, or is not asked for.
std::string trace_fault(const LanesOptions& options, const std::vector<std::string>& kernels);
// The picture that --trace asks for, if it does.
Status write_trace(const LanesOptions& options, std::string_view kernel, const std::string& about,
                   const MatrixShape& shape, const lanes::Outcome& outcome);

int run_own_kernels(const LanesOptions& options);
int run_id_kernels(const LanesOptions& options);  // linear_id and get_rows
int run_kernel_file(const LanesOptions& options);

}  // namespace soffit::tool
