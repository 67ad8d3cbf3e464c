// soffit compare: commands measured in turn, and whether they ran the code that they seem to.
#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "compare_sample.hpp"
#include "console.hpp"
#include "interrupt.hpp"
#include "measure/revisions.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace soffit::tool {
namespace {

struct CompareOptions {
  CommonOptions common;
  std::vector<std::string> arms, revisions;
  std::string repository = ".";
  int rounds = 10;
  bool identical = false, generate = false;
};

struct Arm {
  std::string name;
  std::string text;  // of the command
  measure::CommandLine command;
  std::string commit;                    // that must have been built; empty: any
  std::vector<measure::CodeFile> given;  // as they were at first
  std::optional<CommandReport> report;   // of the first run
};

Error in_arm(const Arm& arm, const Error& error) { return {error.code, printable(arm.name) + ": " + error.message}; }

Result<std::vector<Arm>> parse_arms(const std::vector<std::string>& texts) {
  std::vector<Arm> arms;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || name.empty() || name.find_first_of(" \t/'\"") != std::string::npos) {
      return invalid_argument(fmt::format("'{}' is not NAME=COMMAND", printable(text)));
    }
    if (std::ranges::find(arms, name, &Arm::name) != arms.end()) {
      return invalid_argument(fmt::format("two arms have the name '{}'", printable(name)));
    }
    SOFFIT_TRY(auto command, measure::split_command(std::string_view(text).substr(equals + 1)));
    arms.push_back({name, text.substr(equals + 1), std::move(command), "", {}, {}});
  }
  if (arms.size() < 2) return invalid_argument("two or more arms are compared: NAME=COMMAND NAME=COMMAND");
  return arms;
}

// The command in which "soffit" stands for the program of each revision.
constexpr const char* kUsualCommand = "soffit kernels --format q4_k,q6_k,q8_0,tq1_0 --repeat 8 --rotate 500M";

Result<measure::CommandLine> revision_command(const CompareOptions& options) {
  if (options.revisions.size() < 2) return invalid_argument("--ref is given twice or more often");
  if (options.arms.size() > 1) return invalid_argument("with --ref, one command is run in all revisions");
  SOFFIT_TRY(auto command, measure::split_command(options.arms.empty() ? kUsualCommand : options.arms.front()));
  if (std::ranges::find(command.words, "soffit") == command.words.end()) {
    return invalid_argument("with --ref, the command has the word soffit, which stands for each revision's program");
  }
  if (std::ranges::none_of(command.words, [](const std::string& w) { return w.starts_with("--output"); })) {
    command.words.insert(command.words.end(), {"--output", "json"});
  }
  return command;
}

std::vector<Arm> arms_of(const std::vector<measure::BuiltRevision>& builds, const measure::CommandLine& command) {
  std::vector<Arm> arms;
  for (const measure::BuiltRevision& build : builds) {
    Arm arm{build.revision, "", command, build.commit, {}, {}};
    *std::ranges::find(arm.command.words, "soffit") = build.program.string();
    for (const std::string& word : command.words) arm.text += (arm.text.empty() ? "" : " ") + word;
    // The same revision twice, as with --identical.
    if (std::ranges::find(arms, arm.name, &Arm::name) != arms.end()) arm.name += fmt::format(" #{}", arms.size() + 1);
    arms.push_back(std::move(arm));
  }
  return arms;
}

class Compare {
 public:
  Compare(const CompareOptions& options, std::vector<Arm> arms, const InterruptGuard& guard)
      : options_(options), arms_(std::move(arms)), guard_(guard), comparison_(names()) {}

  Status run() {
    ProgressLine line("comparing");
    const size_t runs = size_t(options_.rounds + 1) * arms_.size();
    size_t done = 0;
    // A first run of each arm fills caches and tells which code it is; it is not counted.
    for (Arm& arm : arms_) {
      SOFFIT_CHECK(first_run(arm));
      line.update(++done, runs);
    }
    SOFFIT_CHECK(check_arms());
    for (int round = 0; round < options_.rounds; ++round) {
      for (const size_t i : comparison_.order(round)) {
        SOFFIT_TRY(CommandReport report, watched_run(arms_[i]));
        if (options_.common.verbose) {
          note(fmt::format("round {} of {}: {}: {:.6g} {}", round + 1, options_.rounds, printable(arms_[i].name),
                           report.sample.rows.front().figure, to_string(report.sample.kind)));
        }
        const Status added = comparison_.add(i, std::move(report.sample));
        if (!added) return added.error();
        line.update(++done, runs);
      }
    }
    finish();
    return {};
  }

  Json report() const;
  void print_text() const;

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const Arm& arm : arms_) list.push_back(arm.name);
    return list;
  }

  Result<CommandReport> run_once(const Arm& arm) const {
    const auto run =
        measure::run_child(arm.command, {.directory = {}, .keep_going = [this] { return !guard_.interrupted(); }});
    if (!run) return in_arm(arm, run.error());
    auto report = read_report(*run);
    if (!report) return in_arm(arm, report.error());
    return report;
  }

  Status first_run(Arm& arm) {
    auto files = measure::code_files(arm.command);
    if (!files) return in_arm(arm, files.error());
    arm.given = *std::move(files);
    SOFFIT_TRY(arm.report, run_once(arm));
    for (const std::string& text : arm.report->warnings) add_warning(arm, text);
    if (arm.report->code) {
      std::string unseen;
      const Status loaded = measure::given_is_loaded(arm.command, arm.given, *arm.report->code, unseen);
      if (!loaded) return in_arm(arm, loaded.error());
      if (!unseen.empty()) add_warning(arm, unseen);
    }
    if (!arm.commit.empty()) SOFFIT_CHECK(check_revision(arm));
    if (options_.generate && !arm.report->tokens) {
      return in_arm(arm, {Code::io, "--generate compares tokens, and its JSON has none"});
    }
    return {};
  }

  // The program of --ref says itself that it is the revision, unchanged.
  Status check_revision(const Arm& arm) const {
    const auto& code = arm.report->code;
    if (!code || code->source_sha256.empty()) {
      return in_arm(arm, {Code::io, "the revision's program reports no source hash: nothing shows what was built"});
    }
    if (code->commit != arm.commit) {
      return in_arm(arm, {Code::io, fmt::format("built from commit {}, not {}",
                                                code->commit.empty() ? "unknown" : code->commit, arm.commit)});
    }
    return {};
  }

  Status check_arms() {
    for (size_t b = 1; b < arms_.size(); ++b) {
      for (size_t a = 0; a < b; ++a) SOFFIT_CHECK(check_pair(arms_[a], arms_[b]));
      check_alike(arms_[0], arms_[b]);
    }
    return {};
  }

  Status check_pair(const Arm& a, const Arm& b) {
    std::string same = measure::same_code(a.given, a.report->code, b.given, b.report->code);
    if (same.empty() && !a.commit.empty() && a.report->code->source_sha256 == b.report->code->source_sha256) {
      same = "the same sources";
    }
    if (same.empty()) return {};
    const std::string text = fmt::format("{} and {} are the same code: {}", printable(a.name), printable(b.name), same);
    if (!options_.identical) {
      return Error{Code::io, text + "; --identical compares it with itself, or under different options"};
    }
    warnings_.push_back(text);
    return {};
  }

  // What else than code can make the difference.
  void check_alike(const Arm& a, const Arm& b) {
    const Json &first = a.report->provenance, &second = b.report->provenance;
    if (!first.is_object() || !second.is_object()) return;
    for (const char* key : {"cpu", "isa", "threads", "affinity", "compiler", "flags", "device", "driver"}) {
      const Json one = first.value(key, Json()), two = second.value(key, Json());
      if (one != two) {
        warnings_.push_back(fmt::format("{} and {} differ in {}: {} and {}", printable(a.name), printable(b.name), key,
                                        json_text(one), json_text(two)));
      }
    }
  }

  // Everything that says which code runs is taken again and must be what it was.
  Result<CommandReport> watched_run(const Arm& arm) {
    auto files = measure::code_files(arm.command);
    if (!files) return in_arm(arm, files.error());
    const std::string replaced = measure::difference(arm.given, *files);
    if (!replaced.empty()) return in_arm(arm, {Code::io, "replaced between rounds: " + replaced});
    SOFFIT_TRY(CommandReport report, run_once(arm));
    if (arm.report->code.has_value() != report.code.has_value()) {
      return in_arm(arm, {Code::io, "reports provenance in some rounds only"});
    }
    if (report.code) {
      const std::string changed = measure::difference(*arm.report->code, *report.code);
      if (!changed.empty()) return in_arm(arm, {Code::io, "replaced between rounds: " + changed});
    }
    if (options_.generate && report.tokens != arm.report->tokens) {
      add_warning(arm, "its own tokens differ from run to run: nothing follows from other arms' (--temp 0, --seed)");
    }
    for (const std::string& text : report.warnings) add_warning(arm, text);
    return report;
  }

  void finish() {
    for (const std::string& label : comparison_.other_rows()) {
      warnings_.push_back(fmt::format("not in every arm's report, and left out: {}", printable(label)));
    }
    if (options_.rounds < 6) {
      warnings_.push_back(
          fmt::format("{} rounds: too few for a 95 % interval; smallest and largest are shown", options_.rounds));
    }
    for (const std::string& text : warnings_) warn(text);
  }

  void add_warning(const Arm& arm, const std::string& text) {
    const std::string full = printable(arm.name) + ": " + text;
    if (std::ranges::find(warnings_, full) == warnings_.end()) warnings_.push_back(full);
  }

  // Of the first arm that generates other tokens than the first one; null if none does.
  Json first_difference() const;

  // The rows to be shown: all of them together, and each where there are several.
  std::vector<std::optional<std::string>> labels() const {
    std::vector<std::optional<std::string>> list = {std::nullopt};
    const auto rows = comparison_.common_rows();
    if (rows.size() > 1) list.insert(list.end(), rows.begin(), rows.end());
    return list;
  }

  const CompareOptions& options_;
  std::vector<Arm> arms_;
  const InterruptGuard& guard_;
  measure::Comparison comparison_;
  std::vector<std::string> warnings_;
};

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json Compare::first_difference() const {
  if (!options_.generate) return {};
  const Arm& a = arms_.front();
  for (size_t i = 1; i < arms_.size(); ++i) {
    const Arm& b = arms_[i];
    const auto found = measure::first_difference(*a.report->tokens, *b.report->tokens);
    if (!found) continue;
    const auto gap = [&](const Arm& arm) {
      const auto& gaps = arm.report->top_two_gaps;
      return found->index < gaps.size() ? Json(gaps[found->index]) : Json();
    };
    return {{"arms", {a.name, b.name}},
            {"index", found->index},
            {"tokens", {or_null(found->first), or_null(found->second)}},
            {"top_two_gaps", {gap(a), gap(b)}}};
  }
  return {};
}

Json Compare::report() const {
  Json arms = Json::array(), ratios = Json::array();
  for (size_t i = 0; i < arms_.size(); ++i) {
    Json rows = Json::array();
    for (const auto& label : labels()) {
      const measure::Spread figure = comparison_.figure(i, label);
      const Json spread = {{"median", figure.median}, {"low", figure.low}, {"high", figure.high}};
      if (label) {
        rows.push_back({{"row", *label}});
        rows.back().update(spread);
      } else {
        arms.push_back({{"name", arms_[i].name}, {"command", arms_[i].text}});
        arms.back().update(spread);
      }
      if (i == 0) continue;
      const measure::Spread ratio = comparison_.ratio(0, i, label);
      ratios.push_back({{"arms", {arms_[0].name, arms_[i].name}},
                        {"row", or_null(label)},
                        {"ratio", ratio.median},
                        {"low", ratio.low},
                        {"high", ratio.high}});
    }
    arms.back()["unit"] = to_string(arms_[i].report->sample.kind);
    arms.back()["rows"] = rows;
    arms.back()["provenance"] = arms_[i].report->provenance;
  }
  return {{"arms", arms},
          {"ratios", ratios},
          {"rounds", options_.rounds},
          {"warnings", warnings_},
          {"first_difference", first_difference()}};
}

std::string show_digits(const Json& value) { return fmt::format("{:.5g}", value.get<double>()); }

const std::vector<Column> kColumns = {
    {"name", "arm", {}},
    {"row", "row", {}},
    {"median", "median", show_digits},
    {"low", "10 %", show_digits},
    {"high", "90 %", show_digits},
    {"unit", "", {}},
    {"ratio", "ratio", show_fixed(4)},
    {"ratio_low", "low", show_fixed(4)},
    {"ratio_high", "high", show_fixed(4)},
};

void Compare::print_text() const {
  std::vector<Json> rows;
  for (const auto& label : labels()) {
    for (size_t i = 0; i < arms_.size(); ++i) {
      const measure::Spread figure = comparison_.figure(i, label);
      rows.push_back({{"name", arms_[i].name},
                      {"row", label                 ? *label
                              : labels().size() > 1 ? "all, geometric mean"
                                                    : ""},
                      {"median", figure.median},
                      {"low", figure.low},
                      {"high", figure.high},
                      {"unit", to_string(arms_[i].report->sample.kind)}});
      if (i == 0) continue;
      const measure::Spread ratio = comparison_.ratio(0, i, label);
      rows.back().update({{"ratio", ratio.median}, {"ratio_low", ratio.low}, {"ratio_high", ratio.high}});
    }
  }
  print_rows(options_.common.output, kColumns, rows);
  if (!options_.generate) return;
  const Json found = first_difference();
  const std::string text = found.is_null() ? "all arms generate the same tokens"
                                           : fmt::format("tokens first differ at {}: {}; top two logits apart by {}",
                                                         json_text(found["index"]), json_text(found["tokens"]),
                                                         json_text(found["top_two_gaps"]));
  // csv has no place for it.
  if (options_.common.output == Output::csv) {
    note(text);
  } else {
    print("\n" + text + "\n");
  }
}

int compare_arms(const CompareOptions& options, std::vector<Arm> arms, const InterruptGuard& guard) {
  Compare compare(options, std::move(arms), guard);
  if (const Status done = compare.run(); !done) return fail(done.error());
  if (options.common.output == Output::json) {
    print_json(compare.report());
  } else {
    compare.print_text();
  }
  return kDone;
}

int compare(const CompareOptions& options) {
  InterruptGuard guard;
  if (options.revisions.empty()) {
    auto arms = parse_arms(options.arms);
    if (!arms) return fail(arms.error());
    return compare_arms(options, *std::move(arms), guard);
  }
  const auto command = revision_command(options);
  if (!command) return fail(command.error());
  const auto builds =
      measure::RevisionBuilds::create(options.revisions, {.repository = options.repository,
                                                          .keep_going = [&] { return !guard.interrupted(); },
                                                          .on_step = [](std::string_view what) { note(what); }});
  if (!builds) return fail(builds.error());
  return compare_arms(options, arms_of(builds->builds(), *command), guard);
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  add_common_options(app, options->common);
  add_arguments(app, "arms", options->arms, "what is compared; with --ref, one COMMAND for all revisions")
      .named("NAME=COMMAND");
  add_whole(app, "--rounds", options->rounds, "samples of each arm (default: 10)", 1, 100'000);
  add_flag(app, "--identical", options->identical, "arms may be the same code");
  add_flag(app, "--generate", options->generate, "compare the tokens of the arms' JSON too");
  add_repeated(app, "--ref", options->revisions, "git revision to build and compare; given twice or more often")
      .named("REV");
  add_text(app, "--repository", options->repository, "where the revisions are (default: the current directory)")
      .named("DIR");
  return [options] { return compare(*options); };
}

}  // namespace

extern const Command kCompare;
const Command kCompare = {
    "compare", "commands measured in turn, round after round; and that they run the code they seem to",
    "  soffit compare old='old/soffit bench -m model.gguf --output json' \\\n"
    "                 new='new/soffit bench -m model.gguf --output json'\n"
    "  soffit compare --identical avx2='soffit kernels --isa avx2 --output json' \\\n"
    "                 avx512='soffit kernels --isa avx512 --output json'\n"
    "  soffit compare --ref main --ref HEAD 'soffit kernels --format q4_k'\n"
    "Commands run without a shell; for one, write sh -c '…'. The program itself is named in the command.",
    declare};

}  // namespace soffit::tool
