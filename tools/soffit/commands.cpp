#include <array>

#include "command.hpp"

namespace soffit::tool {
namespace {

constexpr std::array<const Command*, 0> kCommands = {};

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

}  // namespace soffit::tool
