// soffit roofline, run as a user would: its report, its picture, several machines on one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "measure/machine_ceilings.hpp"
#include "program.hpp"
#include "roofline_chart.hpp"

namespace soffit::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using tool::Json;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Json machine(const std::string& name, int kernels) {
  Json list = Json::array();
  for (int i = 0; i < kernels; ++i)
    list.push_back(
        {{"format", "format_" + std::to_string(i)}, {"n", 1}, {"intensity", 3.5 + 0.01 * i}, {"gflops", 90 + i}});
  return {{"machine", {{"name", name}}},
          {"ceilings",
           {{"read", {{{"level", "L2"}, {"gb_per_second", 270}}, {{"level", "DRAM"}, {"gb_per_second", 30}}}},
            {"arithmetic", {{{"name", "int8"}, {"gflops", 1200}}, {{"name", "fp32"}, {"gflops", 300}}}}}},
          {"kernels", list}};
}

struct Text {
  double left, right, y;
  std::string text;
};
// The labels of the plot, which are those placed by their left edge to a tenth of a pixel and in a colour.
std::vector<Text> labels_in(const std::string& svg) {
  std::vector<Text> list;
  for (size_t at = 0; (at = svg.find("<text x='", at)) != std::string::npos; ++at) {
    double x = 0, y = 0;
    char colour[32] = "";
    if (std::sscanf(svg.c_str() + at, "<text x='%lf' y='%lf' fill='%31[^']'", &x, &y, colour) != 3 || y < 60) continue;
    const size_t begin = svg.find('>', at) + 1, end = svg.find('<', begin);
    const std::string text = svg.substr(begin, end - begin);
    list.push_back({x, x + 6 * double(text.size()), y, text});
  }
  return list;
}

TEST(RooflineChart, NoTwoLabelsCollide) {
  const std::string svg = tool::roofline_svg({machine("one", 18), machine("two", 18)});
  const auto labels = labels_in(svg);
  ASSERT_EQ(labels.size(), 2u * (18 + 2 + 2 + 1));  // kernels, reads, peaks, the ridge
  for (size_t a = 0; a < labels.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      const bool apart = labels[a].right <= labels[b].left || labels[b].right <= labels[a].left ||
                         std::abs(labels[a].y - labels[b].y) >= 12;
      EXPECT_TRUE(apart) << labels[a].text << " and " << labels[b].text;
    }
  }
}

TEST(RooflineChart, LinesStayInsideThePlot) {
  Json report = machine("one", 2);
  report["ceilings"]["read"][0]["gb_per_second"] = 5000;  // above fp32 from the left edge on
  const std::string svg = tool::roofline_svg({report});
  int lines = 0;
  for (size_t at = 0; (at = svg.find("<line ", at)) != std::string::npos; ++at, ++lines) {
    double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
    ASSERT_EQ(std::sscanf(svg.c_str() + at, "<line x1='%lf' y1='%lf' x2='%lf' y2='%lf'", &x1, &y1, &x2, &y2), 4);
    for (const double x : {x1, x2}) EXPECT_TRUE(x >= 89.9 && x <= 1170.1) << x;
    for (const double y : {y1, y2}) EXPECT_TRUE(y >= 59.9 && y <= 720.1) << y;
  }
  EXPECT_GT(lines, 10);
}

TEST(RooflineChart, AxesHaveUnitsAndTheRidgeIsNamed) {
  const std::string svg = tool::roofline_svg({machine("a <b> & c", 2)});
  for (const char* text : {"FLOP per byte", "GFLOP/s", "DRAM 30 GB/s", "int8 1200 GFLOP/s", "ridge 40 FLOP/B",
                           "a &lt;b&gt; &amp; c", "format_1"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_THAT(svg, Not(HasSubstr("href")));
  EXPECT_THAT(tool::roofline_html({machine("a", 2)}), HasSubstr("<!DOCTYPE html>"));
}

TEST(RooflineChart, FaultsOfReportsAreNamed) {
  EXPECT_EQ(tool::chart_fault(machine("a", 2)), "");
  Json report = machine("a", 2);
  report["kernels"][1]["gflops"] = 0;
  EXPECT_EQ(tool::chart_fault(report), "kernels without a positive number 'gflops'");
  report = machine("a", 2);
  report["ceilings"]["read"] = Json::array();
  EXPECT_EQ(tool::chart_fault(report), "no ceilings.read");
  EXPECT_NE(tool::chart_fault(Json::array()), "");
  report = machine("a", 2);
  report["machine"].erase("name");
  EXPECT_EQ(tool::chart_fault(report), "no machine.name");
}

TEST(WorkingSets, FillHalfOfEachCacheAndFarMoreThanAll) {
  const std::vector<measure::Cache> caches = {{1, "data", 32 << 10, 64, "0"},
                                              {1, "instruction", 32 << 10, 64, "0"},
                                              {2, "unified", 1 << 20, 64, "0"},
                                              {3, "unified", 32 << 20, 64, "0-3"}};
  const auto sets = measure::working_sets(caches, 2, uint64_t(8) << 30);
  ASSERT_EQ(sets.size(), 4u);
  EXPECT_EQ(sets[0].bytes, 32u << 10);
  EXPECT_EQ(sets[1].bytes, 1u << 20);
  EXPECT_EQ(sets[2].level, "L3");
  EXPECT_EQ(sets[2].bytes, 16u << 20);  // shared by both threads
  EXPECT_EQ(sets[3].level, "DRAM");
  EXPECT_EQ(sets[3].bytes, 256u << 20);
  // Too little memory to be sure that it is read from there.
  EXPECT_EQ(measure::working_sets(caches, 2, 100 << 20).size(), 3u);
}

TEST(Roofline, MeasuresAndDraws) {
  const std::string path = testing::TempDir() + "soffit_roofline_" + std::to_string(getpid()) + ".svg";
  const Outcome run = run_program({"roofline", "--format", "q8_0,f16", "--rows", "64", "--cols", "256", "--n", "1,20",
                                   "--rotate", "100K", "--repeat", "1", "--output", "json", "-o", path});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json report = Json::parse(run.out);
  EXPECT_EQ(tool::chart_fault(report), "");
  ASSERT_EQ(report["kernels"].size(), 4u);
  EXPECT_EQ(report["kernels"][1]["n"], 20);
  EXPECT_TRUE(report["kernels"][0]["checked"].get<bool>());
  EXPECT_GE(report["ceilings"]["arithmetic"].size(), 2u);
  EXPECT_THAT(text_of(path), HasSubstr("q8_0"));
  fs::remove(path);
}

TEST(Roofline, SeveralMachinesFromFiles) {
  const std::string stem = testing::TempDir() + "soffit_roofline_" + std::to_string(getpid());
  std::ofstream(stem + "a.json") << machine("first", 2);
  std::ofstream(stem + "b.json") << machine("second", 2);
  std::ofstream(stem + "bad.json") << "{";
  const Outcome run = run_program({"roofline", "--from", stem + "a.json," + stem + "b.json", "-o", stem + ".html"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("second: ridge at 40 FLOP per byte, where DRAM at 30 GB/s meets int8"));
  EXPECT_THAT(text_of(stem + ".html"), testing::AllOf(HasSubstr("first"), HasSubstr("second")));
  EXPECT_EQ(run_program({"roofline", "--from", stem + "bad.json"}).exit_code, 1);
  EXPECT_EQ(run_program({"roofline", "--from", stem + "none.json"}).exit_code, 1);
  EXPECT_EQ(run_program({"roofline", "--from", stem + "a.json", "-o", "picture.pdf"}).exit_code, 2);
  EXPECT_EQ(run_program({"roofline", "--from", stem + "a.json", "-o", "/dev/full/x.svg"}).exit_code, 1);
  for (const char* end : {"a.json", "b.json", "bad.json", ".html"}) fs::remove(stem + end);
}

}  // namespace
}  // namespace soffit::test
