// Who reads what in a step of a kernel: its lanes by the blocks and groups of weights that they share. All of it comes
// from recorded loads; which weights a byte holds comes from the format's decoder.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lanes/lane_step.hpp"
#include "soffit/format.hpp"

namespace soffit::tool {

inline constexpr uint32_t kGroup = 32;  // weights

using LaneSet = uint32_t;  // bit i: lane i
// "L3", "L0–3", "L0–3, 8–11"
std::string to_text(LaneSet lanes);
// "1 2 5 6", "1–8": numbers in order, counted from one more than they are.
std::string counted_from_one(const std::vector<uint64_t>& numbers);

// What of the matrix the map is of.
struct MatrixShape {
  std::optional<Format> format;   // none: bytes that nothing is known of
  uint64_t row_bytes = 0;         // 0: rows are not known, all is one
  uint64_t cols = 0;              // 0: not known
  uint32_t activation_bytes = 0;  // of an element; 0: not known
};

// A row of the matrix, as a simdgroup reads it in the step.
struct LaneStrip {
  uint32_t simdgroup;
  uint64_t row;
  std::map<uint64_t, LaneSet> bytes;    // by offset in the row; of all bytes that are read
  std::map<uint64_t, LaneSet> weights;  // by column; lanes that have all the bytes of a weight's code
};

struct LaneTeam {
  LaneSet lanes;
  std::vector<uint64_t> groups;  // of their blocks, in order
};
struct LaneCohort {
  LaneSet lanes;
  std::vector<std::pair<uint64_t, uint64_t>> blocks;  // row and block, in order
  std::vector<LaneTeam> teams;
};

struct LaneMap {
  lanes::LaneStep step;
  MatrixShape shape;
  std::vector<LaneStrip> strips;                        // by simdgroup and row
  std::vector<std::vector<uint32_t>> weights_of_bytes;  // of a block; empty without a format
  // Of the first simdgroup: lanes that read the same blocks, and of these lanes that read the same groups of weights.
  // Blocks of at most 32 weights are taken for groups, and 256 columns for a block.
  std::vector<LaneCohort> cohorts;
  uint64_t simdgroups = 0;
  // Columns of activations that a lane reads in the step; `own` when they are those of its weights, for every lane.
  uint64_t activations = 0;
  bool own_activations = false;

  LaneMap(const MatrixShape& shape, const std::vector<lanes::LaneLoads>& loads);

 private:
  void add_bytes(const lanes::LaneLoads& lane);
  void add_weights(LaneStrip& strip) const;
  void find_cohorts();
  void find_activations();
};

}  // namespace soffit::tool
