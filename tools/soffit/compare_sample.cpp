#include "compare_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace soffit::tool {
namespace {

const Json& member(const Json& object, const char* key) {
  static const Json missing;
  if (!object.is_object()) return missing;
  const auto found = object.find(key);
  return found == object.end() ? missing : *found;
}

std::string text_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::vector<measure::FileHash> files_of(const Json& list) {
  std::vector<measure::FileHash> files;
  if (!list.is_array()) return files;
  for (const Json& file : list) files.push_back({text_of(file, "name"), text_of(file, "sha256")});
  return files;
}

std::optional<measure::ReportedCode> code_of(const Json& provenance) {
  if (!provenance.is_object()) return std::nullopt;
  return measure::ReportedCode{.source_sha256 = text_of(provenance, "source_sha256"),
                               .executable_sha256 = text_of(provenance, "executable_sha256"),
                               .compiler = text_of(provenance, "compiler"),
                               .flags = text_of(provenance, "flags"),
                               .commit = text_of(provenance, "commit"),
                               .libraries = files_of(member(provenance, "libraries")),
                               .shaders = files_of(member(provenance, "shaders"))};
}

// What was measured, without how: arms that differ in threads or instruction set still have the same rows.
std::string label_of(const Json& row) {
  static constexpr std::array kMembers = {"op",   "format", "test",    "depth", "rows",
                                          "cols", "n",      "experts", "used",  "activations"};
  std::string label;
  for (const char* key : kMembers) {
    const Json& value = member(row, key);
    if (value.is_null()) continue;
    const std::string text = value.is_string() ? value.get<std::string>() : fmt::format("{} {}", key, json_text(value));
    label += (label.empty() ? "" : ", ") + text;
  }
  return label;
}

std::optional<double> number(const Json& row, const char* key) {
  const Json& value = member(row, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

// The rows that have a figure of this kind.
std::vector<measure::Row> rows_of(const std::vector<const Json*>& objects, measure::FigureKind kind) {
  std::vector<measure::Row> rows;
  std::map<std::string, int> seen;
  for (const Json* object : objects) {
    const bool tokens = kind == measure::FigureKind::tokens_per_second;
    const auto value = number(*object, tokens ? "tokens_per_second" : "seconds");
    if (!value) continue;
    std::string label = objects.size() > 1 ? label_of(*object) : "";
    // Such as the same test of several models: told apart by their order.
    if (const int before = seen[label]++) label += fmt::format(" #{}", before + 1);
    rows.push_back({std::move(label), tokens ? *value : 1 / *value});
  }
  return rows;
}

Status read_code(const std::vector<const Json*>& objects, CommandReport& report) {
  for (const Json* object : objects) {
    const Json& provenance = member(*object, "provenance");
    const auto code = code_of(provenance);
    if (!code) continue;
    if (!report.code) {
      report.code = code;
      report.provenance = provenance;
    } else if (const std::string text = measure::difference(*report.code, *code); !text.empty()) {
      return Error{Code::io, "the rows of one report come from different code: " + text};
    }
  }
  return {};
}

template <class T>
std::vector<T> numbers(const Json& list) {
  std::vector<T> values;
  for (const Json& value : list) {
    if (!value.is_number()) return {};
    values.push_back(value.get<T>());
  }
  return values;
}

}  // namespace

Result<CommandReport> read_report(const measure::ChildResult& run) {
  CommandReport report;
  const Json json = Json::parse(run.out, nullptr, false);
  std::vector<const Json*> objects;
  if (json.is_object()) objects.push_back(&json);
  if (json.is_array()) {
    for (const Json& element : json) {
      if (element.is_object()) objects.push_back(&element);
    }
  }
  SOFFIT_CHECK(read_code(objects, report));
  bool noisy = false;
  for (const Json* object : objects) {
    if (member(*object, "checked") == Json(false)) {
      return Error{Code::io, fmt::format("wrong results (checked: false) in {}", label_of(*object))};
    }
    noisy = noisy || member(*object, "noisy") == Json(true);
  }
  if (noisy) report.warnings.push_back("says itself that its figures are noisy");
  for (const auto kind : {measure::FigureKind::tokens_per_second, measure::FigureKind::per_second}) {
    report.sample = {kind, rows_of(objects, kind)};
    if (!report.sample.rows.empty()) break;
  }
  if (report.sample.rows.empty()) {
    report.sample = {measure::FigureKind::per_wall_second, {{"", 1 / run.seconds}}};
    report.warnings.push_back(objects.empty()
                                  ? "writes no JSON: its wall time, from start to end, is compared"
                                  : "gives neither tokens_per_second nor seconds: its wall time is compared");
  }
  if (!report.code) {
    report.warnings.push_back("reports no provenance: only the files that the command gives are watched");
  }
  if (const Json& tokens = member(json, "tokens"); tokens.is_array()) report.tokens = numbers<int64_t>(tokens);
  if (const Json& gaps = member(json, "top_two_gaps"); gaps.is_array()) report.top_two_gaps = numbers<double>(gaps);
  return report;
}

}  // namespace soffit::tool
