#include <array>

#include "command.hpp"

namespace soffit::tool {

extern const Command kDetokenize, kDevices, kQuantize, kSynth, kTokenize;

namespace {

constexpr std::array kCommands = {
    &kDevices,     //
    &kTokenize,    //
    &kDetokenize,  //
    &kQuantize,    //
    &kSynth,
};

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

}  // namespace soffit::tool
