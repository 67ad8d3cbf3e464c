// Running synthetic models in tests. What fails here ends the test with the message.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/session.hpp"
#include "model_file.hpp"
#include "plain_backend.hpp"

namespace soffit::test {

template <class T>
T take(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}
inline void expect_ok(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

// A model and the backend it is on.
struct LoadedFile {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<const model::Model> model;
};
inline LoadedFile load(const ModelFile& file, std::unique_ptr<Backend> backend = make_plain_backend(),
                       const model::LoadOptions& options = {}) {
  LoadedFile loaded{std::move(backend), nullptr};
  loaded.model = take(model::Model::load(file.open(), *loaded.backend, options));
  return loaded;
}

// The logits after each of the tokens, run in one batch.
inline std::vector<float> logits_of(const model::Model& model, const std::vector<int32_t>& tokens) {
  const auto count = int64_t(tokens.size());
  auto session = take(model::Session::create(model, {count, count, count, 1, DataType::f32, false}));
  std::vector<model::BatchRow> rows;
  std::vector<int32_t> wanted;
  for (int32_t i = 0; i < int32_t(tokens.size()); i++) {
    rows.push_back({tokens[size_t(i)], 0, i});
    wanted.push_back(i);
  }
  const auto logits = take(session->decode(rows, wanted));
  return {logits.begin(), logits.end()};
}

}  // namespace soffit::test
