// soffit inspect: what is in a GGUF file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>

#include "command.hpp"
#include "console.hpp"
#include "core/topology.hpp"
#include "json_printer.hpp"
#include "metadata_text.hpp"
#include "open_file.hpp"
#include "options.hpp"
#include "soffit/gguf.hpp"
#include "tensor_check.hpp"

namespace soffit::tool {
namespace {

struct InspectOptions {
  CommonOptions common;
  std::string file;
  bool tensors = false, check = false;
};

Json tensor_json(const gguf::File& file, const gguf::Tensor& tensor) {
  Json row = {{"name", std::string(tensor.name)},
              {"format", std::string(tensor.format->name)},
              {"shape", tensor.shape},
              {"bytes", tensor.bytes.size()},
              {"offset", tensor.file_offset}};
  if (file.parts() > 1) row["part"] = tensor.part + 1;
  return row;
}

std::vector<Json> format_rows(const gguf::File& file) {
  struct Sum {
    uint64_t tensors = 0, bytes = 0;
  };
  std::map<uint32_t, Sum> sums;
  for (const gguf::Tensor& tensor : file.tensors()) {
    Sum& sum = sums[tensor.type_id];
    sum.tensors++;
    sum.bytes += tensor.bytes.size();
  }
  std::vector<Json> rows;
  for (const auto& [id, sum] : sums) {
    const FormatInfo& format = *find_format(id);
    rows.push_back({{"format", std::string(format.name)},
                    {"tensors", sum.tensors},
                    {"bytes", sum.bytes},
                    {"bits_per_weight", 8.0 * format.block_bytes / format.block_elements}});
  }
  return rows;
}

std::vector<Json> fault_rows(const TensorCheck& check) {
  std::vector<Json> rows;
  for (const NonFinite& fault : check.faults) {
    rows.push_back({{"tensor", std::string(fault.tensor->name)},
                    {"fault", "NaN or infinity"},
                    {"values", fault.values},
                    {"blocks", fault.blocks},
                    {"first_block", fault.first_block}});
  }
  return rows;
}

// What the file says it is, else null.
Json architecture(const gguf::File& file) {
  const gguf::Value* value = file.find("general.architecture");
  const auto text = value ? value->as_string() : Result<std::string_view>(invalid_file(""));
  return text ? Json(std::string(*text)) : Json();
}

uint64_t parameters(const gguf::File& file) {
  uint64_t sum = 0;
  for (const gguf::Tensor& tensor : file.tensors()) sum += uint64_t(tensor.elements());
  return sum;
}

std::string file_name(const gguf::File& file) { return std::filesystem::path(file.name()).filename().string(); }

void print_as_json(const gguf::File& file, const std::optional<TensorCheck>& check) {
  JsonPrinter json;
  json.member("file", file_name(file));
  json.member("version", file.version());
  json.member("architecture", architecture(file));
  json.member("parameters", parameters(file));
  json.member("bytes", file.size_bytes());
  json.member("parts", file.parts());
  json.member("alignment", file.alignment());
  json.begin_object("metadata");
  for (const gguf::KeyValue& entry : file.metadata()) json.member(entry.key, to_json(entry.value));
  json.end();
  json.begin_array("tensors");
  for (const gguf::Tensor& tensor : file.tensors()) json.element(tensor_json(file, tensor));
  json.end();
  json.begin_array("formats");
  for (const Json& row : format_rows(file)) json.element(row);
  json.end();
  json.member("checked", check.has_value());
  json.begin_array("unchecked");
  if (check) {
    for (const gguf::Tensor* tensor : check->unchecked) json.element(std::string(tensor->name));
  }
  json.end();
  json.begin_array("faults");
  if (check) {
    for (const Json& row : fault_rows(*check)) json.element(row);
  }
  json.end();
  json.end();
}

std::string show_shape(const Json& shape) {
  std::string text;
  for (const Json& dimension : shape) text += (text.empty() ? "" : " × ") + dimension.dump();
  return text.empty() ? "scalar" : text;
}

void print_metadata(const gguf::File& file, Output output) {
  constexpr size_t kColumns = 72;
  const std::vector<Column> columns = {{"key", "key", {}}, {"type", "type", {}}, {"value", "value", {}}};
  std::vector<Json> rows;
  for (const gguf::KeyValue& entry : file.metadata()) {
    rows.push_back({{"key", std::string(entry.key)},
                    {"type", type_text(entry.value)},
                    {"value", value_text(entry.value, kColumns)}});
  }
  print_rows(output, columns, rows);
}

void print_tensors(const gguf::File& file, Output output) {
  std::vector<Column> columns = {{"name", "tensor", {}},
                                 {"format", "format", {}},
                                 {"shape", "shape", show_shape},
                                 {"bytes", "bytes", show_grouped},
                                 {"offset", "offset", {}}};
  if (file.parts() > 1) columns.push_back({"part", "part", {}});
  std::vector<Json> rows;
  for (const gguf::Tensor& tensor : file.tensors()) rows.push_back(tensor_json(file, tensor));
  print_rows(output, columns, rows);
}

void print_formats(const gguf::File& file, Output output) {
  const std::vector<Column> columns = {{"format", "format", {}},
                                       {"tensors", "tensors", {}},
                                       {"bytes", "size", show_bytes},
                                       {"bits_per_weight", "bits a weight", {}}};
  print_rows(output, columns, format_rows(file));
}

void print_faults(const TensorCheck& check, Output output) {
  const std::vector<Column> columns = {{"tensor", "tensor", {}},
                                       {"fault", "fault", {}},
                                       {"values", "values", {}},
                                       {"blocks", "blocks", {}},
                                       {"first_block", "first block", {}}};
  print_rows(output, columns, fault_rows(check));
}

void print_as_text(const gguf::File& file, const InspectOptions& options, const std::optional<TensorCheck>& check) {
  const Output output = options.common.output;
  const Json architecture_name = architecture(file);
  print(fmt::format("{}: GGUF version {}, {}, {} parameters, {}{}\n\n", printable(file_name(file)), file.version(),
                    architecture_name.is_null() ? "no architecture"
                                                : "architecture " + printable(architecture_name.get<std::string>()),
                    show_grouped(parameters(file)), show_bytes(file.size_bytes()),
                    file.parts() > 1 ? fmt::format(" in {} parts", file.parts()) : ""));
  print_metadata(file, output);
  print("\n");
  if (options.tensors) {
    print_tensors(file, output);
    print("\n");
  }
  print_formats(file, output);
  if (!check) return;
  print("\n");
  const size_t checked = file.tensors().size() - check->unchecked.size();
  if (check->faults.empty()) {
    print(fmt::format("{} tensors checked, no faults\n", checked));
  } else {
    print_faults(*check, output);
  }
}

int inspect(const InspectOptions& options) {
  const auto file = open_file(options.file);
  if (!file) return fail(file.error());
  std::optional<TensorCheck> check;
  if (options.check) {
    const int threads = options.common.threads ? options.common.threads : default_threads();
    check = check_tensors(**file, threads);
    for (const gguf::Tensor* tensor : check->unchecked) {
      warn(
          fmt::format("tensor {} is not checked: {} cannot be decoded", printable(tensor->name), tensor->format->name));
    }
  }
  switch (options.common.output) {
    case Output::json:
      print_as_json(**file, check);
      break;
    case Output::csv:  // one table: the one that was asked for
      if (options.check) {
        print_faults(*check, Output::csv);
      } else if (options.tensors) {
        print_tensors(**file, Output::csv);
      } else {
        print_formats(**file, Output::csv);
      }
      break;
    case Output::text:
    case Output::md:
      print_as_text(**file, options, check);
      break;
  }
  return check && !check->faults.empty() ? kFailed : kDone;
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  add_path(app, "file", options->file, "GGUF file; any part of a split one");
  add_flag(app, "--tensors", options->tensors, "list every tensor");
  add_flag(app, "--check", options->check,
           "decode every tensor and look for NaN and infinity; exit code 1 if there are");
  add_common_options(app, options->common);
  return [options] {
    const std::string& model = options->common.model;
    if (options->file.empty() == model.empty()) {
      return usage_error(model.empty() ? "inspect needs a file" : "inspect takes one file: FILE or -m FILE, not both");
    }
    if (options->file.empty()) options->file = model;
    return inspect(*options);
  };
}

}  // namespace

extern const Command kInspect;
const Command kInspect = {
    .name = "inspect",
    .summary = "what is in a GGUF file",
    .examples =
        "  soffit inspect model.gguf                     metadata, and bytes by format\n"
        "  soffit inspect model.gguf --tensors           every tensor too\n"
        "  soffit inspect model.gguf --check             decode everything; exit code 1 on NaN or infinity\n"
        "  soffit inspect model.gguf --tensors --output csv > tensors.csv\n"
        "  soffit inspect model.gguf --output json | jq .metadata",
    .declare = declare,
};

}  // namespace soffit::tool
