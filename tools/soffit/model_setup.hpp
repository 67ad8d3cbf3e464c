// From the common options to a model that runs: file, backend, weights, tokenizer.
#pragma once

#include <memory>
#include <string>

#include "model/model.hpp"
#include "options.hpp"
#include "soffit/backend.hpp"
#include "soffit/gguf.hpp"
#include "text/tokenizer.hpp"

namespace soffit::tool {

struct LoadedModel {
  std::shared_ptr<const gguf::File> file;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<const model::Model> model;
  double seconds = 0;  // that all this took
};

// `path` instead of options.model. Progress of a slow load and warnings go to stderr. Ctrl-C cancels.
Result<LoadedModel> load_model(const CommonOptions& options, const std::string& path);
Result<std::unique_ptr<Backend>> make_backend(const CommonOptions& options);

// The names of the layouts that the weights are in, most bytes first: "q4_1_x16,q8_0_x16".
std::string layout_names(const model::Model& model);
uint64_t peak_resident_bytes();

}  // namespace soffit::tool
