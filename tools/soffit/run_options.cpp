#include "run_options.hpp"

#include <fmt/format.h>

#include "provenance.hpp"

namespace soffit::tool {

void add_run_options(CLI::App& app, RunOptions& options) {
  add_common_options_with_model(app, options.common);
  add_text(
      app, "-p,--prompt",
      [&options](const std::string& text) {
        options.prompt = text;
        options.has_prompt = true;
      },
      "the prompt: raw text, or with --chat and -cnv what the user says")
      .named("TEXT");
  add_path(app, "-f,--file", options.prompt_file, "a file with the prompt").excludes("--prompt");
  add_size(app, "-n,--tokens", options.tokens, "tokens to generate (default: until the model ends)");
  add_size(app, "-c,--context", options.context,
           "positions of the context (default: room for the prompt and -n tokens)");
  add_size(app, "-b,--batch", options.batch, "tokens of the prompt in one run (default: 512)", 1);
  add_choice(app, "--kv", options.key_value_type, {"f16", "f32"}, "keys and values: f16 or f32 (default: f16)");
  add_flag(app, "--chat", options.chat, "wrap the prompt as one turn in the model's template");
  add_flag(app, "--cnv", options.conversation, "talk, also written -cnv");
  add_text(
      app, "--system",
      [&options](const std::string& text) {
        options.system = text;
        options.has_system = true;
      },
      "the system's message, with --chat and -cnv")
      .named("TEXT");
  add_flag(app, "--ignore-eos", options.ignore_end, "go on where the model would end");
  const auto sampling = [](Option option) { option.group("Sampling"); };
  sampling(add_number(app, "--temp", options.sampler.temperature, "temperature; 0 takes the likeliest (default: 0.8)"));
  sampling(add_whole(app, "--top-k", options.sampler.top_k, "keep the K likeliest; 0 keeps all (default: 40)", 0,
                     std::numeric_limits<int32_t>::max()));
  sampling(add_number(app, "--top-p", options.sampler.top_p, "keep this much probability (default: 0.95)"));
  sampling(add_number(app, "--min-p", options.sampler.min_p, "keep this fraction of the best's (default: 0.05)"));
  sampling(add_number(app, "--repeat-penalty", options.sampler.repeat_penalty, "on the last 64 tokens (default: 1)"));
}

std::string misuse(const RunOptions& options) {
  if (options.chat && options.conversation) return "--chat and -cnv exclude each other";
  if (options.has_system && !options.chat && !options.conversation) return "--system needs --chat or -cnv";
  if (options.common.output != Output::text && options.common.output != Output::json) {
    return "run has --output text and json";
  }
  if (options.conversation && options.common.output == Output::json) return "-cnv has no --output json";
  return "";
}

std::optional<double> RunFigures::roof_fraction() const {
  if (!roofs.read_gb_per_second || tokens_per_second == 0) return std::nullopt;
  return double(bytes_per_token) * tokens_per_second / 1e9 / *roofs.read_gb_per_second;
}

RunFigures figures(const LoadedModel& loaded, const model::Session& session, const model::Generation& generation) {
  RunFigures figures;
  const auto run = double(generation.run_tokens);
  if (generation.prompt_seconds > 0) figures.prompt_tokens_per_second = run / generation.prompt_seconds;
  if (generation.decoded_tokens > 0) {
    figures.tokens_per_second = double(generation.decoded_tokens) / generation.decode_seconds;
  }
  const int64_t mean_position = generation.prompt_tokens + generation.decoded_tokens / 2;
  figures.bytes_per_token =
      loaded.model->weight_bytes(1, 1) + loaded.model->key_value_bytes(mean_position, session.options().key_value_type);
  return figures;
}

Json run_report(const LoadedModel& loaded, const RunFigures& figures, const model::Generation& generation,
                double first_token_seconds, uint64_t seed) {
  const auto rate = [](double value) { return value > 0 ? Json(value) : Json(); };
  return {{"text", generation.text},
          {"tokens", generation.tokens},
          {"prompt_tokens", generation.prompt_tokens},
          {"generated_tokens", generation.tokens.size()},
          {"stop", to_string(generation.stop)},
          {"load_seconds", loaded.seconds},
          {"first_token_seconds", first_token_seconds > 0 ? Json(first_token_seconds) : Json()},
          {"prompt_tokens_per_second", rate(figures.prompt_tokens_per_second)},
          {"tokens_per_second", rate(figures.tokens_per_second)},
          {"bytes_per_token", figures.bytes_per_token},
          {"roof_fraction", optional_number(figures.roof_fraction())},
          {"peak_resident_bytes", peak_resident_bytes()},
          {"file_bytes", loaded.file->size_bytes()},
          {"seed", seed},
          {"provenance", provenance(*loaded.backend)}};
}

std::string run_summary(const RunFigures& figures, const model::Generation& generation) {
  const int64_t wanted = generation.prompt_tokens - generation.reused_tokens;
  std::string text = fmt::format("prompt {} tokens", wanted);
  if (generation.run_tokens < wanted) text += fmt::format(", stopped after {}", generation.run_tokens);
  if (generation.run_tokens > 0) text += fmt::format(", {:.1f} tokens/s", figures.prompt_tokens_per_second);
  text += fmt::format("; generated {} tokens", generation.tokens.size());
  if (figures.tokens_per_second == 0) return text;
  text += fmt::format(", {:.1f} tokens/s; {:.1f} MB a token, {:.1f} GB/s", figures.tokens_per_second,
                      double(figures.bytes_per_token) / 1e6,
                      double(figures.bytes_per_token) * figures.tokens_per_second / 1e9);
  if (const auto fraction = figures.roof_fraction()) {
    text += fmt::format(", {:.0f} % of the {:.1f} GB/s that reads reach here", *fraction * 100,
                        *figures.roofs.read_gb_per_second);
  }
  return text;
}

}  // namespace soffit::tool
