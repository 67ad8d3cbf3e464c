// The two real model files and what golden/make_golden.py wrote down about them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/generator.hpp"
#include "models.hpp"
#include "runs.hpp"
#include "text/load_tokenizer.hpp"

namespace soffit::test {

using Json = nlohmann::json;

struct RealModel {
  std::shared_ptr<const gguf::File> file;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<const model::Model> model;
};

inline RealModel load_real(const std::filesystem::path& path, const BackendOptions& options = {},
                           Layout layout = Layout::automatic, std::string_view backend = "cpu") {
  RealModel real;
  real.file = take(gguf::File::open(path));
  real.tokenizer = take(text::load_tokenizer(*real.file));
  real.backend = take(create_backend(backend, options));
  real.model = take(model::Model::load(real.file, *real.backend, {layout, {}}));
  return real;
}

inline model::Generation greedy(const RealModel& real, const std::string& prompt, int64_t count) {
  auto session = take(model::Session::create(*real.model, {.context = 256, .batch = 64}));
  auto sampler = take(text::Sampler::create({.temperature = 0}));
  model::Generator generator(*session, *real.tokenizer, sampler);
  const auto tokens = take(real.tokenizer->encode(prompt, {.add_special = true, .parse_special = true}));
  return take(generator.generate(tokens, {.max_tokens = count}));
}

inline Json golden(const std::string& name) {
  std::ifstream file(std::string(SOFFIT_GOLDEN_DIR) + "/" + name + ".json");
  return Json::parse(file);
}

// A test of each real file by the name of its golden numbers; skipped where the file is not there.
template <class Parameter>
class RealFileTest : public testing::TestWithParam<Parameter> {
 protected:
  void open(const std::string& name) {
    golden_ = golden(name);
    const std::string file = golden_["file"];
    path_ = gguf::test::find_model(file);
    if (!path_) GTEST_SKIP() << "no model: " << file << " (SOFFIT_TEST_MODEL_DIR)";
  }
  Json golden_;
  std::optional<std::filesystem::path> path_;
};

}  // namespace soffit::test
