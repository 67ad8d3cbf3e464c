// The options that all commands share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "option_values.hpp"

namespace soffit::tool {

enum class Output { text, md, csv, json };

struct CommonOptions {
  std::string model;  // -m; empty when not given
  int threads = 0;    // 0: the cores the process may use
  std::string backend = "cpu";
  std::string isa = "auto";
  int device = 0;
  int gpu_layers = -1;  // -1: all
  bool no_repack = false;
  bool exact = false;
  std::optional<uint64_t> seed;
  bool verbose = false;
  Output output = Output::text;
};

// Those of the contract, and what else is built in.
const std::vector<std::string>& backend_names();
// Declares all of them. `options` must live until the command has run.
void add_common_options(CLI::App& app, CommonOptions& options);
// The same, and -m must be given.
void add_common_options_with_model(CLI::App& app, CommonOptions& options);

// The command line with single-dash words such as -ngl and -cnv, which CLI11 would read as a row of letters, replaced
// by --ngl and --cnv.
std::vector<std::string> normalised_arguments(int argc, const char* const* argv);

}  // namespace soffit::tool
