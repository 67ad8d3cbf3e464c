// soffit lanes linear_id and get_rows: our own kernels that go by ids. Figures are for each weight that a result is
// made of.
#include <fmt/format.h>

#include <cstring>

#include "check/blocks.hpp"
#include "command.hpp"
#include "console.hpp"
#include "core/half.hpp"
#include "lanes.hpp"
#include "metal/lane_ids.hpp"

namespace soffit::tool {
namespace {

constexpr uint64_t kExperts = 8, kUsed = 2;

struct Measured {
  lanes::Outcome outcome;
  bool right = false;
  uint64_t weights = 0;
  double memory_bytes = 0;
};

Result<Measured> product_with_experts(const metal::Variant& v, const LanesOptions& options, DataType type,
                                      uint64_t seed) {
  const metal::LinearIdShape shape{.rows = uint64_t(options.rows),
                                   .cols = uint64_t(options.cols),
                                   .tokens = uint64_t(options.n),
                                   .experts = kExperts,
                                   .used = kUsed};
  SOFFIT_TRY(const auto problem, metal::LinearIdProblem::random(v.format, shape, type, seed));
  Measured measured;
  SOFFIT_TRY(measured.outcome, problem.run(v, v.tuning, {.seed = seed, .trace_loads = !options.trace.empty()}));
  measured.right = problem.worst_result(v.terms).right();
  measured.weights = shape.slots() * shape.rows * shape.cols;
  const auto& buffers = problem.experts().buffers();
  measured.memory_bytes = double(buffers.weights.bytes() + buffers.x.bytes()) +
                          double(shape.slots() * shape.rows * uint64_t(size_of(type)));
  return measured;
}

Result<Measured> rows_of_matrix(const metal::Variant& v, const LanesOptions& options, DataType type, uint64_t seed) {
  SOFFIT_TRY(const int64_t row, row_bytes(v.format, options.cols));
  const auto rows = uint64_t(options.rows), cols = uint64_t(options.cols);
  std::vector<std::byte> bytes(rows * uint64_t(row));
  checker::Random random(seed);
  checker::fill_blocks(v.format, checker::Blocks::random, random, bytes);
  std::vector<int32_t> ids(size_t(options.n));
  for (int32_t& id : ids) id = int32_t(random.below(options.rows));
  SOFFIT_TRY(auto result, metal::run_get_rows(v, type, bytes, cols, uint64_t(row), ids, 1.0f, 0,
                                              {.seed = seed, .trace_loads = !options.trace.empty()}));
  Measured measured;
  measured.right = true;
  std::vector<float> expected(cols);
  for (size_t i = 0; i < ids.size(); ++i) {
    info(v.format).decode(bytes.data() + uint64_t(ids[i]) * uint64_t(row), expected.data(),
                          cols / info(v.format).block_elements);
    if (type == DataType::f16)
      for (float& value : expected) value = half_to_float(float_to_half(value));
    measured.right &= std::memcmp(expected.data(), &result.values[i * cols], cols * sizeof(float)) == 0;
  }
  measured.outcome = std::move(result.outcome);
  measured.weights = ids.size() * cols;
  measured.memory_bytes = double(ids.size() * (uint64_t(row) + cols * uint64_t(size_of(type))));
  return measured;
}

}  // namespace

int run_id_kernels(const LanesOptions& options) {
  const auto variants = chosen_variants(options);
  if (!variants) return fail(variants.error());
  const DataType type = options.activations == "f32" ? DataType::f32 : DataType::f16;
  const uint64_t seed = options.common.seed.value_or(1);
  std::vector<std::string> kernels;
  for (const metal::Variant* v : *variants) kernels.emplace_back(v->kernel);
  if (const std::string fault = trace_fault(options, kernels); !fault.empty()) return usage_error(fault);
  std::vector<Json> rows;
  bool faulty = false;
  for (const metal::Variant* v : *variants) {
    const bool products = v->operation == OperationKind::linear_id;
    const auto measured =
        products ? product_with_experts(*v, options, type, seed) : rows_of_matrix(*v, options, type, seed);
    if (!measured) return fail(measured.error());
    const auto about = fmt::format("{} × {} by {}, {}, {}", options.rows, options.cols, options.n, info(v->format).name,
                                   to_string(type));
    const MatrixShape shape{v->format, uint64_t(*row_bytes(v->format, options.cols)), uint64_t(options.cols),
                            products ? uint32_t(size_of(type)) : 0};
    if (const Status s = write_trace(options, v->kernel, about, shape, measured->outcome); !s) return fail(s.error());
    const bool right = measured->right && measured->outcome.fault_count == 0;
    faulty |= !right;
    Json row = {{"kernel", v->kernel},
                {"variant", v->name},
                {"format", info(v->format).name},
                {"rows", options.rows},
                {"cols", options.cols},
                {"n", options.n},
                {"activations", to_string(type)},
                {"simdgroups", products ? Json(v->tuning.simdgroups) : Json()},
                {"rows_per_simdgroup", products ? Json(v->tuning.rows) : Json()}};
    add_figures(row, metal::figures(measured->outcome.counts, measured->weights), measured->weights, products ? 1 : 0,
                measured->memory_bytes);
    row["checked"] = right;
    add_faults(row, measured->outcome.faults, measured->outcome.fault_count);
    if (!measured->right) warn(fmt::format("{}: wrong results", v->kernel));
    rows.push_back(std::move(row));
  }
  print_lanes(options.common.output, rows);
  return faulty ? kFailed : kDone;
}

}  // namespace soffit::tool
