// soffit bench: a whole model's speed, prompt (pp) and generation (tg), at several depths.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "console.hpp"
#include "interrupt.hpp"
#include "measure/barriers.hpp"
#include "measure/statistics.hpp"
#include "measure/system.hpp"
#include "measurements.hpp"
#include "model/config.hpp"
#include "model/session.hpp"
#include "model_setup.hpp"
#include "open_file.hpp"
#include "progress.hpp"
#include "provenance.hpp"
#include "table.hpp"

namespace soffit::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchOptions {
  CommonOptions common;
  std::vector<int64_t> prompts = {512}, generations = {128}, depths = {0};
  int64_t repetitions = 3, batch = 512;
};

struct Test {
  bool prompt = false;  // else one token after the other
  int64_t tokens = 0, depth = 0;
  std::string name() const { return (prompt ? "pp" : "tg") + std::to_string(tokens); }
};

// What one pass of a test took.
struct Pass {
  double seconds = 0;
  double linear_seconds = 0, other_seconds = 0;  // of a timed session only
  int64_t barriers = 0;                          // of one run
};

// Token ids without a pattern, the same every time.
std::vector<int32_t> some_tokens(int64_t count, int64_t vocabulary) {
  std::vector<int32_t> tokens;
  uint64_t state = 1;
  for (int64_t i = 0; i < count; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
    tokens.push_back(int32_t((state >> 33) % uint64_t(vocabulary)));
  }
  return tokens;
}

void add_times(const Plan& plan, Pass& pass) {
  for (const StepTime& time : plan.times()) {
    const bool linear =
        time.operation == to_string(OperationKind::linear) || time.operation == to_string(OperationKind::linear_id);
    (linear ? pass.linear_seconds : pass.other_seconds) += time.seconds;
  }
}

// Runs tokens after those the sequence holds, `step` at a time.
Status advance(model::Session& session, std::span<const int32_t> tokens, int64_t step, const InterruptGuard& guard,
               const std::string& what, Pass* pass) {
  ProgressLine progress(what);
  for (size_t done = 0; done < tokens.size();) {
    if (guard.interrupted()) return Error{Code::cancelled, "interrupted"};
    const auto now = tokens.subspan(done, std::min(tokens.size() - done, size_t(step)));
    SOFFIT_CHECK(session.append(0, now));
    if (pass) add_times(*session.last_plan(), *pass);
    done += now.size();
    progress.update(done, tokens.size());
  }
  return {};
}

Result<Pass> run_pass(model::Session& session, const Test& test, std::span<const int32_t> tokens,
                      const InterruptGuard& guard) {
  SOFFIT_CHECK(session.rewind(0, std::min(session.length(0), test.depth)));
  const auto held = tokens.subspan(size_t(session.length(0)), size_t(test.depth - session.length(0)));
  SOFFIT_CHECK(advance(session, held, session.options().batch, guard,
                       fmt::format("{} tokens before {}", test.depth, test.name()), nullptr));
  Pass pass;
  const Clock::time_point start = Clock::now();
  SOFFIT_CHECK(advance(session, tokens.subspan(size_t(test.depth), size_t(test.tokens)),
                       test.prompt ? session.options().batch : 1, guard, test.name(), &pass));
  pass.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  pass.barriers = session.last_plan()->statistics().barriers;
  return pass;
}

// Bytes that a test reads, in the file's bytes: each run reads the weights it needs once, and each of its tokens the
// keys and values that it sees; of a prompt's batch, those that its last token sees, once.
double bytes_read(const model::Model& model, const Test& test, int64_t batch, DataType type) {
  const int64_t step = test.prompt ? batch : 1;
  double bytes = 0;
  for (int64_t begin = 0; begin < test.tokens; begin += step) {
    const int64_t count = std::min(step, test.tokens - begin);
    bytes += double(model.weight_bytes(count, 1)) + double(model.key_value_bytes(test.depth + begin + count - 1, type));
  }
  return bytes;
}

double flops(const model::Model& model, const Test& test, int64_t batch) {
  const int64_t step = test.prompt ? batch : 1;
  const int64_t runs = (test.tokens + step - 1) / step;
  return model.flops(test.tokens, runs, test.depth);
}

struct Speed {
  double mean = 0, deviation = 0;
  double first = 1;  // the first pass's speed over the median: far from 1 where the warm-up did not do what passes do
};

Speed speed(const std::vector<Pass>& passes, int64_t tokens) {
  Speed speed;
  for (const Pass& pass : passes) speed.mean += double(tokens) / pass.seconds / double(passes.size());
  for (const Pass& pass : passes) speed.deviation += std::pow(double(tokens) / pass.seconds - speed.mean, 2);
  speed.deviation = passes.size() > 1 ? std::sqrt(speed.deviation / double(passes.size() - 1)) : 0;
  std::vector<double> seconds;
  for (const Pass& pass : passes) seconds.push_back(pass.seconds);
  speed.first = measure::median(seconds) / seconds.front();
  return speed;
}

class ModelBench {
 public:
  ModelBench(const BenchOptions& options, const LoadedModel& loaded, std::string path)
      : options_(options), loaded_(loaded), path_(std::move(path)) {}

  Status prepare(std::span<const Test> tests) {
    model::SessionOptions session;
    session.context = 1;
    for (const Test& test : tests) session.context = std::max(session.context, test.depth + test.tokens);
    session.batch = std::min(options_.batch, session.context);
    SOFFIT_CHECK(check_memory(session));
    SOFFIT_TRY(session_, model::Session::create(*loaded_.model, session));
    session.timed = true;
    SOFFIT_TRY(timed_, model::Session::create(*loaded_.model, session));
    tokens_ = some_tokens(session.context, loaded_.model->config().vocabulary);
    roofs_ = measured_roofs(*loaded_.model, options_.common.exact);
    SOFFIT_TRY(barrier_seconds_, measure::barrier_seconds(loaded_.backend->threads()));
    return {};
  }

  Result<Json> run(const Test& test, const InterruptGuard& guard) {
    SOFFIT_CHECK(run_pass(*session_, test, tokens_, guard));  // warms up: plans, pages, caches
    std::vector<Pass> passes;
    for (int64_t i = 0; i < options_.repetitions; i++) {
      SOFFIT_TRY(const Pass pass, run_pass(*session_, test, tokens_, guard));
      passes.push_back(pass);
    }
    SOFFIT_TRY(const Pass timed, run_pass(*timed_, test, tokens_, guard));
    const Speed measured = speed(passes, test.tokens);
    if (std::fabs(measured.first - 1) > 0.1)
      warn(
          fmt::format("{}: the first pass ran at {:.2f} of the median's speed: something was cold, or the machine busy",
                      test.name(), measured.first));
    return row(test, measured, timed);
  }

 private:
  // The system hands memory out before it has it, and would end the program half-way.
  Status check_memory(const model::SessionOptions& session) const {
    constexpr uint64_t kSessions = 2;
    const uint64_t needed = kSessions * loaded_.model->key_value_bytes(session.context - 1, session.key_value_type);
    const uint64_t available = measure::memory_state().available;
    if (available == 0 || needed <= available) return {};
    return Error{Code::out_of_memory, fmt::format("{} positions need {} for keys and values, {} are available",
                                                  session.context, show_bytes(needed), show_bytes(available))};
  }

  Json row(const Test& test, const Speed& speed, const Pass& timed) const {
    const model::Model& model = *loaded_.model;
    const int64_t batch = session_->options().batch;
    const double tokens = double(test.tokens);
    const double bytes = bytes_read(model, test, batch, session_->options().key_value_type) / tokens;
    const double gigabytes = bytes * speed.mean / 1e9, gflops = flops(model, test, batch) / tokens * speed.mean / 1e9;
    // A prompt is bound by arithmetic, single tokens by reading.
    const auto roof = test.prompt ? roofs_.gflops : roofs_.read_gb_per_second;
    const double reached = test.prompt ? gflops : gigabytes;
    return {{"model", std::filesystem::path(path_).filename().string()},
            {"backend", loaded_.backend->name()},
            {"isa", loaded_.backend->isa()},
            {"threads", loaded_.backend->threads()},
            {"layout", layout_names(model)},
            {"test", test.name()},
            {"depth", test.depth},
            {"repetitions", options_.repetitions},
            {"tokens_per_second", speed.mean},
            {"stddev", speed.deviation},
            {"bytes_per_token", uint64_t(bytes)},
            {"gb_per_second", gigabytes},
            {"roof_gb_per_second", optional_number(roofs_.read_gb_per_second)},
            {"roof_fraction", roof ? Json(reached / *roof) : Json()},
            {"gflops", gflops},
            {"linear_seconds", timed.linear_seconds},
            {"other_seconds", timed.other_seconds},
            {"barriers", timed.barriers},
            {"barrier_seconds", barrier_seconds_},
            {"first_pass_ratio", speed.first},
            {"provenance", provenance(*loaded_.backend)}};
  }

  const BenchOptions& options_;
  const LoadedModel& loaded_;
  std::string path_;
  std::unique_ptr<model::Session> session_, timed_;
  std::vector<int32_t> tokens_;
  Roofs roofs_;
  double barrier_seconds_ = 0;
};

std::vector<Test> list_tests(const BenchOptions& options) {
  std::vector<Test> tests;
  for (const int64_t depth : options.depths) {
    for (const int64_t tokens : options.prompts) {
      if (tokens > 0) tests.push_back({true, tokens, depth});
    }
    for (const int64_t tokens : options.generations) {
      if (tokens > 0) tests.push_back({false, tokens, depth});
    }
  }
  return tests;
}

// "a.gguf,b.gguf", unless a file has that very name.
std::vector<std::string> split_paths(const std::string& paths) {
  if (std::filesystem::exists(paths)) return {paths};
  std::vector<std::string> result;
  size_t begin = 0;
  for (size_t comma; (comma = paths.find(',', begin)) != std::string::npos; begin = comma + 1) {
    result.push_back(paths.substr(begin, comma - begin));
  }
  result.push_back(paths.substr(begin));
  return result;
}

// Before the first is measured, which may take long.
Status check_files(std::span<const std::string> paths) {
  for (const std::string& path : paths) {
    SOFFIT_TRY(const auto file, open_file(path));
    if (const auto config = model::read_config(*file); !config) {
      return Error{config.error().code, fmt::format("{}: {}", printable(path), config.error().message)};
    }
  }
  return {};
}

Status bench_model(const BenchOptions& options, const std::string& path, const InterruptGuard& guard,
                   std::vector<Json>& rows) {
  SOFFIT_TRY(const LoadedModel loaded, load_model(options.common, path));
  const std::vector<Test> tests = list_tests(options);
  ModelBench bench(options, loaded, path);
  SOFFIT_CHECK(bench.prepare(tests));
  for (const Test& test : tests) {
    SOFFIT_TRY(Json row, bench.run(test, guard));
    rows.push_back(std::move(row));
  }
  return {};
}

const std::vector<Column> kColumns = {
    {"model", "model", {}},
    {"isa", "isa", {}},
    {"threads", "threads", {}},
    {"test", "test", {}},
    {"depth", "depth", {}},
    {"tokens_per_second", "tokens/s", show_fixed(2)},
    {"stddev", "±", show_fixed(2)},
    {"bytes_per_token", "a token", show_bytes},
    {"gb_per_second", "GB/s", show_fixed(2)},
    {"roof_gb_per_second", "read roof", show_fixed(1)},
    {"roof_fraction", "of the roof", show_fixed(2)},
    {"gflops", "GFLOP/s", show_fixed(1)},
    {"linear_seconds", "linear s", show_fixed(3)},
    {"other_seconds", "other s", show_fixed(3)},
    {"barriers", "barriers", {}},
    {"barrier_seconds", "ns each", [](const Json& value) { return fmt::format("{:.0f}", value.get<double>() * 1e9); }},
};

int bench(const BenchOptions& options) {
  if (list_tests(options).empty()) return usage_error("no test: -p or -n must have a size above zero");
  std::vector<Json> rows;
  InterruptGuard guard;
  const std::vector<std::string> paths = split_paths(options.common.model);
  if (const Status usable = check_files(paths); !usable) return fail(usable.error());
  for (const std::string& path : paths) {
    if (const Status done = bench_model(options, path, guard, rows); !done) return fail(done.error());
  }
  print_rows(options.common.output, kColumns, rows);
  return kDone;
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  add_common_options_with_model(app, options->common);
  add_sizes(app, "-p,--prompt", options->prompts, "tokens of a prompt (default: 512)");
  add_sizes(app, "-n,--tokens", options->generations, "tokens generated (default: 128)");
  add_sizes(app, "-d,--depth", options->depths, "tokens that the sequence holds before (default: 0)");
  add_size(app, "-r,--repetitions", options->repetitions, "passes of each test (default: 3)", 1, 1'000'000);
  add_size(app, "-b,--batch", options->batch, "tokens of a prompt in one run (default: 512)", 1);
  return [options] { return bench(*options); };
}

}  // namespace

extern const Command kBench;
const Command kBench = {"bench", "a whole model's speed",
                        "  soffit bench -m model.gguf\n"
                        "  soffit bench -m a.gguf,b.gguf -p 512,2K -n 128 -d 0,4K -r 5 --output md",
                        declare};

}  // namespace soffit::tool
