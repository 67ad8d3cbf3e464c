// The lane map of a kernel as a picture: one SVG that needs nothing else.
#pragma once

#include <string>

#include "lane_map.hpp"

namespace soffit::tool {

struct LanePictureText {
  std::string kernel;   // "linear_q4_k_seed"
  std::string about;    // "q4_k, 64 × 4096, f16"
  std::string figures;  // a line on the launch as a whole
};

// From the loads of the first threadgroup: cohorts and teams of lanes, the weights of a step, the bytes of a block.
std::string lane_picture(const LanePictureText& text, const LaneMap& map);

}  // namespace soffit::tool
