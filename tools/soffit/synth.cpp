// soffit synth: a file of a real model's shapes with random weights.
#include "synth/synth.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "command.hpp"
#include "console.hpp"
#include "core/topology.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace soffit::tool {
namespace {

struct Options {
  CommonOptions common;
  std::string shape, mix, out;
};

std::string shape_names() {
  std::string names;
  for (const synth::Shape& shape : synth::shapes()) names += fmt::format("{}{}", names.empty() ? "" : ", ", shape.name);
  return names;
}

int synthesise(const Options& options) {
  const auto shape = synth::find_shape(options.shape);
  if (!shape) return fail(shape.error());
  const auto mix = synth::Mix::find(options.mix);
  if (!mix) return fail(mix.error());

  const InterruptGuard guard;
  synth::SynthOptions synth_options;
  synth_options.seed = options.common.seed.value_or(synth_options.seed);
  synth_options.threads = options.common.threads > 0 ? options.common.threads : default_threads();
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&] {
    ProgressLine line(fmt::format("writing {}", printable(options.out)));
    synth_options.progress = [&](uint64_t done, uint64_t total) {
      line.update(done, total);
      return !guard.interrupted();
    };
    return synth::synthesise(*shape, *mix, options.out, synth_options);
  }();
  if (!report) return fail(report.error());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  note(fmt::format(
      "{}: random weights in the shapes of {}, {}, seed {}: {} tensors, {:.2f} bits a weight, {:.2f} GB "
      "in {:.1f} s",
      printable(options.out), shape->title, mix->name(), synth_options.seed, report->tensors,
      8.0 * double(report->bytes) / double(report->elements), double(report->bytes) / 1e9, seconds.count()));
  return kDone;
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_text(app, "SHAPE", options->shape, shape_names()).required();
  add_text(app, "MIX", options->mix, synth::Mix::names() + ", or a format for all matrices").required();
  add_path(app, "OUT", options->out, "the file to write").required();
  add_common_options(app, options->common);
  return [options] { return synthesise(*options); };
}

}  // namespace

extern const Command kSynth;
const Command kSynth = {"synth", "Write a model file of real shapes with random weights",
                        "  soffit synth qwen3-1.7b q4_k_m model.gguf\n"
                        "  soffit synth llama-tiny f32 tiny.gguf --seed 7",
                        declare};

}  // namespace soffit::tool
