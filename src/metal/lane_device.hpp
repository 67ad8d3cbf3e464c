// The lanes as a device: kernels run lane by lane on the host's processors. "plain" runs them as fast as it can,
// "checked" reports every access and meeting that is wrong as an error of the run.
#pragma once

#include "metal/device.hpp"

namespace soffit::metal {

enum class LaneMode : uint8_t { plain, checked };

// `threads` of plain runs.
std::unique_ptr<Device> lane_device(LaneMode mode, int threads);

}  // namespace soffit::metal
