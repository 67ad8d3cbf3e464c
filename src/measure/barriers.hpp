// What it takes to meet at a barrier: a plan's threads do so dozens of times a token.
#pragma once

#include "soffit/status.hpp"

namespace soffit::measure {

// Seconds of one barrier among so many threads of ours that arrive at once: the median of several thousand. 0 for one.
Result<double> barrier_seconds(int threads);

}  // namespace soffit::measure
