// How a long measurement tells how far it is.
#pragma once

#include <functional>

#include "soffit/status.hpp"

namespace soffit::measure {

// Which fraction of the work is done. false stops it.
using Progress = std::function<bool(double)>;

inline Status report(const Progress& progress, double fraction) {
  if (progress && !progress(fraction)) return Error{Code::cancelled, "interrupted"};
  return {};
}

}  // namespace soffit::measure
