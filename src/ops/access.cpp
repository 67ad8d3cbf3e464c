// What operations read and write: planners order their steps by it.
#include "soffit/operation.hpp"

namespace soffit {
namespace {

struct Collector {
  std::vector<Access> list;
  void view(const ArrayView& v, bool write) {
    if (!v.empty()) list.push_back({v.buffer, v, 0, write});
  }
  void object(const void* o, bool write, int64_t layer = 0) {
    if (o) list.push_back({o, {}, layer, write});
  }
  void epilogue(const Epilogue& e) { view(e.bias, false), view(e.residual, false); }

  void operator()(const Linear& o) { object(o.x, false), view(o.y, true), epilogue(o.epilogue); }
  void operator()(const LinearId& o) { object(o.x, false), view(o.ids, false), view(o.y, true), epilogue(o.epilogue); }
  void operator()(const GetRows& o) { view(o.ids, false), view(o.y, true); }
  void operator()(const Prepare& o) { view(o.x, false), object(o.to, true); }
  void operator()(const RmsNorm& o) {
    view(o.x, false), view(o.weight, false), view(o.residual, false), view(o.y, true), object(o.prepared, true);
  }
  void operator()(const Rotate& o) {
    view(o.x, true), view(o.norm, false), view(o.rope.frequency_factors, false), view(o.positions, false);
  }
  void operator()(const AppendKeyValue& o) {
    view(o.k, false), view(o.v, false), object(o.state, true, o.layer), view(o.sequences, false),
        view(o.positions, false);
  }
  void operator()(const Attention& o) {
    view(o.q, false), object(o.state, false, o.layer), view(o.sequences, false), view(o.positions, false),
        view(o.y, true);
  }
  void operator()(const GatedActivation& o) {
    view(o.gate, false), view(o.up, false), view(o.y, true), object(o.prepared, true);
  }
  void operator()(const Route& o) { view(o.logits, false), view(o.ids, true), view(o.weights, true); }
  void operator()(const Combine& o) {
    view(o.x, false), view(o.weights, false), view(o.residual, false), view(o.y, true);
  }
  void operator()(const Gather& o) { view(o.x, false), view(o.ids, false), view(o.y, true); }
  void operator()(const Add& o) { view(o.a, false), view(o.b, false), view(o.y, true); }
  void operator()(const Scale& o) { view(o.x, false), view(o.y, true); }
  void operator()(const SoftCap& o) { view(o.x, false), view(o.y, true); }
  void operator()(const AllReduce& o) { view(o.x, true); }
  void operator()(const ShortConvolution& o) {
    view(o.x, false), view(o.weight, false), object(o.state, true, o.layer), view(o.sequences, false),
        view(o.positions, false), view(o.y, true);
  }
  void operator()(const GatedDeltaRule& o) {
    for (const ArrayView* v : {&o.q, &o.k, &o.v, &o.time, &o.beta, &o.rate, &o.time_bias, &o.sequences, &o.positions})
      view(*v, false);
    object(o.state, true, o.layer), view(o.y, true);
  }
};

}  // namespace

std::vector<Access> accesses(const Operation& operation) {
  Collector c;
  std::visit([&](const auto& o) { c(o); }, operation.value);
  return std::move(c.list);
}

}  // namespace soffit
