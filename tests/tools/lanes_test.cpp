// soffit lanes: the counters of our kernels as JSON, and a kernel of the user's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace soffit::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class LanesCommand : public testing::Test {
 protected:
  LanesCommand() { fs::create_directories(directory_); }
  ~LanesCommand() override { fs::remove_all(directory_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return (directory_ / name).string();
  }
  std::vector<float> floats(const std::string& name) const {
    std::ifstream in(directory_ / name, std::ios::binary);
    std::vector<float> values(fs::file_size(directory_ / name) / 4);
    in.read(reinterpret_cast<char*>(values.data()), std::streamsize(values.size() * 4));
    return values;
  }
  static std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  const fs::path directory_ = fs::path(testing::TempDir()) /
                              ("lanes_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(LanesCommand, JsonHasTheFieldsOfTheContract) {
  const Outcome run =
      run_program({"lanes", "linear", "--format", "q4_k", "--variant", "seed", "--rows", "8", "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json rows = json::parse(run.out);
  ASSERT_EQ(rows.size(), 1u);
  const json& row = rows[0];
  for (const char* field : {"kernel",
                            "variant",
                            "format",
                            "rows",
                            "cols",
                            "n",
                            "slots_useful",
                            "slots_issued",
                            "lane_use",
                            "int_slots_per_weight",
                            "fma_slots_per_weight",
                            "conversion_slots_per_weight",
                            "floor_slots_per_weight",
                            "inner_slots_per_weight",
                            "index_slots_per_weight",
                            "slots_per_weight",
                            "weight_bytes",
                            "activation_bytes",
                            "segments_32",
                            "segments_64",
                            "segments_128",
                            "estimate_seconds",
                            "checked"}) {
    EXPECT_TRUE(row.contains(field)) << field;
  }
  EXPECT_EQ(row["checked"], true);
  EXPECT_EQ(row["inner_slots_per_weight"], 6.0);
  EXPECT_EQ(row["weight_bytes"], 8 * 4096 / 256 * 144);
  EXPECT_EQ(row["faults"], json::array());
  EXPECT_GT(row["estimate_seconds"]["M2 Pro"], 0.0);
}

TEST_F(LanesCommand, SweepHasEveryTuning) {
  const Outcome run = run_program({"lanes", "linear", "--format", "q4_k", "--variant", "seed", "--rows", "8", "--cols",
                                   "256", "--sweep", "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out).size(), 12u);
}

TEST_F(LanesCommand, NamesWhatThereIs) {
  const Outcome format = run_program({"lanes", "linear", "--format", "q9_k"});
  EXPECT_EQ(format.exit_code, 2);
  EXPECT_THAT(format.err, AllOf(HasSubstr("'q9_k'"), HasSubstr("q4_k"), HasSubstr("tq1_0")));
  const Outcome variant = run_program({"lanes", "linear", "--format", "q4_k", "--variant", "fast"});
  EXPECT_EQ(variant.exit_code, 2);
  EXPECT_THAT(variant.err, AllOf(HasSubstr("'fast'"), HasSubstr("seed")));
  const Outcome operation = run_program({"lanes", "convolve"});
  EXPECT_EQ(operation.exit_code, 2);
  EXPECT_THAT(operation.err, HasSubstr("linear, linear_id, get_rows, dequantize"));
}

constexpr const char* kScaled = R"(#include <metal_stdlib>
using namespace metal;
template <uint N>
kernel void scaled(device float* out [[buffer(0)]], device const half* in [[buffer(1)]],
                   constant float& factor [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  if (i < N) out[i] = float(in[i]) * factor + 1.0f;
}
)";

TEST_F(LanesCommand, RunsAKernelOfTheUsers) {
  const float expected[4] = {3, 5, 7, 9};
  write("expected.bin", std::string(reinterpret_cast<const char*>(expected), 16));
  const std::string arguments =
      write("arguments.json", R"({"grid": [1], "threadgroup": [32], "template": ["4"], "weights": 4,
    "bytes": {"2": "00 00 00 40"},
    "buffers": {"0": {"type": "float", "count": 4, "expect": "expected.bin", "save": "out.bin"},
                "1": {"type": "half", "fill": [1, 2, 3, 4]}}})");
  const std::string kernel = write("scaled.metal", kScaled);
  const Outcome run = run_program({"lanes", kernel, "--entry", "scaled", "--args", arguments, "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json row = json::parse(run.out)[0];
  EXPECT_EQ(row["kernel"], "scaled");
  EXPECT_EQ(row["checked"], true);
  EXPECT_EQ(row["fma_slots_per_weight"], 8.0);  // one in each of 32 lanes' place, for 4 weights
  EXPECT_EQ(floats("out.bin"), std::vector<float>(expected, expected + 4));

  write("expected.bin", std::string(16, '\0'));
  const Outcome wrong = run_program({"lanes", kernel, "--entry", "scaled", "--args", arguments, "--output", "json"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("buffer 0: element 0 is 3, expected 0"));
  EXPECT_EQ(json::parse(wrong.out)[0]["checked"], false);
}

// Estimates are called so, for every chip, beside the ridge and both intensities.
TEST_F(LanesCommand, EstimatesTimesOfChips) {
  const Outcome text = run_program({"lanes", "linear", "--format", "q4_k", "--variant", "seed", "--rows", "8"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("weight B"), HasSubstr("activation B"), HasSubstr("Estimated µs, not measured"),
                              HasSubstr("ridge flop/B"), HasSubstr("M1 Ultra"), HasSubstr("M5 Max")));
  const Outcome run =
      run_program({"lanes", "linear", "--format", "q4_k", "--variant", "seed", "--rows", "8", "--output", "json"});
  const json row = json::parse(run.out)[0];
  EXPECT_NEAR(row["ridge_intensity"]["M2 Pro"].get<double>(), 6.8e12 / 204.8e9, 1e-9);
  EXPECT_EQ(row["estimate_seconds"].size(), row["ridge_intensity"].size());
  EXPECT_EQ(row["weight_bytes"], 8 * 4096 / 256 * 144);
  EXPECT_EQ(row["activation_bytes"], 8 / 2 * 4096 * 2);
  EXPECT_NEAR(row["intensity_issued"].get<double>(), 1.28, 1e-9);
}

// Cohorts and teams of the first write-up, out of recorded loads.
TEST_F(LanesCommand, DrawsTheLaneMapOfAStep) {
  const std::string picture = (directory_ / "map.svg").string();
  const Outcome run = run_program({"lanes", "linear", "--format", "q4_k", "--variant", "seed", "--trace", picture});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string svg = text_of(picture);
  EXPECT_THAT(svg, AllOf(HasSubstr("Step 1 of 4 of threadgroup (0, 0, 0): 2 simdgroups"),
                         HasSubstr("L8–15: block 2 of each row"),
                         HasSubstr("Team A: groups 1 2 5 6 of its block; L0–3, L8–11, L16–19, L24–27"),
                         HasSubstr("Team B: groups 3 4 7 8 of its block; L4–7, L12–15, L20–23, L28–31"),
                         HasSubstr(">L0: weights 0–7, 32–39<"), HasSubstr(">L31<"), HasSubstr("</svg>")));
  const Outcome several = run_program({"lanes", "linear", "--format", "q4_k", "--trace", picture});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.err, AllOf(HasSubstr("--trace draws one kernel"), HasSubstr("linear_q4_k_seed")));
  const Outcome nowhere = run_program({"lanes", "linear", "--format", "q4_k", "--variant", "seed", "--trace",
                                       (directory_ / "missing" / "map.svg").string()});
  EXPECT_EQ(nowhere.exit_code, 1);
}

// A kernel of the user's: lanes i and i + 16 read the codes of block i.
TEST_F(LanesCommand, DrawsAKernelOfTheUsers) {
  const std::string kernel = write("codes.metal", R"(#include <metal_stdlib>
using namespace metal;
kernel void codes(device float* out [[buffer(0)]], device const uchar* in [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  out[i] = float(in[i % 16 * 18 + 2 + i / 16]);
}
)");
  const auto drawn = [&](const std::string& type, const std::string& count) {
    const std::string arguments = write("arguments.json", R"({"cols": 512, "weights": 512, "buffers": {
      "0": {"type": "float", "count": 32}, "1": {"type": ")" + type +
                                                              R"(", "count": )" + count + "}}}");
    const std::string picture = (directory_ / "map.svg").string();
    const Outcome run = run_program({"lanes", kernel, "--args", arguments, "--trace", picture});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return text_of(picture);
  };
  EXPECT_THAT(drawn("q4_0", "16"), AllOf(HasSubstr("L0–7, 16–23: columns 0–255"), HasSubstr("of 18 bytes")));
  EXPECT_THAT(drawn("uchar", "288"), HasSubstr("Of buffer 1 no format is known"));
}

// A block as ggml declares it, with two scales alone or as a pair: 1.5 and 0.25, codes 1 to 4.
TEST_F(LanesCommand, TakesAnonymousStructsOfBlocks) {
  const std::string kernel = write("anonymous.metal", R"(#include <metal_stdlib>
using namespace metal;
typedef struct {
  union {
    struct { half d; half dmin; };
    half2 dm;
  };
  uint8_t qs[4];
} block_of_two;
static_assert(sizeof(block_of_two) == 8, "scales and codes");
kernel void scales(device const block_of_two *in [[buffer(0)]], device float *out [[buffer(1)]],
                   device block_of_two *copy [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  const float d = i < 16 ? in->d : in->d / 16.h;
  const half2 both = in->dm;
  out[i] = d * in->qs[i % 4] - in->dmin + both.y * both.x;
  if (i == 0) copy->dmin = in->d * 2.0h;
}
)");
  std::vector<float> expected;
  for (int i = 0; i < 32; ++i) expected.push_back((i < 16 ? 1.5f : 1.5f / 16) * float(i % 4 + 1) - 0.25f + 0.375f);
  write("expected.bin", std::string(reinterpret_cast<const char*>(expected.data()), 128));
  write("copy.bin", std::string("\0\0\0\x42\0\0\0\0", 8));  // 3 as fp16, behind 2 bytes
  const std::string arguments = write("arguments.json", R"({"weights": 32, "bytes": {"0": "003e0034 01020304"},
    "buffers": {"1": {"type": "float", "count": 32, "expect": "expected.bin"},
                "2": {"type": "uchar", "count": 8, "expect": "copy.bin"}}})");
  const Outcome run = run_program({"lanes", kernel, "--args", arguments, "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)[0]["checked"], true);
}

TEST_F(LanesCommand, ReportsFaultsByLineAndLane) {
  const std::string arguments = write("arguments.json", R"({"template": ["64"], "bytes": {"2": "00000040"},
    "buffers": {"0": {"type": "float", "count": 64}, "1": {"type": "half", "count": 30}}})");
  const Outcome run = run_program(
      {"lanes", write("scaled.metal", kScaled), "--entry", "scaled", "--args", arguments, "--output", "json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("scaled.metal:6:"), HasSubstr("out of bounds: reads 2 bytes"),
                             HasSubstr("buffer 1 'in' (60 bytes)")));
  const json row = json::parse(run.out)[0];
  EXPECT_EQ(row["fault_count"], 2);
  EXPECT_EQ(row["faults"][0]["line"], 6);
}

TEST_F(LanesCommand, NamesWhatItDoesNotKnowByLine) {
  const std::string unknown = write("unknown.metal",
                                    "#include <metal_stdlib>\nusing namespace metal;\n"
                                    "kernel void k(device float* y [[buffer(0)]]) {\n  double z = 1;\n  y[0] = z;\n}\n"
                                    "kernel void t(texture2d<float> picture [[texture(0)]]) {}\n");
  const Outcome run = run_program({"lanes", unknown});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("unknown.metal:4:3: 'double': Metal has no double"), HasSubstr("unknown.metal:7:")));

  const std::string broken = write("broken.metal",
                                   "#include <metal_stdlib>\nusing namespace metal;\n"
                                   "kernel void k(device float* y [[buffer(0)]]) {\n\n  y[0] = nothing;\n}\n");
  const Outcome failed = run_program({"lanes", broken});
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_THAT(failed.err, HasSubstr("broken.metal:5:"));
}

TEST_F(LanesCommand, WrongArgumentsAreNamed) {
  const std::string kernel = write("scaled.metal", kScaled);
  const auto message = [&](const std::string& arguments) {
    const Outcome run =
        run_program({"lanes", kernel, "--entry", "scaled", "--args", write("arguments.json", arguments)});
    EXPECT_EQ(run.exit_code, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(message("{"), HasSubstr("not well-formed JSON"));
  EXPECT_THAT(message(R"({"template": ["4"], "gird": [1]})"), HasSubstr("'gird' is not known"));
  EXPECT_THAT(message(R"({"template": ["4"], "buffers": {"x": {"type": "half"}}})"),
              HasSubstr("'x' is no index of a buffer"));
  EXPECT_THAT(message(R"({"template": ["4"], "buffers": {"1": {"type": "quarter", "count": 1}}})"),
              HasSubstr("unknown type 'quarter'"));
  EXPECT_THAT(message(R"({"template": ["4"]})"), HasSubstr("nothing is bound to buffer 0, 'out'"));
  EXPECT_THAT(message(R"({})"), HasSubstr("no kernel 'scaled'; there are none"));
}

}  // namespace
}  // namespace soffit::test
