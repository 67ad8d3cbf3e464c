// soffit_logits: the logits of given token sequences, for comparison with the numpy reference. Its interface is that of
// tests/reference/run_reference.py; --backend plain computes every operation by its definition.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "model/model.hpp"
#include "model/session.hpp"
#include "plain_backend.hpp"

namespace {

using namespace soffit;
using Json = nlohmann::json;
using Sequences = std::vector<std::vector<int32_t>>;

struct Options {
  std::string file, cache = "f16", backend = "cpu";
  BackendOptions backend_options;
  bool no_repack = false;
};

// Positions of each sequence that one step takes.
size_t step_length(const Json& request) {
  const std::string mode = request.at("mode");
  if (mode == "batch") return SIZE_MAX;
  return mode == "single" ? 1 : request.at("chunk").get<size_t>();
}

Result<std::unique_ptr<Backend>> make_backend(const Options& options) {
  if (options.backend == "plain") return test::make_plain_backend();
  return create_backend(options.backend, options.backend_options);
}

// Adds a step's logits to the answer.
Status step(model::Session& session, const Sequences& sequences, size_t length, Json& answer) {
  std::vector<model::BatchRow> rows;
  for (size_t i = 0; i < length; i++) {
    for (size_t s = 0; s < sequences.size(); s++) {
      const size_t position = size_t(session.length(int64_t(s))) + i;
      if (position < sequences[s].size()) {
        rows.push_back({sequences[s][position], int32_t(s), int32_t(position)});
      }
    }
  }
  std::vector<int32_t> wanted;
  for (size_t i = 0; i < rows.size(); i++) wanted.push_back(int32_t(i));
  SOFFIT_TRY(const auto logits, session.decode(rows, wanted));
  const size_t vocabulary = logits.size() / rows.size();
  for (size_t i = 0; i < rows.size(); i++) {
    const auto row = logits.subspan(i * vocabulary, vocabulary);
    answer[size_t(rows[i].sequence)].push_back(std::vector<float>(row.begin(), row.end()));
  }
  return {};
}

Result<Json> answer(const Options& options, const Json& request) {
  const Sequences sequences = request.at("sequences").get<Sequences>();
  size_t longest = 0, total = 0;
  for (const auto& sequence : sequences) {
    longest = std::max(longest, sequence.size());
    total += sequence.size();
  }
  SOFFIT_TRY(auto file, gguf::File::open(options.file));
  SOFFIT_TRY(auto backend, make_backend(options));
  SOFFIT_TRY(auto model,
             model::Model::load(file, *backend, {options.no_repack ? Layout::file : Layout::automatic, {}}));
  const DataType type = options.cache == "f32" ? DataType::f32 : DataType::f16;
  SOFFIT_TRY(auto session, model::Session::create(*model, {int64_t(longest), int64_t(total), int64_t(total),
                                                           int64_t(sequences.size()), type, false}));
  Json logits(sequences.size(), Json::array());
  const size_t length = std::min(step_length(request), longest);
  for (size_t begin = 0; begin < longest; begin += length) SOFFIT_CHECK(step(*session, sequences, length, logits));
  return logits;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Logits of token sequences, as JSON.");
  app.add_option("file", options.file)->required();
  app.add_option("--cache", options.cache)->check(CLI::IsMember({"f32", "f16"}));
  app.add_option("--backend", options.backend);
  app.add_option("--isa", options.backend_options.isa);
  app.add_option("-t,--threads", options.backend_options.threads);
  app.add_flag("--exact", options.backend_options.exact);
  app.add_flag("--no-repack", options.no_repack);
  CLI11_PARSE(app, argc, argv);
  try {
    const auto logits = answer(options, Json::parse(std::cin));
    if (!logits) {
      std::fprintf(stderr, "%s\n", logits.error().message.c_str());
      return 1;
    }
    std::cout << Json{{"logits", *logits}} << "\n";
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
