// linear, linear_id, get_rows and prepare: sharing out rows of weights and finishing results.
#include <algorithm>
#include <cstring>

#include "core/half.hpp"
#include "cpu/plan.hpp"
#include "cpu/prepared.hpp"
#include "cpu/views.hpp"
#include "cpu/weights.hpp"

namespace soffit::cpu {
namespace {

// Up to this many tokens a product streams weights once and is bound by memory: members take one contiguous band each,
// so that the prefetches of one never fetch what another reads. Beyond it they take chunks as they get done.
constexpr int64_t kStreamedTokens = 16;
constexpr int64_t kStreamedChunk = 128, kChunk = 128;  // rows whose results are finished together
constexpr uint64_t kAlign = 64;

constexpr uint64_t aligned(uint64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

// A product W x of some rows of one expert of one part, without epilogue.
struct Product {
  const CpuWeights::Part* part;
  const VectorKernels* kernels;
  bool exact;
  const CpuActivations* x;
  int64_t x_rows;

  static uint64_t scratch(const CpuWeights::Part& part) {
    return kLinearScratch + aligned(uint64_t(16 * part.row_bytes));
  }

  // Rows [first, first + rows), first a multiple of 16; results at y + row - first.
  void run(int64_t expert, int64_t first, int64_t rows, int64_t n, const int32_t* x_index, const int32_t* y_index,
           float* y, int64_t y_stride, uint8_t* scratch) const {
    const LinearKernel& kernel = part->kernel;
    LinearJob job;
    job.cols = part->matrix.cols;
    job.x = x->data(form_of(kernel, exact));
    job.x_rows = x_rows;
    job.x_index = x_index;
    job.y_index = y_index;
    job.y_stride = y_stride;
    job.n = n;
    job.scratch = scratch;
    const auto call = [&](const uint8_t* weights, int64_t row_bytes, int64_t row, int64_t count) {
      job.weights = weights;
      job.row_bytes = row_bytes;
      job.rows = count;
      job.y = y + (row - first);
      (exact ? kernel.run_exact : kernel.run)(job);
    };
    const TilePacking& packing = part->packing;
    if (packing.columns == 0) return call(part->rows_at(expert, first), part->row_stride, first, rows);
    for (int64_t row = first, end = first + rows; row < end;) {
      int64_t stop = row;
      while (stop < end && part->packed(expert, stop)) stop += 16;
      if (stop > row) {
        call(part->rows_at(expert, row), 16 * part->row_bytes, row, std::min(stop, end) - row);
        row = stop;
        continue;
      }
      // Rows as in the file: their tiles are made here, missing rows are zeros that are computed and not stored.
      uint8_t* tiles = scratch + kLinearScratch;
      const auto count = std::min<int64_t>(16, end - row);
      const uint8_t* from = part->rows_at(expert, row);
      for (int64_t b = 0; b < part->matrix.cols / packing.columns; ++b)
        packing.pack(from + b * packing.block_bytes, part->row_stride, int(count), tiles + b * packing.bytes);
      call(tiles, 16 * part->row_bytes, row, count);
      row += 16;
    }
  }
};

// What happens to the results of a chunk of rows; see Epilogue.
struct Finish {
  const VectorKernels* kernels;
  Epilogue epilogue;
  ArrayView y;
  int64_t gated_rows = 0;  // rows of each of the two parts

  // Results may be written to y at once.
  bool direct() const {
    return epilogue.scale == 1.0f && epilogue.bias.empty() && epilogue.gate == Activation::none &&
           epilogue.residual.empty() && y.type == DataType::f32;
  }
  // v: `rows` results from row `first` of y on (gated: v of the gate part, `up` of the other), for row `i` of y.
  void operator()(float* v, float* up, int64_t first, int64_t rows, int64_t i) const {
    if (epilogue.scale != 1.0f) {
      kernels->scale(v, epilogue.scale, v, rows);
      if (up) kernels->scale(up, epilogue.scale, up, rows);
    }
    if (!epilogue.bias.empty()) {
      const float* bias = row_of<float>(epilogue.bias, 0);
      kernels->add(v, bias + first, v, rows);
      if (up) kernels->add(up, bias + gated_rows + first, up, rows);
    }
    if (up) kernels->gate(epilogue.gate, v, up, v, rows);
    if (!epilogue.residual.empty()) kernels->add(v, row_of<float>(epilogue.residual, i) + first, v, rows);
    store_row(*kernels, v, y, i, first, rows);
  }
};

struct LinearStep {
  const CpuWeights* weights;
  std::vector<Product> products;
  Finish finish;
  int64_t n;

  int64_t chunk_rows() const { return n <= kStreamedTokens ? kStreamedChunk : kChunk; }
  uint64_t product_scratch() const {
    uint64_t most = 0;
    for (const auto& p : products) most = std::max(most, Product::scratch(*p.part));
    return most;
  }
  // Results of one chunk for `tokens` tokens, of one or two parts.
  uint64_t scratch(int64_t tokens) const {
    return product_scratch() + uint64_t(2 * tokens * chunk_rows()) * sizeof(float);
  }

  // Whether the activations hold the rows that are read; else the run fails.
  bool prepared(Member& m) const {
    const Product& p = products.front();
    if (p.x_rows == 0 || p.x->rows() == p.x_rows) return true;
    m.plan.fail(invalid_argument("activations prepared for " + std::to_string(p.x->rows()) + " rows are read as " +
                                 std::to_string(p.x_rows)));
    return false;
  }

  // Rows [first, first + rows) of part p (gated: of both) for `count` tokens.
  void chunk(size_t p, int64_t expert, int64_t first, int64_t rows, int64_t count, const int32_t* x_index,
             const int32_t* y_index, uint8_t* scratch) const {
    int64_t offset = 0;
    for (size_t i = 0; i < p; ++i) offset += products[i].part->matrix.rows;
    if (finish.direct()) {
      products[p].run(expert, first, rows, count, x_index, y_index, row_of<float>(finish.y, 0) + offset + first,
                      finish.y.row_stride, scratch);
      return;
    }
    auto* v = reinterpret_cast<float*>(scratch + product_scratch());
    const bool gated = finish.epilogue.gate != Activation::none;
    float* up = gated ? v + count * rows : nullptr;
    products[p].run(expert, first, rows, count, x_index, nullptr, v, rows, scratch);
    if (gated) products[p + 1].run(expert, first, rows, count, x_index, nullptr, up, rows, scratch);
    for (int64_t i = 0; i < count; ++i)
      finish(v + i * rows, gated ? up + i * rows : nullptr, offset + first, rows, y_index ? y_index[i] : i);
  }
};

Result<LinearStep> bind(const StepContext& context, const Weights* w, const Activations* x, int64_t x_rows,
                        const ArrayView& y, const Epilogue& e) {
  LinearStep step;
  step.weights = dynamic_cast<const CpuWeights*>(w);
  const auto* activations = dynamic_cast<const CpuActivations*>(x);
  if (!step.weights || !activations) return invalid_argument("weights or activations of another backend");
  if (!step.weights->finished()) return invalid_argument("weights before finish()");
  for (size_t i = 0; i < step.weights->part_count(); ++i) {
    const auto& part = step.weights->part(i);
    const auto form = form_of(part.kernel, context.exact);
    if (!activations->has(form))
      return invalid_argument("activations were made without these weights among their readers");
    step.products.push_back({&part, &context.kernels, context.exact, activations, x_rows});
  }
  step.finish = {&context.kernels, e, y, step.weights->part(0).matrix.rows};
  step.n = y.rows;
  return step;
}

}  // namespace

Result<Step> make_linear(const StepContext& context, const Linear& o) {
  SOFFIT_TRY(LinearStep linear, bind(context, o.weights, o.x, o.y.rows, o.y, o.epilogue));
  Step step;
  step.scratch = linear.scratch(linear.n);
  step.run = [s = std::move(linear)](Member& m) {
    if (!s.prepared(m)) return;
    const size_t parts = s.finish.epilogue.gate != Activation::none ? 1 : s.products.size();
    const int64_t size = s.chunk_rows();
    if (s.n <= kStreamedTokens) {
      for (size_t p = 0; p < parts; ++p) {
        const int64_t rows = s.products[p].part->matrix.rows;
        const auto [begin, end] = m.share((rows + 15) / 16);
        for (int64_t r = begin * 16, stop = std::min(rows, end * 16); r < stop; r += size)
          s.chunk(p, 0, r, std::min(size, stop - r), s.n, nullptr, nullptr, m.scratch);
      }
      return;
    }
    int64_t chunks = 0;
    for (size_t p = 0; p < parts; ++p) chunks += (s.products[p].part->matrix.rows + size - 1) / size;
    for (int64_t c; (c = m.next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
      size_t p = 0;
      for (int64_t of_part; c >= (of_part = (s.products[p].part->matrix.rows + size - 1) / size); ++p) c -= of_part;
      const int64_t rows = s.products[p].part->matrix.rows;
      s.chunk(p, 0, c * size, std::min(size, rows - c * size), s.n, nullptr, nullptr, m.scratch);
    }
  };
  return step;
}

namespace {

// The slots of each expert, in order: every member sorts for itself, which is quicker than waiting for one that does.
struct Sorted {
  int32_t *begin, *x_row, *y_row;  // begin: experts + 1
  static uint64_t bytes(int64_t experts, int64_t slots) {
    return aligned(uint64_t(experts + 1 + 2 * slots) * sizeof(int32_t));
  }

  // The position of the first id out of range, or -1.
  int64_t sort(const ArrayView& ids, bool per_slot, int64_t experts, void* memory) {
    begin = static_cast<int32_t*>(memory);
    x_row = begin + experts + 1;
    y_row = x_row + ids.rows * ids.cols;
    std::fill(begin, begin + experts + 1, 0);
    for (int64_t i = 0; i < ids.rows; ++i)
      for (int64_t j = 0; j < ids.cols; ++j) {
        const int32_t id = row_of<int32_t>(ids, i)[j];
        if (id < 0 || id >= experts) return i * ids.cols + j;
        ++begin[id + 1];
      }
    for (int64_t e = 0; e < experts; ++e) begin[e + 1] += begin[e];
    for (int64_t i = 0; i < ids.rows; ++i)
      for (int64_t j = 0; j < ids.cols; ++j) {
        const int32_t at = begin[row_of<int32_t>(ids, i)[j]]++;
        y_row[at] = int32_t(i * ids.cols + j);
        x_row[at] = per_slot ? y_row[at] : int32_t(i);
      }
    for (int64_t e = experts; e > 0; --e) begin[e] = begin[e - 1];
    begin[0] = 0;
    return -1;
  }
};

}  // namespace

Result<Step> make_linear_id(const StepContext& context, const LinearId& o) {
  SOFFIT_TRY(LinearStep linear, bind(context, o.weights, o.x, o.per_slot ? o.y.rows : o.ids.rows, o.y, o.epilogue));
  const int64_t experts = o.weights->experts(), slots = o.y.rows;
  if (slots > INT32_MAX) return invalid_argument("linear_id: " + std::to_string(slots) + " slots");
  const int64_t most = std::min(slots, kPanelTokens);
  Step step;
  const uint64_t lists = Sorted::bytes(experts, slots);
  step.scratch = lists + linear.scratch(most);
  step.run = [s = std::move(linear), o, experts, slots, most, lists](Member& m) {
    if (!s.prepared(m)) return;
    Sorted sorted{};
    if (const int64_t bad = sorted.sort(o.ids, o.per_slot, experts, m.scratch); bad >= 0) {
      const int32_t id = row_of<int32_t>(o.ids, bad / o.ids.cols)[bad % o.ids.cols];
      return m.plan.fail(invalid_argument("linear_id: expert " + std::to_string(id) + " of " + std::to_string(experts) +
                                          " at token " + std::to_string(bad / o.ids.cols) + ", slot " +
                                          std::to_string(bad % o.ids.cols)));
    }
    const size_t parts = s.finish.epilogue.gate != Activation::none ? 1 : s.products.size();
    const int64_t size = s.chunk_rows();
    const bool streamed = slots <= kStreamedTokens;
    int64_t unit = 0, claimed = -1;
    for (int64_t e = 0; e < experts; ++e) {
      const int32_t first = sorted.begin[e], last = sorted.begin[e + 1];
      if (first == last) continue;
      for (size_t p = 0; p < parts; ++p) {
        const int64_t rows = s.products[p].part->matrix.rows;
        const auto [begin, end] =
            streamed ? m.share((rows + 15) / 16) : std::pair<int64_t, int64_t>{0, (rows + 15) / 16};
        for (int64_t r = begin * 16, stop = std::min(rows, end * 16); r < stop; r += size, ++unit) {
          if (!streamed) {
            if (claimed < unit) claimed = m.next.fetch_add(1, std::memory_order_relaxed);
            if (claimed != unit) continue;
          }
          for (int64_t t = first; t < last; t += most)
            s.chunk(p, e, r, std::min(size, stop - r), std::min<int64_t>(most, last - t), sorted.x_row + t,
                    sorted.y_row + t, m.scratch + lists);
        }
      }
    }
  };
  return step;
}

Result<Step> make_get_rows(const StepContext& context, const GetRows& o) {
  const auto* weights = dynamic_cast<const CpuWeights*>(o.weights);
  if (!weights || !weights->finished())
    return invalid_argument("get_rows: weights of another backend, or before finish()");
  const auto& part = weights->part(0);
  Step step;
  const uint64_t raw = aligned(uint64_t(part.row_bytes));
  step.scratch = raw + uint64_t(part.matrix.cols) * sizeof(float);
  step.run = [o, weights, raw, kernels = &context.kernels](Member& m) {
    const auto& p = weights->part(0);
    const auto& format = info(p.matrix.format);
    const int64_t cols = p.matrix.cols;
    const auto [begin, end] = m.share(o.y.rows);
    for (int64_t i = begin; i < end; ++i) {
      const int32_t id = row_of<int32_t>(o.ids, 0)[i];
      if (id < 0 || id >= p.matrix.rows)
        return m.plan.fail(
            invalid_argument("get_rows: row " + std::to_string(id) + " of " + std::to_string(p.matrix.rows)));
      auto* values = reinterpret_cast<float*>(m.scratch + raw);
      weights->copy_row(p, 0, id, m.scratch);
      format.decode(reinterpret_cast<const std::byte*>(m.scratch), values, size_t(cols / format.block_elements));
      if (o.scale != 1.0f) kernels->scale(values, o.scale, values, cols);
      store_row(*kernels, values, o.y, i, 0, cols);
    }
  };
  return step;
}

Result<Step> make_prepare(const StepContext& context, const Prepare& o) {
  const auto* to = dynamic_cast<const CpuActivations*>(o.to);
  if (!to) return invalid_argument("prepare: activations of another backend");
  Step step;
  step.scratch = kBlockColumns * sizeof(float);
  step.run = [o, to, kernels = &context.kernels](Member& m) {
    const int64_t blocks = to->blocks();
    const auto [begin, end] = m.share(o.x.rows * blocks);
    for (int64_t u = begin; u < end; ++u) {
      const int64_t row = u / blocks, first = u % blocks * kBlockColumns,
                    count = std::min(kBlockColumns, o.x.cols - first);
      to->prepare(*kernels, load_row(o.x, row, first, count, reinterpret_cast<float*>(m.scratch)), first, count, row,
                  o.x.rows);
    }
  };
  return step;
}

}  // namespace soffit::cpu
