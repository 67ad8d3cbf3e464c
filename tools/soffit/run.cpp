// soffit run: text from a model.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include "command.hpp"
#include "console.hpp"
#include "conversation.hpp"
#include "interrupt.hpp"
#include "run_options.hpp"
#include "text_file.hpp"

namespace soffit::tool {
namespace {

using Clock = std::chrono::steady_clock;
// As near to the start of the program as it can know.
const Clock::time_point kStart = Clock::now();

double seconds_since_start() { return std::chrono::duration<double>(Clock::now() - kStart).count(); }

Result<std::string> read_prompt(const RunOptions& options) {
  if (options.has_prompt) return options.prompt;
  return options.prompt_file.empty() ? read_standard_input() : read_text_file(options.prompt_file);
}

Result<std::vector<text::TokenId>> encode_prompt(const RunOptions& options, const LoadedModel& loaded,
                                                 const std::string& prompt) {
  if (options.chat) {
    std::vector<text::Message> messages;
    if (options.has_system) messages.push_back({"system", options.system});
    messages.push_back({"user", prompt});
    return encode_chat(*loaded.tokenizer, messages);
  }
  return loaded.tokenizer->encode(prompt, {.add_special = true, .parse_special = true});
}

int64_t choose_context(const RunOptions& options, const LoadedModel& loaded, int64_t prompt_tokens) {
  constexpr int64_t kUsual = 4096, kAnswer = 1024;
  const int64_t trained = loaded.model->config().context;
  int64_t context = options.context;
  if (context == 0 && options.tokens >= 0 && !options.conversation) context = prompt_tokens + options.tokens;
  if (context == 0) context = std::min(trained, std::max(kUsual, prompt_tokens + kAnswer));
  if (context > trained) {
    warn(fmt::format("a context of {} positions is more than the {} that the model was trained for", context, trained));
  }
  return std::max<int64_t>(1, context);
}

int generate_once(const RunOptions& options, const LoadedModel& loaded, model::Session& session, text::Sampler& sampler,
                  std::span<const text::TokenId> prompt) {
  const bool text_output = options.common.output == Output::text;
  InterruptGuard guard;
  double first_token_seconds = 0;
  bool writable = true;
  model::GenerationOptions generation_options;
  generation_options.max_tokens = options.tokens;
  generation_options.ignore_end = options.ignore_end;
  generation_options.on_text = [&](std::string_view text) {
    if (first_token_seconds == 0) first_token_seconds = seconds_since_start();
    if (!text_output) return;
    print(text);
    writable = flush_stdout();
  };
  generation_options.keep_going = [&] { return writable && !guard.interrupted(); };
  model::Generator generator(session, *loaded.tokenizer, sampler);
  const auto generation = generator.generate(prompt, generation_options);
  if (!generation) return fail(generation.error());

  RunFigures reached = figures(loaded, session, *generation);
  if (text_output && isatty(STDOUT_FILENO)) print("\n");
  flush_stdout();  // the measurement takes a moment
  if (generation->decoded_tokens > 0) reached.roofs = measured_roofs(*loaded.model, options.common.exact);
  if (!text_output) {
    print_json(run_report(loaded, reached, *generation, first_token_seconds, sampler.options().seed));
  }
  flush_stdout();
  if (text_output && !isatty(STDOUT_FILENO)) note("");  // where both streams go to one place, a line of its own
  note(run_summary(reached, *generation));
  if (options.common.verbose) {
    note(fmt::format("loaded in {:.2f} s, first token after {:.2f} s, stopped: {}, seed {}, layouts {}", loaded.seconds,
                     first_token_seconds, to_string(generation->stop), sampler.options().seed,
                     layout_names(*loaded.model)));
  }
  return guard.interrupted() ? kInterrupted : kDone;
}

Result<std::unique_ptr<model::Session>> make_session(const RunOptions& options, const LoadedModel& loaded,
                                                     int64_t prompt_tokens) {
  model::SessionOptions session;
  session.context = choose_context(options, loaded, prompt_tokens);
  session.batch = std::min(options.batch, session.context);
  session.key_value_type = options.key_value_type == "f32" ? DataType::f32 : DataType::f16;
  return model::Session::create(*loaded.model, session);
}

int run(RunOptions& options) {
  if (const std::string text = misuse(options); !text.empty()) return usage_error(text);
  const bool has_prompt = options.has_prompt || !options.prompt_file.empty();
  if (!has_prompt && !options.conversation && isatty(STDIN_FILENO)) {
    return usage_error("no prompt: give -p TEXT, -f FILE or standard input, or talk with -cnv");
  }
  options.sampler.seed = options.common.seed ? *options.common.seed : std::random_device()();
  auto sampler = text::Sampler::create(options.sampler);
  if (!sampler) return fail(sampler.error());

  std::string prompt;
  if (has_prompt || !options.conversation) {
    auto text = read_prompt(options);
    if (!text) return fail(text.error());
    prompt = *std::move(text);
  }
  const auto loaded = load_model(options.common, options.common.model);
  if (!loaded) return fail(loaded.error());
  if (options.conversation) {
    const auto session = make_session(options, *loaded, 0);
    if (!session) return fail(session.error());
    return converse(options, *loaded, **session, *sampler, prompt);
  }
  const auto tokens = encode_prompt(options, *loaded, prompt);
  if (!tokens) return fail(tokens.error());
  const auto session = make_session(options, *loaded, int64_t(tokens->size()));
  if (!session) return fail(session.error());
  return generate_once(options, *loaded, **session, *sampler, *tokens);
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  add_run_options(app, *options);
  return [options] { return run(*options); };
}

}  // namespace

extern const Command kRun;
const Command kRun = {"run", "text from a model",
                      "  soffit run -m model.gguf -p 'The capital of France is' -n 16 --temp 0\n"
                      "  soffit run -m model.gguf --chat --system 'Answer briefly.' < question.txt\n"
                      "  soffit run -m model.gguf -cnv",
                      declare};

}  // namespace soffit::tool
