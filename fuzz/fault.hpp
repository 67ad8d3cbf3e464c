// How a fuzz target says that something is wrong.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "core/escape.hpp"
#include "soffit/status.hpp"

namespace soffit::fuzz {

inline void expect(bool right, const char* fault) {
  if (right) return;
  std::fprintf(stderr, "%s\n", fault);
  std::abort();
}

// A refusal says why, in a message that can be printed as it is, whatever the input holds.
inline void expect_printable(const Error& error) {
  expect(!error.message.empty() && escaped(error.message) == error.message, "a message that cannot be printed");
}

}  // namespace soffit::fuzz
