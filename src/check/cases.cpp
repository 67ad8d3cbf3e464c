#include "check/cases.hpp"

#include <algorithm>

namespace soffit::checker {
namespace {

using Sizes = std::vector<int64_t>;

// Columns: one block, odd numbers of blocks, no multiples of what kernels unroll, real models' sizes.
Sizes all_cols(Format format, bool quick) {
  switch (info(format).block_elements) {
    case 1:
      if (quick) return {1, 17, 33, 256, 288};
      return {1, 2, 3, 15, 16, 17, 31, 32, 33, 64, 96, 100, 160, 255, 256, 257, 288, 544, 576, 1536, 10944};
    case 32:
      if (quick) return {32, 96, 288, 576};
      return {32, 64, 96, 160, 288, 544, 576, 1536, 10944};
    default:
      if (quick) return {256, 768};
      return {256, 512, 768, 1280, 2304, 11008};
  }
}
Sizes few_cols(Format format) {
  const auto block = int64_t(info(format).block_elements);
  return block == 1 ? Sizes{1, 33, 288} : block == 32 ? Sizes{32, 96, 288} : Sizes{256, 768};
}
int64_t some_cols(Format format) { return few_cols(format)[1]; }

Sizes range(int64_t first, int64_t last) {
  Sizes sizes;
  for (int64_t i = first; i <= last; ++i) sizes.push_back(i);
  return sizes;
}

constexpr Layout kLayouts[] = {Layout::automatic, Layout::file};
constexpr Values kValues[] = {Values::normal,    Values::midpoints, Values::losses,   Values::last_block,
                              Values::one_block, Values::one_hot,   Values::constant, Values::spike};

// Collects cases that differ from a base in a few members.
class Cases {
 public:
  Cases(Format format, int64_t rows) { base_.parts = {{format, rows}}, base_.cols = some_cols(format); }
  template <class Change>
  void add(Change change) {
    LinearCase c = base_;
    change(c);
    c.seed = 1000 + uint64_t(list_.size());
    list_.push_back(std::move(c));
  }
  std::vector<LinearCase> take() { return std::move(list_); }

 private:
  LinearCase base_;
  std::vector<LinearCase> list_;
};

void add_rows(Cases& cases, Format format, bool quick) {
  const Sizes few = quick ? Sizes{1, 7, 16, 24, 33} : range(1, 40);
  for (int64_t rows : few)
    for (Layout layout : kLayouts)
      for (int64_t cols : few_cols(format))
        cases.add([&](LinearCase& c) { c.parts[0].rows = rows, c.layout = layout, c.cols = cols, c.n = rows % 3 + 1; });
  if (quick) return;
  for (int64_t rows : {63, 64, 65, 96, 127, 128, 129, 136, 144, 200, 257})
    for (int64_t n : {1, 9, 17}) cases.add([&](LinearCase& c) { c.parts[0].rows = rows, c.n = n; });
}

void add_cols(Cases& cases, Format format, bool quick) {
  for (int64_t cols : all_cols(format, quick))
    for (Layout layout : kLayouts)
      for (int64_t n : {1, 5, 18})
        cases.add([&](LinearCase& c) {
          c.parts[0].rows = 24, c.cols = cols, c.layout = layout, c.n = n;
          // The longer the sum, the more could hide in its bound.
          if (cols > 1000) c.values = n == 1 ? Values::last_block : Values::one_block;
        });
}

void add_columns(Cases& cases, Format format, bool quick) {
  Sizes sizes = quick ? Sizes{2, 4, 8, 9, 16, 33} : range(2, 20);
  if (!quick) sizes.insert(sizes.end(), {31, 32, 33, 63, 64, 65, 129, 513, 577});
  for (int64_t n : sizes)
    cases.add([&](LinearCase& c) { c.parts[0].rows = 40, c.n = n, c.cols = few_cols(format).back(); });
}

void add_values(Cases& cases, Format format, bool quick) {
  for (Values values : kValues)
    for (int64_t n : quick ? Sizes{2} : Sizes{1, 4, 17, 40})
      for (int64_t cols : few_cols(format))
        cases.add([&](LinearCase& c) { c.values = values, c.n = n, c.cols = cols; });
  for (Blocks blocks : {Blocks::any_bytes, Blocks::zeros, Blocks::ones})
    for (Values values : {Values::normal, Values::constant})
      for (int64_t n : quick ? Sizes{3} : Sizes{1, 8, 33})
        cases.add([&](LinearCase& c) { c.blocks = blocks, c.values = values, c.n = n; });
}

void add_types(Cases& cases, bool quick) {
  for (DataType x : {DataType::f32, DataType::f16, DataType::bf16})
    for (DataType y : {DataType::f32, DataType::f16, DataType::bf16})
      for (int64_t n : quick ? Sizes{3} : Sizes{1, 6, 33})
        cases.add([&](LinearCase& c) { c.x_type = x, c.y_type = y, c.n = n, c.x_gap = n % 4, c.y_gap = 2 * n % 9; });
}

void add_epilogues(Cases& cases, bool quick) {
  for (int64_t n : quick ? Sizes{2} : Sizes{1, 7, 33}) {
    const auto both = [&](LinearCase& c) { c.parts.push_back(c.parts[0]), c.n = n; };
    cases.add([&](LinearCase& c) { c.scale = -0.37f, c.n = n; });
    cases.add([&](LinearCase& c) { c.bias = true, c.n = n; });
    cases.add([&](LinearCase& c) { c.residual = Residual::separate, c.n = n, c.y_type = DataType::bf16; });
    cases.add([&](LinearCase& c) { c.residual = Residual::in_place, c.n = n, c.y_gap = 5; });
    cases.add([&](LinearCase& c) {
      c.scale = 0.5f, c.bias = true, c.residual = Residual::in_place, c.n = n, c.layout = Layout::file;
    });
    for (Activation gate : {Activation::silu, Activation::gelu_tanh}) {
      cases.add([&](LinearCase& c) { both(c), c.gate = gate; });
      cases.add([&](LinearCase& c) { both(c), c.gate = gate, c.y_type = DataType::f16, c.layout = Layout::file; });
      cases.add([&](LinearCase& c) {
        both(c), c.gate = gate, c.bias = true, c.scale = 1.5f, c.residual = Residual::separate;
      });
    }
  }
}

void add_parts(Cases& cases, Format format, bool quick) {
  for (int64_t n : quick ? Sizes{2} : Sizes{1, 9, 20})
    for (Format other : {Format::q8_0, Format::q6_k, Format::f16})
      cases.add([&](LinearCase& c) {
        c.cols = 512, c.n = n;
        c.parts = {{format, 20}, {other, 7}, {format, 33}};
        c.bias = other == Format::f16, c.layout = other == Format::q6_k ? Layout::file : Layout::automatic;
      });
}

}  // namespace

std::vector<LinearCase> linear_cases(Format format, bool quick) {
  Cases cases(format, 17);
  add_rows(cases, format, quick);
  add_cols(cases, format, quick);
  add_columns(cases, format, quick);
  add_values(cases, format, quick);
  add_types(cases, quick);
  add_epilogues(cases, quick);
  add_parts(cases, format, quick);
  return cases.take();
}

std::vector<LinearCase> linear_id_cases(Format format, bool quick) {
  Cases cases(format, 17);
  const auto mixture = [&](int64_t experts, int64_t used, int64_t n, auto&& change) {
    cases.add([&](LinearCase& c) {
      c.experts = experts, c.used = used, c.n = n;
      c.cols = few_cols(format)[0];
      change(c);
    });
  };
  const auto nothing = [](LinearCase&) {};
  for (int64_t experts : quick ? Sizes{1, 33} : Sizes{1, 31, 32, 33, 64, 65, 128, 256, 512}) {
    Sizes used = quick ? Sizes{1, 4} : range(1, 8);
    used.push_back(experts);
    for (int64_t u : used)
      if (u <= experts) mixture(experts, u, quick ? 2 : 1 + u % 3, nothing);
  }
  for (int64_t n : quick ? Sizes{3} : Sizes{1, 5, 20, 65})
    for (Ids ids : {Ids::random, Ids::repeated, Ids::same})
      for (bool per_slot : {false, true})
        mixture(8, 4, n, [&](LinearCase& c) {
          c.ids = ids, c.per_slot = per_slot, c.cols = some_cols(format);
          c.layout = per_slot ? Layout::file : Layout::automatic;
        });
  for (Values values : kValues) mixture(4, 2, 4, [&](LinearCase& c) { c.values = values; });
  for (int64_t n : quick ? Sizes{3} : Sizes{2, 30}) {
    mixture(5, 2, n, [&](LinearCase& c) { c.parts.push_back(c.parts[0]), c.gate = Activation::silu; });
    mixture(5, 2, n, [&](LinearCase& c) { c.scale = 0.5f, c.residual = Residual::separate, c.y_gap = 4; });
    mixture(5, 3, n, [&](LinearCase& c) {
      c.parts = {{format, 20}, {Format::q8_0, 7}}, c.cols = 512, c.bias = true, c.y_type = DataType::f16;
    });
  }
  for (DataType x : {DataType::f32, DataType::f16, DataType::bf16})
    for (DataType y : {DataType::f32, DataType::f16, DataType::bf16})
      mixture(4, 2, 3, [&](LinearCase& c) { c.x_type = x, c.y_type = y, c.x_gap = 1, c.y_gap = 3; });
  // More slots of one expert than a kernel takes at once.
  if (!quick) mixture(3, 2, 300, [&](LinearCase& c) { c.ids = Ids::same; });
  return cases.take();
}

std::vector<ShardCase> shard_cases(Format format, bool experts, bool quick) {
  std::vector<ShardCase> list;
  const auto block = int64_t(info(format).block_elements);
  // Columns of plain formats are cut where they are not aligned to more than an element.
  const int64_t cols = block == 1 ? 100 : block == 32 ? 288 : 768, column = block == 1 ? 37 : block == 32 ? 96 : 256;
  const auto add = [&](Cut cut, int64_t at, int64_t n, Layout layout) {
    list.push_back({format, 40, cols, n, experts ? 5 : 0, cut, at, layout, 7000 + uint64_t(list.size())});
  };
  for (Layout layout : kLayouts)
    for (int64_t n : quick ? Sizes{3} : Sizes{1, 4, 18}) {
      for (int64_t at : {7, 16}) add(Cut::rows, at, n, layout);
      for (int64_t at : {column, cols - column}) add(Cut::columns, at, n, layout);
      // A piece gives rows of other experts to its first. Beyond 16 rows of an expert their number may change the order
      // of a sum, and with it the bits.
      if (experts) add(Cut::experts, 2, std::min<int64_t>(n, 16), layout);
    }
  return list;
}

std::vector<RowsCase> rows_cases(Format format, bool quick) {
  std::vector<RowsCase> list;
  const auto add = [&](RowsCase c) {
    c.format = format;
    c.seed = 5000 + uint64_t(list.size());
    list.push_back(c);
  };
  for (int64_t cols : all_cols(format, quick))
    for (Layout layout : kLayouts)
      for (int64_t rows : quick ? Sizes{17} : Sizes{1, 16, 17, 40}) {
        RowsCase c;
        c.rows = rows, c.cols = cols, c.layout = layout, c.n = 1 + cols % 7, c.y_gap = rows % 5;
        add(c);
      }
  for (DataType type : {DataType::f32, DataType::f16, DataType::bf16})
    for (float scale : {1.0f, 16.97056f})
      for (Blocks blocks : {Blocks::random, Blocks::any_bytes, Blocks::ones}) {
        RowsCase c;
        c.rows = 35, c.cols = some_cols(format), c.n = 70, c.y_type = type, c.scale = scale, c.blocks = blocks;
        add(c);
      }
  return list;
}

}  // namespace soffit::checker
