// soffit lanes, in a build without the lane runner.
#include "command.hpp"
#include "console.hpp"

namespace soffit::tool {

extern const Command kLanes;
const Command kLanes = {
    "lanes", "what Metal kernels do, lane by lane (not in this build)", "", [](CLI::App&) -> std::function<int()> {
      return [] { return usage_error("this build has no lane runner: configure it with SOFFIT_BUILD_LANES=ON"); };
    }};

}  // namespace soffit::tool
