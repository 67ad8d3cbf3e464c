// What the counters count, operator by operator: the price list of the documentation, and its rules.
#include <gtest/gtest.h>

#include <numeric>

#include "lanes/device_memory.hpp"
#include "lanes/launch.hpp"

extern "C" const soffit::lanes::Library* soffit_metal_counting_checked();

namespace soffit::lanes {
namespace {

Counts counts_of(std::string_view name) {
  const Library& library = *soffit_metal_counting_checked();
  const Kernel* kernel = find_kernel(library, name);
  EXPECT_NE(kernel, nullptr) << name;
  DeviceMemory memory[4];
  Launch launch;
  for (uint32_t i = 0; i < 4; ++i) {
    memory[i] = *DeviceMemory::create(i == 0 ? 4 : 128);
    const Role roles[] = {Role::index, Role::weights, Role::activations, Role::output};
    launch.buffers[i] = {memory[i].data(), memory[i].bytes(), roles[i], {}};
  }
  *reinterpret_cast<uint32_t*>(memory[0].data()) = 32;
  for (uint32_t i = 0; i < 32; ++i) {
    reinterpret_cast<uint32_t*>(memory[1].data())[i] = i + 256;
    reinterpret_cast<float*>(memory[2].data())[i] = float(i);
  }
  const auto outcome = run(library, *kernel, launch);
  EXPECT_TRUE(outcome);
  EXPECT_EQ(outcome->fault_count, 0) << to_text(outcome->faults[0]);
  return outcome->counts;
}

struct Price {
  const char* kernel;
  uint32_t integer, floating, conversion, floor, special;  // slots a lane
};

class Prices : public testing::TestWithParam<Price> {};

TEST_P(Prices, AreAsListed) {
  const Price& price = GetParam();
  const Counts counts = counts_of(price.kernel);
  const auto slots = [&](Cost cost) { return counts.slots[size_t(cost)]; };
  EXPECT_EQ(slots(Cost::integer), 32 * price.integer);
  EXPECT_EQ(slots(Cost::floating), 32 * price.floating);
  EXPECT_EQ(slots(Cost::conversion), 32 * price.conversion);
  EXPECT_EQ(slots(Cost::floor), 32 * price.floor);
  EXPECT_EQ(slots(Cost::special), 32 * price.special);
  EXPECT_EQ(slots(Cost::store), 32);
}

INSTANTIATE_TEST_SUITE_P(Of, Prices,
                         testing::Values(                                  // int float conv floor special
                             Price{"adds", 0, 1, 0, 0, 0},                 //
                             Price{"multiplies", 0, 1, 0, 0, 0},           //
                             Price{"fuses", 0, 1, 0, 0, 0},                //
                             Price{"fuses_behind", 0, 1, 0, 0, 0},         //
                             Price{"fuses_into", 0, 1, 0, 0, 0},           //
                             Price{"stores_between", 0, 2, 0, 0, 0},       //
                             Price{"two_products", 0, 2, 0, 0, 0},         //
                             Price{"masks", 1, 0, 0, 0, 0},                //
                             Price{"masks_twice", 2, 0, 0, 0, 0},          //
                             Price{"shifts", 4, 0, 0, 0, 0},               //
                             Price{"shifts_by_nothing", 0, 0, 0, 0, 0},    //
                             Price{"multiplies_integers", 4, 0, 0, 0, 0},  //
                             Price{"converts", 0, 0, 4, 0, 0},             //
                             Price{"converts_by_cast", 0, 0, 4, 0, 0},     //
                             Price{"converts_unasked", 0, 1, 4, 0, 0},     //
                             Price{"converts_back", 0, 0, 4, 0, 0},        //
                             Price{"widens", 0, 0, 0, 0, 0},               //
                             Price{"halves", 0, 2, 0, 0, 0},               //
                             Price{"floors", 0, 0, 0, 4, 0},               //
                             Price{"selects", 0, 2, 0, 0, 0},              // the comparison and the selection
                             Price{"selects_by_call", 0, 2, 0, 0, 0},      //
                             Price{"clamps", 0, 2, 0, 0, 0},               //
                             Price{"negates", 0, 1, 0, 0, 0},              //
                             Price{"complements", 1, 0, 0, 0, 0},          //
                             Price{"divides_by_constant", 0, 1, 0, 0, 0},  //
                             Price{"divides", 0, 1, 0, 0, 6},              //
                             Price{"takes_roots", 0, 0, 0, 0, 8},          //
                             Price{"dots", 0, 4, 0, 0, 0},                 //
                             Price{"adds_vectors", 0, 4, 0, 0, 0},         //
                             Price{"indexes", 0, 0, 0, 0, 0},              //
                             Price{"computes_constants", 0, 1, 0, 0, 0},   //
                             Price{"diverges", 0, 5, 0, 0, 0},             //
                             Price{"loops", 0, 31, 0, 0, 0},               //
                             Price{"calls", 0, 2, 0, 0, 0},                //
                             Price{"sums", 0, 1, 0, 0, 0},                 //
                             Price{"looks_up", 1, 1, 0, 0, 0}, Price{"stores_small", 0, 0, 4, 0, 0}),
                         [](const auto& info) { return std::string(info.param.kernel); });

// One more AND for each of 32 words: 32 slots, 1 a word.
TEST(Counting, AUselessAndCostsASlot) {
  const auto integer = [](std::string_view kernel) { return counts_of(kernel).slots[size_t(Cost::integer)]; };
  EXPECT_EQ(integer("masks_twice") - integer("masks"), 32);
}

// index * 16: 4; / 16: a shift, 4; + size: 1; - 32: 1; % 32: 1.
TEST(Counting, IndicesCountApart) { EXPECT_EQ(counts_of("indexes").slots[size_t(Cost::index)], 32 * 11); }

TEST(Counting, CollectivesAndLoadsCountApart) {
  const Counts counts = counts_of("sums");
  EXPECT_EQ(counts.slots[size_t(Cost::collective)], 32);
  EXPECT_EQ(counts.slots[size_t(Cost::load)], 32);
  EXPECT_EQ(counts.activation_bytes, 128);
  EXPECT_EQ(counts.weight_bytes, 0);
}

}  // namespace
}  // namespace soffit::lanes
