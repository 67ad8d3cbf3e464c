#include "command.hpp"

namespace soffit::tool {

// One a line in both lists, in the order of --help.
extern const Command kRun;
extern const Command kBench;
extern const Command kPerplexity;
extern const Command kCheck;
extern const Command kInspect;
extern const Command kDevices;
extern const Command kKernels;
extern const Command kRoofline;
extern const Command kCompare;
extern const Command kLanes;
extern const Command kTokenize;
extern const Command kDetokenize;
extern const Command kQuantize;
extern const Command kSynth;

namespace {

constexpr const Command* kCommands[] = {
    &kRun,         //
    &kBench,       //
    &kPerplexity,  //
    &kCheck,       //
    &kInspect,     //
    &kDevices,     //
    &kKernels,     //
    &kRoofline,    //
    &kCompare,     //
    &kLanes,       //
    &kTokenize,    //
    &kDetokenize,  //
    &kQuantize,    //
    &kSynth,
};

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

}  // namespace soffit::tool
