#include "soffit/operation.hpp"

#include <array>
#include <string>

#include "core/checked.hpp"

namespace soffit {
namespace {

std::string describe(const ArrayView& v) {
  return std::string(to_string(v.type)) + " (" + std::to_string(v.rows) + ", " + std::to_string(v.cols) + ") stride " +
         std::to_string(v.row_stride) + " at byte " + std::to_string(v.offset);
}

// The view lies inside its buffer; `type_mask` has a bit for each DataType that is allowed.
Status check_view(const ArrayView& v, const char* name, unsigned type_mask) {
  if (v.empty()) return invalid_argument(std::string(name) + ": no buffer");
  if (!(type_mask >> unsigned(v.type) & 1))
    return invalid_argument(std::string(name) + ": element type " + to_string(v.type) + " is not taken here");
  const auto address = reinterpret_cast<uintptr_t>(v.buffer->host()) + v.offset;  // from 0 where the host has none
  if (v.rows < 0 || v.cols < 0 || v.row_stride < 0 || address % uint64_t(size_of(v.type)) != 0)
    return invalid_argument(std::string(name) + ": bad view " + describe(v) +
                            (v.offset % uint64_t(size_of(v.type))
                                 ? ""
                                 : ", memory aligned to " + std::to_string(address & -address) + " bytes"));
  if (v.rows == 0 || v.cols == 0) return {};
  const auto skipped = checked_mul(uint64_t(v.rows - 1), uint64_t(v.row_stride));
  const auto elements = skipped ? checked_add(*skipped, uint64_t(v.cols)) : std::nullopt;
  const auto bytes = elements ? checked_mul(*elements, uint64_t(size_of(v.type))) : std::nullopt;
  const auto end = bytes ? checked_add(*bytes, v.offset) : std::nullopt;
  if (!end || *end > v.buffer->size())
    return invalid_argument(std::string(name) + ": " + describe(v) + " does not fit in a buffer of " +
                            std::to_string(v.buffer->size()) + " bytes");
  return {};
}

// rows or columns that an operation's numbers multiply to
Result<int64_t> product(const char* name, int64_t a, int64_t b) {
  int64_t r;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r))
    return invalid_argument(std::string(name) + ": " + std::to_string(a) + " x " + std::to_string(b) +
                            " is no number of elements");
  return r;
}

constexpr unsigned bit(DataType t) { return 1u << unsigned(t); }
constexpr unsigned kF32 = bit(DataType::f32), kI32 = bit(DataType::i32);
constexpr unsigned kReal = kF32 | bit(DataType::f16) | bit(DataType::bf16);

Status check_shape(const ArrayView& v, const char* name, int64_t rows, int64_t cols, unsigned type_mask = kF32,
                   bool broadcast = false) {
  SOFFIT_CHECK(check_view(v, name, type_mask));
  if (v.rows != rows || v.cols != cols)
    return invalid_argument(std::string(name) + ": shape (" + std::to_string(v.rows) + ", " + std::to_string(v.cols) +
                            "), expected (" + std::to_string(rows) + ", " + std::to_string(cols) + ")");
  if (!broadcast && v.rows > 1 && v.row_stride < v.cols)
    return invalid_argument(std::string(name) + ": row stride " + std::to_string(v.row_stride) + " is less than " +
                            std::to_string(v.cols) + " columns");
  return {};
}

Status check_epilogue(const Weights& w, const ArrayView& y, const Epilogue& e) {
  int64_t rows = w.rows();
  if (e.gate != Activation::none) {
    if (w.parts().size() != 2 || w.parts()[0].rows != w.parts()[1].rows)
      return invalid_argument("gated epilogue: weights need two parts of equal rows");
    rows /= 2;
  }
  SOFFIT_CHECK(check_shape(y, "y", y.rows, rows, kReal));
  if (!e.bias.empty()) SOFFIT_CHECK(check_shape(e.bias, "bias", 1, w.rows()));
  if (!e.residual.empty()) SOFFIT_CHECK(check_shape(e.residual, "residual", y.rows, rows, kF32, true));
  return {};
}

Status check_activations(const Activations* x, int64_t rows, int64_t cols) {
  if (!x) return invalid_argument("x: no activations");
  if (x->cols() != cols)
    return invalid_argument("x: activations of " + std::to_string(x->cols()) + " columns, expected " +
                            std::to_string(cols));
  if (rows > x->max_rows())
    return invalid_argument("x: " + std::to_string(rows) + " rows, room for " + std::to_string(x->max_rows()));
  return {};
}

Status check_one(const Linear& o) {
  if (!o.weights) return invalid_argument("linear: no weights");
  if (o.weights->experts() != 1) return invalid_argument("linear: weights of several experts need linear_id");
  SOFFIT_CHECK(check_activations(o.x, o.y.rows, o.weights->cols()));
  return check_epilogue(*o.weights, o.y, o.epilogue);
}

Status check_one(const LinearId& o) {
  if (!o.weights) return invalid_argument("linear_id: no weights");
  SOFFIT_CHECK(check_view(o.ids, "ids", kI32));
  const auto slots = checked_mul(uint64_t(o.ids.rows), uint64_t(o.ids.cols));
  if (!slots || *slots != uint64_t(o.y.rows))
    return invalid_argument("linear_id: " + std::to_string(o.ids.rows) + " x " + std::to_string(o.ids.cols) +
                            " ids for " + std::to_string(o.y.rows) + " result rows");
  SOFFIT_CHECK(check_activations(o.x, o.per_slot ? o.y.rows : o.ids.rows, o.weights->cols()));
  return check_epilogue(*o.weights, o.y, o.epilogue);
}

Status check_one(const GetRows& o) {
  if (!o.weights || o.weights->parts().size() != 1 || o.weights->experts() != 1)
    return invalid_argument("get_rows: weights of one part and one expert are needed");
  SOFFIT_CHECK(check_shape(o.ids, "ids", 1, o.y.rows, kI32));
  return check_shape(o.y, "y", o.y.rows, o.weights->cols(), kReal);
}

Status check_one(const Prepare& o) {
  SOFFIT_CHECK(check_view(o.x, "x", kReal));
  return check_activations(o.to, o.x.rows, o.x.cols);
}

Status check_one(const RmsNorm& o) {
  SOFFIT_CHECK(check_view(o.x, "x", kF32));
  SOFFIT_CHECK(check_shape(o.weight, "weight", 1, o.x.cols));
  if (!o.residual.empty()) SOFFIT_CHECK(check_shape(o.residual, "residual", o.x.rows, o.x.cols, kF32, true));
  if (o.y.empty() && !o.prepared) return invalid_argument("rms_norm: no output");
  if (!o.y.empty()) SOFFIT_CHECK(check_shape(o.y, "y", o.x.rows, o.x.cols));
  if (o.prepared) SOFFIT_CHECK(check_activations(o.prepared, o.x.rows, o.x.cols));
  return {};
}

Status check_one(const Rotate& o) {
  SOFFIT_CHECK(check_shape(o.x, "x", o.x.rows, o.x.cols));
  if (o.head_dim <= 0 || o.x.cols % o.head_dim != 0)
    return invalid_argument("rotate: " + std::to_string(o.x.cols) + " columns are no whole heads of " +
                            std::to_string(o.head_dim));
  if (o.rope.dimensions < 0 || o.rope.dimensions > o.head_dim || o.rope.dimensions % 2 != 0)
    return invalid_argument("rotate: " + std::to_string(o.rope.dimensions) + " rotated dimensions of a head of " +
                            std::to_string(o.head_dim));
  if (!o.norm.empty()) SOFFIT_CHECK(check_shape(o.norm, "norm", 1, o.head_dim));
  if (!o.rope.frequency_factors.empty())
    SOFFIT_CHECK(check_shape(o.rope.frequency_factors, "frequency_factors", 1, o.rope.dimensions / 2));
  return check_shape(o.positions, "positions", 1, o.x.rows, kI32);
}

Status check_layer(const State* state, int64_t layer) {
  if (!state) return invalid_argument("no state");
  const auto layers = int64_t(state->description().layers.size());
  if (layer < 0 || layer >= layers)
    return invalid_argument("layer " + std::to_string(layer) + " of a state of " + std::to_string(layers) + " layers");
  return {};
}

template <class Layer>
Result<Layer> layer_of(const State* state, int64_t layer, const char* kind) {
  SOFFIT_CHECK(check_layer(state, layer));
  const auto* l = std::get_if<Layer>(&state->description().layers[size_t(layer)]);
  if (!l) return invalid_argument("layer " + std::to_string(layer) + " of the state holds no " + kind);
  return *l;
}
Result<KeyValueLayer> key_value_layer(const State* state, int64_t layer) {
  return layer_of<KeyValueLayer>(state, layer, "keys and values");
}
Result<RecurrentLayer> recurrent_layer(const State* state, int64_t layer) {
  return layer_of<RecurrentLayer>(state, layer, "recurrent state");
}

Status check_one(const AppendKeyValue& o) {
  SOFFIT_TRY(const KeyValueLayer l, key_value_layer(o.state, o.layer));
  if (l.window > 0 && o.k.rows > o.state->description().batch)
    return invalid_argument(std::to_string(o.k.rows) +
                            " rows to a layer with a window, the state was made for batches of " +
                            std::to_string(o.state->description().batch));
  SOFFIT_CHECK(check_shape(o.k, "k", o.k.rows, l.heads * l.head_dim));
  SOFFIT_CHECK(check_shape(o.v, "v", o.k.rows, l.heads * l.head_dim));
  SOFFIT_CHECK(check_shape(o.sequences, "sequences", 1, o.k.rows, kI32));
  return check_shape(o.positions, "positions", 1, o.k.rows, kI32);
}

Status check_one(const Attention& o) {
  SOFFIT_TRY(const KeyValueLayer l, key_value_layer(o.state, o.layer));
  if (o.window < 0 || (l.window > 0 && (o.window == 0 || o.window > l.window)))
    return invalid_argument("attention: a window of " + std::to_string(o.window) + " on a layer that holds " +
                            (l.window ? std::to_string(l.window) : "all") + " positions");
  if (o.query_heads <= 0 || o.query_heads % l.heads != 0)
    return invalid_argument("attention: " + std::to_string(o.query_heads) + " query heads for " +
                            std::to_string(l.heads) + " key-value heads");
  SOFFIT_TRY(const int64_t cols, product("attention", o.query_heads, l.head_dim));
  SOFFIT_CHECK(check_shape(o.q, "q", o.q.rows, cols));
  SOFFIT_CHECK(check_shape(o.y, "y", o.q.rows, cols));
  SOFFIT_CHECK(check_shape(o.sequences, "sequences", 1, o.q.rows, kI32));
  return check_shape(o.positions, "positions", 1, o.q.rows, kI32);
}

Status check_one(const GatedActivation& o) {
  SOFFIT_CHECK(check_view(o.gate, "gate", kF32));
  SOFFIT_CHECK(check_shape(o.up, "up", o.gate.rows, o.gate.cols));
  if (o.y.empty() && !o.prepared) return invalid_argument("gated_activation: no output");
  if (!o.y.empty()) SOFFIT_CHECK(check_shape(o.y, "y", o.gate.rows, o.gate.cols));
  if (o.prepared) SOFFIT_CHECK(check_activations(o.prepared, o.gate.rows, o.gate.cols));
  return {};
}

Status check_one(const Route& o) {
  SOFFIT_CHECK(check_view(o.logits, "logits", kF32));
  SOFFIT_CHECK(check_view(o.ids, "ids", kI32));
  if (o.ids.cols < 1 || o.ids.cols > o.logits.cols)
    return invalid_argument("route: " + std::to_string(o.ids.cols) + " of " + std::to_string(o.logits.cols) +
                            " experts");
  SOFFIT_CHECK(check_shape(o.ids, "ids", o.logits.rows, o.ids.cols, kI32));
  return check_shape(o.weights, "weights", o.logits.rows, o.ids.cols);
}

Status check_one(const Combine& o) {
  SOFFIT_CHECK(check_view(o.weights, "weights", kF32));
  SOFFIT_CHECK(check_view(o.y, "y", kF32));
  SOFFIT_CHECK(check_shape(o.y, "y", o.weights.rows, o.y.cols));
  SOFFIT_TRY(const int64_t slots, product("x", o.weights.rows, o.weights.cols));
  SOFFIT_CHECK(check_shape(o.x, "x", slots, o.y.cols));
  if (!o.residual.empty()) SOFFIT_CHECK(check_shape(o.residual, "residual", o.y.rows, o.y.cols, kF32, true));
  return {};
}

Status check_one(const Gather& o) {
  SOFFIT_CHECK(check_view(o.x, "x", kF32));
  SOFFIT_CHECK(check_shape(o.y, "y", o.y.rows, o.x.cols));
  return check_shape(o.ids, "ids", 1, o.y.rows, kI32);
}

Status check_one(const Add& o) {
  SOFFIT_CHECK(check_view(o.y, "y", kF32));
  SOFFIT_CHECK(check_shape(o.y, "y", o.y.rows, o.y.cols));
  SOFFIT_CHECK(check_shape(o.a, "a", o.y.rows, o.y.cols, kF32, true));
  return check_shape(o.b, "b", o.y.rows, o.y.cols, kF32, true);
}
Status check_unary(const ArrayView& x, const ArrayView& y) {
  SOFFIT_CHECK(check_view(x, "x", kF32));
  return check_shape(y, "y", x.rows, x.cols);
}
Status check_one(const Scale& o) { return check_unary(o.x, o.y); }
Status check_one(const SoftCap& o) {
  if (!(o.cap > 0)) return invalid_argument("soft_cap: cap " + std::to_string(o.cap));
  return check_unary(o.x, o.y);
}

Status check_one(const AllReduce& o) { return check_shape(o.x, "x", o.x.rows, o.x.cols); }

Status check_one(const ShortConvolution& o) {
  SOFFIT_TRY(const RecurrentLayer l, recurrent_layer(o.state, o.layer));
  SOFFIT_CHECK(check_shape(o.x, "x", o.x.rows, l.channels));
  SOFFIT_CHECK(check_shape(o.weight, "weight", l.channels, l.taps));
  SOFFIT_CHECK(check_shape(o.y, "y", o.x.rows, l.channels));
  SOFFIT_CHECK(check_shape(o.sequences, "sequences", 1, o.x.rows, kI32));
  return check_shape(o.positions, "positions", 1, o.x.rows, kI32);
}

Status check_one(const GatedDeltaRule& o) {
  SOFFIT_TRY(const RecurrentLayer l, recurrent_layer(o.state, o.layer));
  SOFFIT_CHECK(check_view(o.q, "q", kF32));
  const int64_t n = o.q.rows, key_heads = l.key_dim ? o.q.cols / l.key_dim : 0;
  if (key_heads < 1 || o.q.cols % l.key_dim != 0 || l.heads % key_heads != 0)
    return invalid_argument("q: " + std::to_string(o.q.cols) + " columns for " + std::to_string(l.heads) +
                            " heads with keys of " + std::to_string(l.key_dim));
  SOFFIT_CHECK(check_shape(o.q, "q", n, o.q.cols));
  SOFFIT_CHECK(check_shape(o.k, "k", n, o.q.cols));
  SOFFIT_CHECK(check_shape(o.v, "v", n, l.heads * l.value_dim));
  SOFFIT_CHECK(check_shape(o.time, "time", n, l.heads));
  SOFFIT_CHECK(check_shape(o.beta, "beta", n, l.heads));
  SOFFIT_CHECK(check_shape(o.rate, "rate", 1, l.heads));
  SOFFIT_CHECK(check_shape(o.time_bias, "time_bias", 1, l.heads));
  if (!(o.epsilon >= 0)) return invalid_argument("epsilon " + std::to_string(o.epsilon));
  SOFFIT_CHECK(check_shape(o.y, "y", n, l.heads * l.value_dim));
  SOFFIT_CHECK(check_shape(o.sequences, "sequences", 1, n, kI32));
  return check_shape(o.positions, "positions", 1, n, kI32);
}

constexpr std::array kNames = {"linear",
                               "linear_id",
                               "get_rows",
                               "prepare",
                               "rms_norm",
                               "rotate",
                               "append_key_value",
                               "attention",
                               "gated_activation",
                               "route",
                               "combine",
                               "gather",
                               "add",
                               "scale",
                               "soft_cap",
                               "all_reduce",
                               "short_convolution",
                               "gated_delta_rule"};
static_assert(kNames.size() == std::variant_size_v<decltype(Operation::value)>);

}  // namespace

const char* to_string(DataType type) {
  switch (type) {
    case DataType::f32:
      return "f32";
    case DataType::f16:
      return "f16";
    case DataType::bf16:
      return "bf16";
    case DataType::i32:
      return "i32";
  }
  return "unknown";
}

const char* to_string(OperationKind kind) { return size_t(kind) < kNames.size() ? kNames[size_t(kind)] : "unknown"; }

Status check(const Operation& operation) {
  return std::visit(
      [&](const auto& o) -> Status {
        if (auto s = check_one(o); !s)
          return Error{s.error().code, std::string(to_string(operation.kind())) + ": " + s.error().message};
        return {};
      },
      operation.value);
}

}  // namespace soffit
