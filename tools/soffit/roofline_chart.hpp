// Reports of soffit roofline as a picture: one SVG that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "table.hpp"

namespace soffit::tool {

// Why a report {machine: {name}, ceilings: {read, arithmetic}, kernels} cannot be drawn; empty if it can.
std::string chart_fault(const Json& report);

// Intensity (FLOP a byte of weights) against speed (GFLOP/s), both logarithmic. Each machine has a colour: lines for
// its ceilings with all threads, a mark for each kernel, and its ridge, where the read of DRAM and the highest
// arithmetic meet.
std::string roofline_svg(const std::vector<Json>& reports);
std::string roofline_html(const std::vector<Json>& reports);

}  // namespace soffit::tool
