#include <array>

#include "command.hpp"

namespace soffit::tool {

extern const Command kDetokenize, kTokenize;

namespace {

constexpr std::array kCommands = {&kTokenize, &kDetokenize};

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

}  // namespace soffit::tool
