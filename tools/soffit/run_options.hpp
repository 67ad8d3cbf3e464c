// The options of `soffit run`, and what it says about a generation.
#pragma once

#include <string>

#include "measurements.hpp"
#include "model/generator.hpp"
#include "model_setup.hpp"
#include "options.hpp"
#include "text/sampler.hpp"

namespace soffit::tool {

struct RunOptions {
  CommonOptions common;
  std::string prompt, prompt_file, system;
  bool has_prompt = false, has_system = false;
  int64_t tokens = -1;  // below zero: until the model ends or the context is full
  int64_t context = 0;  // 0: chosen
  int64_t batch = 512;
  std::string key_value_type = "f16";
  bool chat = false, conversation = false, ignore_end = false;
  text::SamplerOptions sampler;
};

// Declares them.
void add_run_options(CLI::App& app, RunOptions& options);
// Combinations that make no sense: what is wrong, or empty.
std::string misuse(const RunOptions& options);

// What a generation took and reached.
struct RunFigures {
  double tokens_per_second = 0, prompt_tokens_per_second = 0;  // 0: nothing was run
  uint64_t bytes_per_token = 0;                                // weights, and keys and values at the mean depth
  Roofs roofs;
  std::optional<double> roof_fraction() const;
};
// Without roofs; measured_roofs() gives them.
RunFigures figures(const LoadedModel& loaded, const model::Session& session, const model::Generation& generation);

Json run_report(const LoadedModel& loaded, const RunFigures& figures, const model::Generation& generation,
                double first_token_seconds, uint64_t seed);
// The same in a line or two for people.
std::string run_summary(const RunFigures& figures, const model::Generation& generation);

}  // namespace soffit::tool
