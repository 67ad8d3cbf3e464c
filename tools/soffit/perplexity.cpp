// soffit perplexity: how well a model predicts a text, and how far it is from a base model.
#include "model/perplexity.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "command.hpp"
#include "console.hpp"
#include "interrupt.hpp"
#include "model/base_logits.hpp"
#include "model_setup.hpp"
#include "table.hpp"
#include "text_file.hpp"

namespace soffit::tool {
namespace {

// Rows whose logits are computed at once: enough to read the output matrix seldom, few enough to be small.
constexpr int64_t kOutputs = 64;

struct PerplexityOptions {
  CommonOptions common;
  std::string text_file, save, against;
  int64_t window = 512, chunks = -1;
  std::string key_value_type = "f16";
};

struct Score {
  model::PerplexitySum perplexity;
  model::DivergenceSum divergence;
  double largest_divergence = 0;
  std::vector<double> chunks;  // the perplexity of all tokens so far, after each window
};

Result<std::vector<int32_t>> read_tokens(const PerplexityOptions& options, const LoadedModel& loaded) {
  SOFFIT_TRY(const std::string text, read_text_file(options.text_file));
  return loaded.tokenizer->encode(text);
}

Status check_base(const model::BaseHeader& base, std::span<const int32_t> tokens, int64_t window, int64_t vocabulary) {
  if (base.window != window || base.vocabulary != vocabulary) {
    return invalid_argument(
        fmt::format("the base was saved with windows of {} tokens and a vocabulary of {}, not {} and {}", base.window,
                    base.vocabulary, window, vocabulary));
  }
  if (!std::ranges::equal(base.tokens, tokens.first(std::min(tokens.size(), base.tokens.size())))) {
    return invalid_argument("the base was saved with another text or another tokenizer");
  }
  return {};
}

class Scorer {
 public:
  Scorer(const PerplexityOptions& options, const LoadedModel& loaded) : options_(options), loaded_(loaded) {}

  Result<Score> run() {
    SOFFIT_TRY(const auto tokens, read_tokens(options_, loaded_));
    const int64_t vocabulary = loaded_.model->config().vocabulary;
    model::WindowOptions windows{options_.window, options_.chunks, {}};
    if (loaded_.tokenizer->adds_bos()) windows.bos = loaded_.tokenizer->bos();
    if (!options_.against.empty()) {
      SOFFIT_TRY(reader_, model::BaseReader::open(options_.against));
      SOFFIT_CHECK(check_base(reader_->header(), tokens, options_.window, vocabulary));
      if (windows.chunks < 0) windows.chunks = reader_->header().chunks;
    }
    SOFFIT_TRY(chunks_, model::count_windows(tokens, windows));
    if (!options_.save.empty()) {
      const auto used = std::span(tokens).first(size_t(chunks_ * options_.window));
      SOFFIT_TRY(auto writer, model::BaseWriter::create(
                                  options_.save, {options_.window, vocabulary, chunks_, {used.begin(), used.end()}}));
      writer_.emplace(std::move(writer));
    }
    model::SessionOptions session_options;
    session_options.context = options_.window;
    session_options.batch = std::min<int64_t>(512, options_.window);
    session_options.outputs = std::min(kOutputs, session_options.batch);
    session_options.key_value_type = options_.key_value_type == "f32" ? DataType::f32 : DataType::f16;
    SOFFIT_TRY(auto session, model::Session::create(*loaded_.model, session_options));
    SOFFIT_CHECK(model::score_windows(*session, tokens, windows, [&](const auto& token) { return add(token); }));
    end_chunk();
    if (writer_) SOFFIT_CHECK(writer_->finish());
    return std::move(score_);
  }

 private:
  Status add(const model::ScoredToken& scored) {
    if (guard_.interrupted()) return Error{Code::cancelled, "interrupted"};
    if (scored.chunk > int64_t(score_.chunks.size())) end_chunk();
    const model::LogSoftmax log_softmax(scored.logits);
    score_.perplexity.add(log_softmax[size_t(scored.token)]);
    if (writer_) SOFFIT_CHECK(writer_->add(scored.logits, log_softmax));
    if (reader_) {
      SOFFIT_TRY(const auto comparison, reader_->compare(log_softmax));
      score_.divergence.add(comparison.divergence, comparison.same_top);
      score_.largest_divergence = std::max(score_.largest_divergence, comparison.divergence);
    }
    return {};
  }

  void end_chunk() {
    score_.chunks.push_back(score_.perplexity.perplexity());
    note(fmt::format("[{}/{}] {:.4f}", score_.chunks.size(), chunks_, score_.chunks.back()));
  }

  const PerplexityOptions& options_;
  const LoadedModel& loaded_;
  InterruptGuard guard_;
  std::optional<model::BaseReader> reader_;
  std::optional<model::BaseWriter> writer_;
  int64_t chunks_ = 0;
  Score score_;
};

Json report(const PerplexityOptions& options, const Score& score) {
  const bool compared = !options.against.empty();
  const auto of_base = [&](double value) { return compared ? Json(value) : Json(); };
  return {{"perplexity", score.perplexity.perplexity()},
          {"stderr", score.perplexity.standard_error()},
          {"tokens", score.perplexity.count()},
          {"chunks", score.chunks},
          {"kl_mean", compared ? Json(score.divergence.mean()) : Json()},
          {"kl_stderr", compared ? Json(score.divergence.standard_error()) : Json()},
          {"kl_p99", compared ? Json(score.divergence.quantile(0.99)) : Json()},
          {"kl_max", of_base(score.largest_divergence)},
          {"same_top", compared ? Json(score.divergence.same_top()) : Json()}};
}

void print_report(Output output, const Json& report) {
  if (output == Output::json) return print_json(report);
  std::vector<Column> columns = {{"perplexity", "perplexity", show_fixed(4)},
                                 {"stderr", "±", show_fixed(4)},
                                 {"tokens", "tokens", {}},
                                 {"kl_mean", "mean KL", show_fixed(6)},
                                 {"kl_stderr", "±", show_fixed(6)},
                                 {"kl_p99", "99 % KL", show_fixed(6)},
                                 {"kl_max", "max KL", show_fixed(6)},
                                 {"same_top", "same top", show_fixed(4)}};
  if (report["kl_mean"].is_null()) columns.resize(3);
  print_rows(output, columns, {report});
}

int perplexity(const PerplexityOptions& options) {
  if (!options.save.empty() && !options.against.empty()) {
    return usage_error("--save-logits and --kl-against exclude each other");
  }
  for (const std::string& input : {options.common.model, options.text_file}) {
    std::error_code error;
    if (!options.save.empty() && std::filesystem::equivalent(options.save, input, error)) {
      return usage_error(fmt::format("--save-logits would replace '{}', which is read", printable(input)));
    }
  }
  const auto loaded = load_model(options.common, options.common.model);
  if (!loaded) return fail(loaded.error());
  Scorer scorer(options, *loaded);
  const auto score = scorer.run();
  if (!score) return fail(score.error());
  print_report(options.common.output, report(options, *score));
  return kDone;
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<PerplexityOptions>();
  add_common_options_with_model(app, options->common);
  add_path(app, "-f,--file", options->text_file, "the text").required();
  add_size(app, "-c,--context", options->window, "tokens of a window (default: 512)");
  add_size(app, "--chunks", options->chunks, "windows (default: all that are full)", 1);
  add_choice(app, "--kv", options->key_value_type, {"f16", "f32"}, "keys and values: f16 or f32 (default: f16)");
  add_path(app, "--save-logits", options->save, "save log-probabilities for --kl-against (llama.cpp reads them too)");
  add_path(app, "--kl-against", options->against, "compare with what --save-logits of a base model saved");
  return [options] { return perplexity(*options); };
}

}  // namespace

extern const Command kPerplexity;
const Command kPerplexity = {"perplexity", "how well a model predicts a text",
                             "  soffit perplexity -m model.gguf -f text.txt -c 512 --chunks 8\n"
                             "  soffit perplexity -m base-f16.gguf -f text.txt --save-logits base.kld\n"
                             "  soffit perplexity -m model-q4_k.gguf -f text.txt --kl-against base.kld",
                             declare};

}  // namespace soffit::tool
