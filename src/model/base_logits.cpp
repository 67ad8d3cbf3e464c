#include "model/base_logits.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <system_error>

namespace soffit::model {
namespace {

constexpr std::string_view kMagic = "_logits_";
constexpr float kDepth = 16.0f;   // natural logarithms below the largest that are told apart
constexpr size_t kRowHeader = 4;  // two floats, in 16-bit units

size_t row_length(int64_t vocabulary) { return size_t(vocabulary + 1) / 2 * 2 + kRowHeader; }

bool take(std::ifstream& stream, std::span<std::byte> bytes) {
  stream.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()));
  return bool(stream);
}

Error truncated(const std::filesystem::path& path) { return invalid_file("'" + path.string() + "' ends too early"); }

}  // namespace

Result<BaseWriter> BaseWriter::create(const std::filesystem::path& path, const BaseHeader& header) {
  SOFFIT_TRY(OutputFile file, OutputFile::create(path));
  BaseWriter writer(std::move(file));
  const int32_t numbers[] = {int32_t(header.window), int32_t(header.vocabulary), int32_t(header.chunks)};
  SOFFIT_CHECK(writer.file_.write(std::as_bytes(std::span(kMagic))));
  SOFFIT_CHECK(writer.file_.write(std::as_bytes(std::span(numbers))));
  SOFFIT_CHECK(writer.file_.write(std::as_bytes(std::span(header.tokens))));
  writer.row_.resize(row_length(header.vocabulary));
  return writer;
}

Status BaseWriter::add(std::span<const float> logits, const LogSoftmax& log_softmax) {
  const float least = std::max(*std::ranges::min_element(logits), log_softmax.largest() - kDepth);
  const float step = (log_softmax.largest() - least) / 65535.0f;
  const float least_log_probability = float(log_softmax[log_softmax.top()] - double(log_softmax.largest() - least));
  std::memcpy(row_.data(), &step, sizeof step);
  std::memcpy(row_.data() + 2, &least_log_probability, sizeof least_log_probability);
  for (size_t i = 0; i < logits.size(); i++) {
    const float code = std::nearbyint((logits[i] - least) / step);
    row_[kRowHeader + i] = code > 0 ? uint16_t(std::min(code, 65535.0f)) : uint16_t(0);  // 0 where it is NaN
  }
  return file_.write(std::as_bytes(std::span(row_)));
}

Result<BaseReader> BaseReader::open(const std::filesystem::path& path) {
  BaseReader reader;
  reader.path_ = path;
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (!error) reader.stream_.open(path, std::ios::binary);
  if (error || !reader.stream_) return Error{Code::io, "cannot open '" + path.string() + "'"};
  char magic[kMagic.size()];
  uint32_t numbers[3];
  if (!take(reader.stream_, std::as_writable_bytes(std::span(magic))) ||
      !take(reader.stream_, std::as_writable_bytes(std::span(numbers))))
    return truncated(path);
  if (std::string_view(magic, sizeof magic) != kMagic) {
    return invalid_file("'" + path.string() + "' is no file of saved logits");
  }
  BaseHeader& header = reader.header_;
  header = {numbers[0], numbers[1], numbers[2], {}};
  // The file has room for the tokens and a row at least: nothing is allocated that it lacks. Factors are below 2^32.
  const uint64_t rest = size - kMagic.size() - sizeof numbers;
  if (header.window < 4 || header.vocabulary < 1 || header.chunks < 1 || header.vocabulary > kMaxVocabulary ||
      uint64_t(header.window) > rest / 4 / uint64_t(header.chunks) ||
      row_length(header.vocabulary) > (rest - uint64_t(header.window * header.chunks) * 4) / 2) {
    return invalid_file("'" + path.string() + "' says " + std::to_string(header.chunks) + " windows of " +
                        std::to_string(header.window) + " tokens and a vocabulary of " +
                        std::to_string(header.vocabulary) + ", in " + std::to_string(size) + " bytes");
  }
  header.tokens.resize(size_t(header.window * header.chunks));
  if (!take(reader.stream_, std::as_writable_bytes(std::span(header.tokens)))) return truncated(path);
  reader.row_.resize(row_length(header.vocabulary));
  return reader;
}

Result<BaseReader::Comparison> BaseReader::compare(const LogSoftmax& model) {
  if (!take(stream_, std::as_writable_bytes(std::span(row_)))) return truncated(path_);
  float step = 0, least = 0;
  std::memcpy(&step, row_.data(), sizeof step);
  std::memcpy(&least, row_.data() + 2, sizeof least);
  const auto codes = std::span(row_).subspan(kRowHeader, size_t(header_.vocabulary));
  Comparison comparison;
  for (size_t i = 0; i < codes.size(); i++) {
    const double base = double(least) + double(step) * codes[i];
    if (base > -double(kDepth)) comparison.divergence += std::exp(base) * (base - model[i]);
  }
  comparison.same_top = size_t(std::ranges::max_element(codes) - codes.begin()) == model.top();
  return comparison;
}

}  // namespace soffit::model
