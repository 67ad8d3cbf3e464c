// soffit lanes --trace: the lane map of the one kernel that was run.
#include <fmt/format.h>

#include <fstream>

#include "lane_picture.hpp"
#include "lanes.hpp"

namespace soffit::tool {

std::string trace_fault(const LanesOptions& options, const std::vector<std::string>& kernels) {
  if (options.trace.empty() || kernels.size() == 1) return {};
  std::string names;
  for (size_t i = 0; i < kernels.size() && i < 6; ++i) names += (i ? ", " : "") + kernels[i];
  return fmt::format("--trace draws one kernel; choose it with --format and --variant, without --sweep, from {}{}",
                     names, kernels.size() > 6 ? fmt::format(" and {} more", kernels.size() - 6) : "");
}

Status write_trace(const LanesOptions& options, std::string_view kernel, const std::string& about,
                   const MatrixShape& shape, const lanes::Outcome& outcome) {
  if (options.trace.empty()) return {};
  const LaneMap map(shape, outcome.loads);
  const metal::Figures f = metal::figures(outcome.counts, 1);
  LanePictureText text{std::string(kernel), about, {}};
  if (map.step.payload) {
    text.figures = fmt::format(
        "Mean over the launch: a load of codes by a simdgroup touches {:.1f} segments of 32 bytes, {:.1f} of 64, "
        "{:.1f} of 128; {:.0f} % of its lanes take new bytes. Read in all: {} bytes of weights, {} of activations.",
        f.segments[0], f.segments[1], f.segments[2], 100 * f.lane_use, f.weight_bytes, f.activation_bytes);
  } else {
    text.figures = fmt::format(
        "Of buffer {} no format is known ('format' in the arguments says it), so bytes are shown and no weights.",
        map.step.buffer);
  }
  std::ofstream file(options.trace, std::ios::binary | std::ios::trunc);
  file << lane_picture(text, map);
  file.close();
  if (!file) return Error{Code::io, fmt::format("{}: cannot be written", options.trace)};
  return {};
}

}  // namespace soffit::tool
