// soffit check: every format, instruction set and shape against the oracle in double precision.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "check/suite.hpp"
#include "command.hpp"
#include "console.hpp"
#include "interrupt.hpp"
#include "soffit/backend.hpp"
#include "table.hpp"

namespace soffit::tool {
namespace {

using checker::Report;
using checker::Usage;
using checker::Verdict;

struct CheckOptions {
  CommonOptions common;
  std::vector<std::string> formats, operations;
  bool quick = false;
};

// A backend of one instruction set, rounding activations or not.
struct Arm {
  std::unique_ptr<Backend> backend;
  bool exact;
};

Result<std::vector<Format>> parse_formats(const std::vector<std::string>& names) {
  std::vector<Format> formats;
  std::string known;
  for (const FormatInfo& f : all_formats())
    if (f.supported) known += fmt::format("{}{}", known.empty() ? "" : ", ", f.name);
  for (const std::string& name : names) {
    if (name == "all") return std::vector<Format>{};
    const FormatInfo* f = find_format(std::string_view(name));
    if (!f) return invalid_argument(fmt::format("there is no format '{}'; there are {}", printable(name), known));
    if (!f->supported) return unsupported(fmt::format("format '{}' has no kernels; {} have", name, known));
    formats.push_back(Format(f->id));
  }
  return formats;
}

Result<std::vector<OperationKind>> parse_operations(const std::vector<std::string>& names) {
  std::vector<OperationKind> operations;
  const auto known = checker::checked_operations();
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name, [](OperationKind k) { return std::string(to_string(k)); });
    if (found == known.end()) {
      std::vector<std::string> list;
      for (OperationKind k : known) list.emplace_back(to_string(k));
      return invalid_argument(
          fmt::format("there is no check of an operation '{}'; there are {}", printable(name), fmt::join(list, ", ")));
    }
    operations.push_back(*found);
  }
  return operations;
}

// Every instruction set that can run here, or the one asked for; the others are named on stderr.
Result<std::vector<std::string>> instruction_sets(const CommonOptions& common) {
  if (common.isa != "auto") return std::vector<std::string>{common.isa};
  const auto entries = backends();
  const auto entry = std::ranges::find(entries, common.backend, &BackendEntry::name);
  std::vector<std::string> names;
  if (entry == entries.end()) return std::vector<std::string>{"auto"};  // create_backend() says what there is
  for (const auto& set : entry->instruction_sets()) {
    if (set.unavailable.empty())
      names.emplace_back(set.name);
    else
      note(fmt::format("{} is skipped: {}", set.name, set.unavailable));
  }
  return names;
}

Result<std::vector<Arm>> make_arms(const CommonOptions& common) {
  std::vector<Arm> arms;
  SOFFIT_TRY(const auto names, instruction_sets(common));
  for (const std::string& isa : names)
    for (bool exact : {false, true}) {
      if (common.exact && !exact) continue;
      BackendOptions options;
      options.threads = common.threads;
      options.isa = isa;
      options.device = common.device;
      options.exact = exact;
      SOFFIT_TRY(auto backend, create_backend(common.backend, options));
      arms.push_back({std::move(backend), exact});
    }
  return arms;
}

Json describe(const Report& report, const Arm& arm) {
  const auto& s = report.subject;
  const auto& o = report.outcome;
  return {{"op", to_string(s.operation)},
          {"format", info(s.format).name},
          {"isa", arm.backend->isa()},
          {"exact", arm.exact},
          {"kernel", o.kernel},
          {"rows", s.rows},
          {"cols", s.cols},
          {"n", s.n},
          {"case", s.variant},
          {"error_over_bound", o.error_over_bound},
          {"status", to_string(o.verdict)},
          {"reason", o.reason}};
}

// What the run found, as it goes on.
class Findings {
 public:
  explicit Findings(const std::vector<Arm>& arms) : arms_(arms) {}

  void add(const Report& report) {
    usage_.add(report);
    ++counts_[size_t(report.outcome.verdict)];
    const double ratio = report.outcome.error_over_bound;
    Json row = describe(report, arms_[report.backend]);
    // Anything is worse than nothing, and NaN than everything.
    if (worst_.is_null() || !(ratio <= worst_ratio_)) {
      if (!std::isnan(worst_ratio_)) worst_ = {{"case", row}, {"error_over_bound", ratio}}, worst_ratio_ = ratio;
    }
    if (report.outcome.verdict == Verdict::failed) failures_.push_back(row);
    cases_.push_back(std::move(row));
  }

  // A row for each operation, format and instruction set.
  std::vector<Json> bounds() const {
    std::vector<Json> rows;
    const auto empty = usage_.empty_bounds();
    for (const auto& [key, largest] : usage_.largest()) {
      const bool is_empty = std::ranges::count(empty, key) != 0;
      rows.push_back({{"op", to_string(key.operation)},
                      {"format", info(key.format).name},
                      {"isa", arms_[key.backend].backend->isa()},
                      {"exact", arms_[key.backend].exact},
                      {"error_over_bound", largest},
                      {"status", !(largest <= 1) ? "failed"
                                 : is_empty      ? "bound never used"
                                                 : "passed"}});
    }
    return rows;
  }
  bool right() const { return failed() == 0 && usage_.empty_bounds().empty() && passed() > 0; }
  int64_t passed() const { return counts_[size_t(Verdict::passed)]; }
  int64_t failed() const { return counts_[size_t(Verdict::failed)]; }
  int64_t skipped() const { return counts_[size_t(Verdict::skipped)]; }
  const std::vector<Json>& failures() const { return failures_; }
  const std::vector<Json>& cases() const { return cases_; }
  Json summary() const {
    return {{"passed", passed()}, {"failed", failed()}, {"skipped", skipped()},
            {"worst", worst_},    {"bounds", bounds()}, {"cases", cases_}};
  }

 private:
  const std::vector<Arm>& arms_;
  Usage usage_;
  int64_t counts_[3] = {};
  double worst_ratio_ = 0;
  Json worst_;
  std::vector<Json> cases_, failures_;
};

std::string show_mode(const Json& exact) { return exact.get<bool>() ? "exact" : "default"; }
std::string show_ratio(const Json& ratio) {
  return ratio.is_null() ? "NaN" : fmt::format("{:.3f}", ratio.get<double>());
}

void report(const Findings& findings, Output output) {
  if (output == Output::json) return print_json(findings.summary());
  static const std::vector<Column> columns = {{"op", "operation", {}},
                                              {"format", "format", {}},
                                              {"isa", "isa", {}},
                                              {"exact", "mode", show_mode},
                                              {"error_over_bound", "largest error / bound", show_ratio},
                                              {"status", "status", {}}};
  print_rows(output, columns, findings.bounds());
  constexpr size_t kShown = 20;
  const auto& failures = findings.failures();
  for (size_t i = 0; i < std::min(kShown, failures.size()); ++i) {
    const Json& f = failures[i];
    note(fmt::format("{} {} {} {} x {} n {} ({}): {}", f["op"].get<std::string>(), f["format"].get<std::string>(),
                     f["isa"].get<std::string>(), f["rows"].get<int64_t>(), f["cols"].get<int64_t>(),
                     f["n"].get<int64_t>(), f["case"].get<std::string>(), f["reason"].get<std::string>()));
  }
  if (failures.size() > kShown) note(fmt::format("and {} more", failures.size() - kShown));
  note(fmt::format("{} cases passed, {} failed, {} skipped", findings.passed(), findings.failed(), findings.skipped()));
}

int run(const CheckOptions& options) {
  checker::SuiteOptions suite;
  suite.quick = options.quick;
  const auto formats = parse_formats(options.formats);
  if (!formats) return fail(formats.error());
  suite.formats = *formats;
  const auto operations = parse_operations(options.operations);
  if (!operations) return fail(operations.error());
  suite.operations = *operations;
  suite.file_layout_only = options.common.no_repack;
  suite.seed = options.common.seed.value_or(0);
  const auto arms = make_arms(options.common);
  if (!arms) return fail(arms.error());
  std::vector<Backend*> list;
  for (const Arm& arm : *arms) list.push_back(arm.backend.get());

  Findings findings(*arms);
  checker::Placement placement;
  InterruptGuard guard;
  std::optional<Format> shown;
  checker::run_suite(list, suite, placement, [&](const Report& r) {
    if (options.common.verbose && shown != r.subject.format) {
      shown = r.subject.format;
      note(fmt::format("{} …", info(*shown).name));
    }
    findings.add(r);
    return !guard.interrupted();
  });
  if (guard.interrupted()) return kInterrupted;
  report(findings, options.common.output);
  return findings.right() ? kDone : kFailed;
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  add_common_options(app, options->common);
  add_list(app, "--format", options->formats, "formats, separated by commas, or all (default: all)").named("F,…");
  add_list(app, "--op", options->operations, "operations, separated by commas (default: all)").named("O,…");
  add_flag(app, "--quick", options->quick, "fewer shapes, in seconds");
  return [options] { return run(*options); };
}

}  // namespace

extern const Command kCheck;
const Command kCheck = {"check", "check kernels against an oracle in double precision",
                        "  soffit check --quick\n"
                        "  soffit check --format q4_k,q6_k --op linear --isa avx2\n"
                        "  soffit check --exact --output json",
                        declare};

}  // namespace soffit::tool
