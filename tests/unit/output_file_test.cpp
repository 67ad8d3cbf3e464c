// Files that appear when they are complete.
#include "core/output_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

namespace soffit {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OutputFiles : public testing::Test {
 protected:
  OutputFiles() { fs::create_directories(folder_); }
  ~OutputFiles() override { fs::remove_all(folder_); }

  fs::path path(const char* name) const { return folder_ / name; }
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  static std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static Status write_text(OutputFile& file, std::string_view text) {
    return file.write(std::as_bytes(std::span(text)));
  }
  static mode_t mode_of(const fs::path& path) {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) /
      ("soffit_output_" + std::to_string(getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(OutputFiles, AppearWhenTheyAreComplete) {
  std::ofstream(path("file")) << "old";
  auto file = OutputFile::create(path("file"));
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(write_text(*file, "new"));
  EXPECT_EQ(text_of(path("file")), "old");
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(text_of(path("file")), "new");
  EXPECT_THAT(entries(), ElementsAre("file"));
}

TEST_F(OutputFiles, LeaveNothingWithoutCommit) {
  { ASSERT_TRUE(OutputFile::create(path("file"))); }
  EXPECT_THAT(entries(), IsEmpty());
}

// Not even a handler can run then.
TEST_F(OutputFiles, LeaveNothingWhenTheProcessIsKilled) {
  const int probe = open(folder_.c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (probe < 0) GTEST_SKIP() << "the file system has no files without a name";
  close(probe);
  const pid_t child = fork();
  if (child == 0) {
    auto file = OutputFile::create(path("file"));
    (void)write_text(*file, std::string(3 << 20, 'x'));
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(OutputFiles, KeepThePermissionsOfWhatTheyReplace) {
  const mode_t mask = umask(022);
  for (const mode_t mode : {0600, 0640, 0444, 0755}) {
    std::ofstream(path("file")) << "old";
    ASSERT_EQ(chmod(path("file").c_str(), mode), 0);
    auto file = OutputFile::create(path("file"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->commit());
    EXPECT_EQ(mode_of(path("file")), mode);
    fs::remove(path("file"));
  }
  auto file = OutputFile::create(path("new"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(mode_of(path("new")), mode_t(0644));
  umask(mask);
}

TEST_F(OutputFiles, FollowASymbolicLink) {
  fs::create_symlink("target", path("link"));
  std::ofstream(path("target")) << "old";
  auto file = OutputFile::create(path("link"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_text(*file, "new"));
  ASSERT_TRUE(file->commit());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text_of(path("target")), "new");
}

// At the beginning, not after hours of work.
TEST_F(OutputFiles, RefusePathsThatCannotBeFiles) {
  fs::create_directory(path("folder"));
  for (const fs::path& wrong : {fs::path(), path("folder"), path("new/"), path("none/file"), fs::path("/dev/null")}) {
    const auto file = OutputFile::create(wrong);
    ASSERT_FALSE(file) << wrong;
    EXPECT_EQ(file.error().code, Code::io);
    if (!wrong.empty()) {
      EXPECT_THAT(file.error().message, HasSubstr(wrong.string()));
    }
  }
  EXPECT_THAT(entries(), ElementsAre("folder"));
}

}  // namespace
}  // namespace soffit
