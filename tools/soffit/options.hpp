// The options that all commands share, and the ways in which numbers are written on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"

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

// Declares all of them. `options` must live until the command has run.
void add_common_options(CLI::App& app, CommonOptions& options);
// The same, and -m must be given.
void add_common_options_with_model(CLI::App& app, CommonOptions& options);

// "4096", "512K", "1.5M", "2G": K, M and G are powers of 1000, in either case. The value must be a whole number.
Result<int64_t> parse_size(std::string_view text);

// An option whose value is a size; a list takes several, separated by commas ("1,512,4K").
CLI::Option* add_size(CLI::App& app, const std::string& names, int64_t& value, const std::string& description);
CLI::Option* add_sizes(CLI::App& app, const std::string& names, std::vector<int64_t>& values,
                       const std::string& description);

// The command line with single-dash words such as -ngl and -cnv, which CLI11 would read as a row of letters, replaced
// by
// --ngl and --cnv.
std::vector<std::string> normalised_arguments(int argc, const char* const* argv);

}  // namespace soffit::tool
