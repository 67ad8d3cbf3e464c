// A backend for tests: every operation by its definition in operation.hpp, in double precision, one loop after another.
// Slow and without any cleverness, so that a model on it is what its graph says.
#pragma once

#include <memory>

#include "soffit/backend.hpp"

namespace soffit::test {

struct PlainBackendOptions {
  bool repacks = false;  // weights are written instead of adopted, under a layout name of their own
};

std::unique_ptr<Backend> make_plain_backend(PlainBackendOptions options = {});

}  // namespace soffit::test
