// What the runner counts for the write-ups' kernels, as whole numbers, and which lane has which weights.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "metal/linear_problem.hpp"

namespace soffit::metal {
namespace {

using lanes::Cost;
using lanes::Counts;

constexpr uint64_t kRows = 16, kCols = 4096, kWeights = kRows * kCols;

lanes::Outcome counted(Format format, std::string_view variant, const Tuning& tuning, uint32_t traced = 0) {
  const Variant* v = find_variant(OperationKind::linear, format, variant);
  EXPECT_NE(v, nullptr);
  const LinearShape shape{.rows = kRows, .cols = kCols};
  const auto problem = LinearProblem::random(format, shape, DataType::f16, 1);
  auto outcome =
      run_linear(*v, tuning, shape, DataType::f16, problem->buffers(), {.seed = 5, .traced_simdgroups = traced});
  EXPECT_TRUE(outcome && outcome->faults.empty());
  return std::move(*outcome);
}

uint64_t slots(const Counts& counts, Cost cost) { return counts.slots[size_t(cost)]; }
uint64_t inner(const Counts& counts) {
  uint64_t sum = 0;
  for (const Cost cost : {Cost::integer, Cost::floating, Cost::conversion, Cost::floor, Cost::special}) {
    sum += counts.inner[size_t(cost)];
  }
  return sum;
}

// Two rows a simdgroup: 8 simdgroups, each with 4 steps of 4 blocks. In a step a lane
//   has 32 columns, whose sums take 32 additions;
// and for each of two rows
//   unpacks scales: 2 words with a mask, 1 with mask | (mask >> 2), 1 with (>> 4 mask) | (mask >> 2):
//     1 + 1 + (1 + 1 + 4 + 1) + (4 + 1 + 1 + 4 + 1) = 20 integer
//   multiplies 32 codes: a mask, a conversion, an fma each: 32 integer, 32 * 4 conversion, 32 floating
//   puts the sums right: 4 fma for the upper halves of words; 4 scales converted (16), 4 products and 2 with 1/16,
//   their
//     sum in fma: 4 + 6 floating
//   takes off the minima: 4 converted (16), a dot product of 4
//   multiplies with d and dmin, a product and an fma, and adds to the result: 3 floating
constexpr uint64_t kSteps = 8 * 4;

TEST(Counters, OfTheFirstWriteUp) {
  const Counts counts = counted(Format::q4_k, "seed", {2, 2}).counts;
  EXPECT_EQ(slots(counts, Cost::integer), 32 * kSteps * 2 * (20 + 32));
  EXPECT_EQ(slots(counts, Cost::conversion), 32 * kSteps * 2 * (128 + 16 + 16));
  EXPECT_EQ(slots(counts, Cost::floating), 32 * kSteps * (32 + 2 * (32 + 4 + 6 + 4 + 3)));
  EXPECT_EQ(slots(counts, Cost::floor), 0);
  EXPECT_EQ(slots(counts, Cost::special), 0);
  EXPECT_EQ(inner(counts), 6 * kWeights);  // mask, conversion, fma: 1 + 4 + 1

  // Two loads of 8 bytes a lane, row and step, every byte taken once.
  EXPECT_EQ(counts.passes, kSteps * 2 * 2);
  EXPECT_EQ(counts.useful, 32 * counts.passes);
  // 4 blocks of 144 bytes apart, 64 bytes of each: 256 bytes in 10 segments of 32 and 7 of 64. A step is 576 bytes on,
  // half a segment of 128: 4 of them and 5 in turn.
  EXPECT_EQ(counts.segments[0], 10 * counts.passes);
  EXPECT_EQ(counts.segments[1], 7 * counts.passes);
  EXPECT_EQ(2 * counts.segments[2], 9 * counts.passes);

  // As issued each simdgroup reads its rows, and all of the activations again: 1.28 operations a byte. From memory the
  // weights count alone, nearly: 3.56.
  EXPECT_EQ(counts.weight_bytes, kWeights / 256 * 144);
  EXPECT_EQ(counts.activation_bytes, kRows / 2 * kCols * 2);
  EXPECT_DOUBLE_EQ(2.0 * kWeights / double(counts.weight_bytes + counts.activation_bytes), 1.28);
  EXPECT_NEAR(2.0 * kWeights / double(counts.weight_bytes), 3.56, 0.005);
}

// More rows share the sums of columns; nothing else changes.
TEST(Counters, OfTheFirstWriteUpTuned) {
  for (const uint64_t rows : {1, 2, 4}) {
    const Counts counts = counted(Format::q4_k, "seed", {2, uint32_t(rows)}).counts;
    EXPECT_EQ(slots(counts, Cost::floating), 32 * (kRows / rows) * 4 * (32 + rows * 49));
    EXPECT_EQ(slots(counts, Cost::integer), 32 * kRows * 4 * 52);
    EXPECT_EQ(inner(counts), 6 * kWeights);
  }
}

// Lane -> (block, group, weight), for all weights of a simdgroup's two rows.
TEST(Counters, LaneMapOfTheFirstWriteUp) {
  const auto outcome = counted(Format::q4_k, "seed", {2, 2}, 8);
  std::map<std::tuple<uint64_t, uint64_t, uint64_t, uint64_t>, uint32_t> owner;  // by row, block, group, weight
  for (const lanes::Trace& trace : outcome.traces) {
    for (const lanes::PayloadRun& run : trace.runs) {
      EXPECT_EQ(run.bytes, 8);  // coalesced into one load
      for (uint64_t at = run.offset; at < run.offset + run.bytes; ++at) {
        const uint64_t row = at / 2304, block = at % 2304 / 144, byte = at % 144 - 16;
        EXPECT_EQ(row / 2, trace.simdgroup);
        for (const uint64_t nibble : {0, 1}) {
          const uint64_t group = byte / 32 * 2 + nibble, weight = byte % 32;
          const bool added = owner.emplace(std::tuple(row, block, group, weight), trace.lane).second;
          EXPECT_TRUE(added) << "weight " << weight << " of group " << group << " is read twice";
        }
      }
    }
  }
  EXPECT_EQ(owner.size(), kWeights);
  for (const auto& [place, lane] : owner) {
    const auto [row, block, group, weight] = place;
    EXPECT_EQ(lane / 8, block % 4);  // the cohort
    // Counted from 1 the teams have groups 1 2 5 6 and 3 4 7 8.
    const std::set<uint64_t> groups = lane % 8 < 4 ? std::set<uint64_t>{1, 2, 5, 6} : std::set<uint64_t>{3, 4, 7, 8};
    EXPECT_TRUE(groups.contains(group + 1));
    EXPECT_EQ(lane % 4, weight / 8);
  }
}

// A block of a row, in slots of a lane. A byte of five digits: 1 conversion (4), and five times a product, a floor (4),
// an fma: 10 floating, 20 floor. Of four digits: 8 and 16.
//   flat     2 bytes; their sum, and an fma with the scale
//   regions  2 bytes and one of four digits; 2 sums, and an fma
// Coefficients, once for 4 rows: a selection of each activation, 4 products fused with a subtraction, 4 additions. The
// fifth activation of four digits is a constant, which costs no selection.
constexpr uint64_t kRowBlocks = kWeights / 256;

TEST(Counters, OfTheSecondWriteUpFlattened) {
  const Counts counts = counted(Format::tq1_0, "flat", {2, 4}).counts;
  EXPECT_EQ(slots(counts, Cost::conversion), 32 * kRowBlocks * 2 * 4);
  EXPECT_EQ(slots(counts, Cost::floor), 32 * kRowBlocks * 2 * 20);
  EXPECT_EQ(slots(counts, Cost::floating), 32 * (kRowBlocks * (2 * 10 + 2) + kRowBlocks / 4 * 2 * 13));
  EXPECT_EQ(slots(counts, Cost::integer), 0);
  EXPECT_EQ(inner(counts), 32 * kRowBlocks * (2 * 34 + 2));
  EXPECT_EQ(counts.passes, kRowBlocks * 2);
  EXPECT_EQ(counts.useful, kRowBlocks * 52);  // of 64
}

TEST(Counters, OfTheSecondWriteUpBefore) {
  const Counts counts = counted(Format::tq1_0, "regions", {2, 4}).counts;
  EXPECT_EQ(slots(counts, Cost::conversion), 32 * kRowBlocks * 3 * 4);
  EXPECT_EQ(slots(counts, Cost::floor), 32 * kRowBlocks * (2 * 20 + 16));
  EXPECT_EQ(slots(counts, Cost::floating), 32 * (kRowBlocks * (2 * 10 + 8 + 3) + kRowBlocks / 4 * (2 * 13 + 12)));
  EXPECT_EQ(counts.passes, kRowBlocks * 3);
  EXPECT_EQ(counts.useful, kRowBlocks * 52);  // of 96
}

// The variants that convert nothing. Four rows a simdgroup.
//
// Q4_K: a lane has 64 codes of a block. For each of 8 words an addition, a shift (4), 2 or, 4 and: 11 integer, 8 fma.
// Scales: the minima's shift (4), 2 and, a shift (4), an or; as halves an and and an or, a shift (4), an or and an and:
// 19 integer. 4 fma make them scales, 3 and 3 multiply. The sums of 64 columns, once for 4 rows.
TEST(Counters, OfQ4KAtItsBest) {
  const Counts counts = counted(Format::q4_k, "best", {2, 4}).counts;
  const uint64_t parts = kWeights / 32 / 64;
  EXPECT_EQ(slots(counts, Cost::integer), 32 * parts * (8 * 11 + 19));
  EXPECT_EQ(slots(counts, Cost::floating), 32 * (parts * (64 + 4 + 3 + 3) + parts / 4 * 64));
  for (const Cost none : {Cost::conversion, Cost::floor, Cost::special}) EXPECT_EQ(slots(counts, none), 0);
  EXPECT_EQ(8 * inner(counts), 19 * kWeights);  // 2.375
  EXPECT_EQ(counts.useful, 32 * counts.passes);
  EXPECT_EQ(counts.passes, parts * 2);
}

// TQ1_0: 6 pairs of bytes, for each of five digits 2 additions, an and and an or, and an and but for the last: 24. A
// byte of four digits: 19. 64 fma, one with the scale. The factor of 1/256 at a row's end.
TEST(Counters, OfTq10AtItsBest) {
  const Counts counts = counted(Format::tq1_0, "best", {2, 4}).counts;
  const uint64_t parts = kWeights / 32 / 64;
  EXPECT_EQ(slots(counts, Cost::integer), 32 * parts * (6 * 24 + 19));
  EXPECT_EQ(slots(counts, Cost::floating), 32 * (parts * (64 + 1) + parts / 4 * 64 + kRows));
  for (const Cost none : {Cost::conversion, Cost::floor, Cost::special}) EXPECT_EQ(slots(counts, none), 0);
  EXPECT_EQ(inner(counts), 32 * parts * (6 * 24 + 19 + 65));
  EXPECT_EQ(counts.useful, 32 * counts.passes);
}

// TQ2_0: a lane has 32 codes of a block. For each of 2 words 2 additions, a shift (4), 2 or, 8 and: 16; 16 fma. 4 fma
// put the sums together, one multiplies with the scale.
TEST(Counters, OfTq20AtItsBest) {
  const Counts counts = counted(Format::tq2_0, "best", {2, 4}).counts;
  const uint64_t parts = kWeights / 32 / 32;
  EXPECT_EQ(slots(counts, Cost::integer), 32 * parts * 2 * 16);
  EXPECT_EQ(slots(counts, Cost::floating), 32 * (parts * (2 * 16 + 5) + parts / 4 * 32));
  for (const Cost none : {Cost::conversion, Cost::floor, Cost::special}) EXPECT_EQ(slots(counts, none), 0);
  EXPECT_EQ(inner(counts), 2 * kWeights);
  EXPECT_EQ(counts.useful, 32 * counts.passes);
}

// IQ4_XS: a lane has 32 codes of a block, each an fma with what the table has for it. The scale: its shifts (3 times
// 4), 2 and, 2 or; a subtraction takes 1056 off, a product and an fma multiply with both scales. The table: two
// conversions for each of 256 bytes, by each of 2 threadgroups.
TEST(Counters, OfIq4XsAtItsBest) {
  const Counts counts = counted(Format::iq4_xs, "best", {2, 4}).counts;
  const uint64_t parts = kWeights / 32 / 32;
  EXPECT_EQ(slots(counts, Cost::integer), 32 * parts * (3 * 4 + 2 + 2));
  EXPECT_EQ(slots(counts, Cost::floating), 32 * parts * (32 + 3));
  EXPECT_EQ(slots(counts, Cost::conversion), 2 * 256 * 2 * 4);
  for (const Cost none : {Cost::floor, Cost::special}) EXPECT_EQ(slots(counts, none), 0);
  EXPECT_EQ(inner(counts), kWeights);
  EXPECT_EQ(counts.useful, 32 * counts.passes);
}

}  // namespace
}  // namespace soffit::metal
