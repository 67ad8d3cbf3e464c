#include "check/arrays.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "core/half.hpp"

namespace soffit::checker {
namespace {

constexpr auto kUntouched = std::byte{0xff};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace

void store_element(DataType type, double value, std::byte* to) {
  const auto f = float(value);
  const auto put = [&](auto bits) { std::memcpy(to, &bits, sizeof bits); };
  switch (type) {
    case DataType::f32:
      return put(f);
    case DataType::f16:
      return put(float_to_half(f));
    case DataType::bf16:
      return put(float_to_bfloat(f));
    case DataType::i32:
      return put(int32_t(value));
  }
}

double load_element(DataType type, const std::byte* from) {
  const auto get = [&]<class T>(T bits) {
    std::memcpy(&bits, from, sizeof bits);
    return bits;
  };
  switch (type) {
    case DataType::f32:
      return get(0.0f);
    case DataType::f16:
      return half_to_float(get(uint16_t(0)));
    case DataType::bf16:
      return bfloat_to_float(get(uint16_t(0)));
    case DataType::i32:
      return get(int32_t(0));
  }
  return NAN;
}

Result<InputArray> InputArray::create(Backend& backend, Placement& placement, const ArrayShape& shape,
                                      std::span<const float> values) {
  InputArray array;
  array.shape_ = shape;
  std::vector<std::byte> bytes(shape.bytes(), kUntouched);
  for (int64_t i = 0; i < shape.rows; ++i)
    for (int64_t j = 0; j < shape.cols; ++j)
      store_element(shape.type, values[size_t(i * shape.cols + j)],
                    bytes.data() + (i * shape.stride() + j) * size_of(shape.type));
  SOFFIT_TRY(array.buffer_, placement.buffer(backend, bytes.size()));
  SOFFIT_CHECK(array.buffer_->write(0, bytes));
  return array;
}

Result<InputArray> InputArray::create(Backend& backend, Placement& placement, std::span<const int32_t> values,
                                      int64_t rows, int64_t cols) {
  InputArray array;
  array.shape_ = {DataType::i32, rows, cols, 0};
  SOFFIT_TRY(array.buffer_, placement.buffer(backend, values.size_bytes()));
  SOFFIT_CHECK(array.buffer_->write(0, std::as_bytes(values)));
  return array;
}

Result<ResultArray> ResultArray::create(Backend& backend, Placement& placement, const ArrayShape& shape) {
  ResultArray array;
  array.shape_ = shape;
  array.margin_ = placement.margin();
  const std::vector<std::byte> bytes(shape.bytes() + 2 * array.margin_, kUntouched);
  SOFFIT_TRY(array.buffer_, placement.buffer(backend, bytes.size()));
  SOFFIT_CHECK(array.buffer_->write(0, bytes));
  return array;
}

Status ResultArray::set(std::span<const float> values) const {
  std::byte element[8];
  const auto size = uint64_t(size_of(shape_.type));
  for (int64_t i = 0; i < shape_.rows; ++i)
    for (int64_t j = 0; j < shape_.cols; ++j) {
      store_element(shape_.type, values[size_t(i * shape_.cols + j)], element);
      SOFFIT_CHECK(buffer_->write(margin_ + uint64_t(i * shape_.stride() + j) * size, {element, size}));
    }
  return {};
}

Result<std::vector<double>> ResultArray::read() const {
  std::vector<std::byte> bytes(shape_.bytes() + 2 * margin_);
  SOFFIT_CHECK(buffer_->read(0, bytes));
  std::vector<double> values;
  values.reserve(size_t(shape_.rows * shape_.cols));
  const auto size = size_of(shape_.type);
  for (int64_t i = 0; i < shape_.rows; ++i) {
    std::byte* row = bytes.data() + margin_ + i * shape_.stride() * size;
    for (int64_t j = 0; j < shape_.cols; ++j) values.push_back(load_element(shape_.type, row + j * size));
    std::memset(row, int(kUntouched), size_t(shape_.cols * size));
  }
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != kUntouched)
      return Error{Code::internal, "byte " + std::to_string(int64_t(i) - int64_t(margin_)) +
                                       " of the results was written, which is outside them"};
  return values;
}

Outcome ResultArray::compare(std::span<const Value> expected) const {
  const auto values = read();
  if (!values) return Outcome::failure(values.error().message);
  Outcome outcome{Verdict::passed, 0, {}, {}};
  int64_t faults = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double result = (*values)[i], ratio = error_over_bound(result, shape_.type, expected[i]);
    if (!(ratio <= outcome.error_over_bound) && !std::isnan(outcome.error_over_bound)) outcome.error_over_bound = ratio;
    if (ratio <= 1) continue;
    if (faults++ == 0)
      outcome.reason = "row " + std::to_string(int64_t(i) / shape_.cols) + ", column " +
                       std::to_string(int64_t(i) % shape_.cols) + ": " + number(result) + ", expected " +
                       number(expected[i].exact) + " within " + number(stored_bound(shape_.type, expected[i]));
  }
  if (faults == 0) return outcome;
  outcome.verdict = Verdict::failed;
  outcome.reason =
      std::to_string(faults) + " of " + std::to_string(expected.size()) + " results are wrong; first " + outcome.reason;
  return outcome;
}

}  // namespace soffit::checker
