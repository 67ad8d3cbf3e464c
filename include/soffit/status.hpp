// Errors as values. The library never prints, aborts, exits or throws on purpose: what can fail returns a Result.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace soffit {

enum class Code {
  ok = 0,
  invalid_argument,  // a shape, an id, an option that the caller got wrong
  invalid_file,      // bytes that break their format's rules
  unsupported,       // well-formed, but nothing here can do it; the message lists what can
  out_of_memory,
  io,         // the operating system refused a read, a write or a mapping
  cancelled,  // the caller asked to stop
  internal,   // a fault of soffit's own
};

// The code's name as it is written above.
const char* to_string(Code code);

// The message names the thing that is wrong and the numbers on both sides.
struct Error {
  Code code = Code::internal;
  std::string message;
};

// Either a T or an Error. Reading the value of an error is a fault of the caller.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  // By value, so that what a temporary gives outlives it: for (auto& x : *f()).
  T operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_.has_value(); }
  const Error& error() const& { return *error_; }
  Error error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

inline Error invalid_argument(std::string message) { return {Code::invalid_argument, std::move(message)}; }
inline Error invalid_file(std::string message) { return {Code::invalid_file, std::move(message)}; }
inline Error unsupported(std::string message) { return {Code::unsupported, std::move(message)}; }

}  // namespace soffit

#define SOFFIT_CONCAT_(a, b) a##b
#define SOFFIT_CONCAT(a, b) SOFFIT_CONCAT_(a, b)

// SOFFIT_TRY(auto x, expression): x is the expression's value, or the function returns its error.
#define SOFFIT_TRY(declaration, expression)                                                       \
  auto SOFFIT_CONCAT(soffit_try_, __LINE__) = (expression);                                       \
  if (!SOFFIT_CONCAT(soffit_try_, __LINE__)) return SOFFIT_CONCAT(soffit_try_, __LINE__).error(); \
  declaration = *std::move(SOFFIT_CONCAT(soffit_try_, __LINE__))

// SOFFIT_CHECK(expression): the function returns the expression's error, if it is one.
#define SOFFIT_CHECK(expression)                                                         \
  do {                                                                                   \
    if (auto soffit_check_ = (expression); !soffit_check_) return soffit_check_.error(); \
  } while (false)
