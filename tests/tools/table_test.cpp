// What print_rows writes, taken from the process's real stdout.
#include "table.hpp"

#include <gtest/gtest.h>

#include "console.hpp"

namespace soffit::tool {
namespace {

const std::vector<Column> kColumns = {
    {"name", "tensor", {}}, {"bytes", "size", show_bytes}, {"ratio", "ratio", show_fixed(2)}};
const std::vector<Json> kRows = {{{"name", "a|b"}, {"bytes", 98362432}, {"ratio", 0.5}, {"hidden", true}},
                                 {{"name", "say \"x,y\"\x1b"}, {"bytes", 12}}};

std::string printed(Output output) {
  testing::internal::CaptureStdout();
  print_rows(output, kColumns, kRows);
  EXPECT_TRUE(flush_stdout());
  return testing::internal::GetCapturedStdout();
}

TEST(Table, Text) {
  EXPECT_EQ(printed(Output::text),
            "tensor            size  ratio\n"
            "a|b            98.4 MB   0.50\n"
            "say \"x,y\"\\x1b     12 B\n");
}

TEST(Table, Markdown) {
  EXPECT_EQ(printed(Output::md),
            "| tensor        |    size | ratio |\n"
            "| ------------- | ------: | ----: |\n"
            "| a\\|b          | 98.4 MB |  0.50 |\n"
            "| say \"x,y\"\\x1b |    12 B |       |\n");
}

TEST(Table, CsvHasKeysAndExactValues) {
  EXPECT_EQ(printed(Output::csv),
            "name,bytes,ratio\n"
            "a|b,98362432,0.5\n"
            "\"say \"\"x,y\"\"\x1b\",12,\n");
}

TEST(Table, JsonHasAllMembers) {
  const Json parsed = Json::parse(printed(Output::json));
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[0], kRows[0]);
  EXPECT_EQ(parsed[1], kRows[1]);
}

TEST(Table, JsonReplacesInvalidUtf8) {
  testing::internal::CaptureStdout();
  print_json(Json{{"name", "\xff"}});
  EXPECT_TRUE(flush_stdout());
  EXPECT_EQ(Json::parse(testing::internal::GetCapturedStdout())["name"], "\xef\xbf\xbd");
}

TEST(Table, Numbers) {
  EXPECT_EQ(show_grouped(12345678), "12 345 678");
  EXPECT_EQ(show_grouped(-123), "-123");
  EXPECT_EQ(show_grouped(-1234), "-1 234");
  EXPECT_EQ(show_bytes(999), "999 B");
  EXPECT_EQ(show_bytes(999960), "1.0 MB");
}

}  // namespace
}  // namespace soffit::tool
