// The file that carries a base model's log-probabilities to a later comparison. The format is llama.cpp's
// (--kl-divergence-base), so that either program reads what the other wrote:
//
//   "_logits_"  u32 window  i32 vocabulary  i32 chunks  i32 token[chunks * window]
//   for each scored token: f32 step  f32 least  u16 code[vocabulary, rounded up to even]
//
// A log-probability is least + step * code; what is 16 or more below the largest is least.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "core/output_file.hpp"
#include "model/perplexity.hpp"

namespace soffit::model {

struct BaseHeader {
  int64_t window = 0, vocabulary = 0, chunks = 0;
  std::vector<int32_t> tokens;  // of all windows, as the text has them
};

// The file appears, or replaces another, with finish().
class BaseWriter {
 public:
  static Result<BaseWriter> create(const std::filesystem::path& path, const BaseHeader& header);
  Status add(std::span<const float> logits, const LogSoftmax& log_softmax);
  Status finish() { return file_.commit(); }

 private:
  explicit BaseWriter(OutputFile file) : file_(std::move(file)) {}
  OutputFile file_;
  std::vector<uint16_t> row_;
};

class BaseReader {
 public:
  static Result<BaseReader> open(const std::filesystem::path& path);
  const BaseHeader& header() const { return header_; }
  // Reads the next position and compares: the divergence of `model` from the base, and whether both have the same top.
  struct Comparison {
    double divergence = 0;
    bool same_top = false;
  };
  Result<Comparison> compare(const LogSoftmax& model);

 private:
  std::filesystem::path path_;
  std::ifstream stream_;
  BaseHeader header_;
  std::vector<uint16_t> row_;
};

}  // namespace soffit::model
