// Metal as CUDA C++ is what nvcc takes. That it runs, and computes what the lanes compute, takes a GPU:
// tests/metal/cuda.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace soffit::lanes {
namespace {

struct Ran {
  int status;
  std::string output;
};
Ran run_shell(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string output;
  for (char part[4096]; const size_t count = std::fread(part, 1, sizeof part, pipe);) output.append(part, count);
  return {pclose(pipe), output};
}

// The release of nvcc; 0 where there is none.
int release_of(const std::string& nvcc) {
  if (nvcc.empty() || nvcc.ends_with("-NOTFOUND") || !std::filesystem::exists(nvcc)) return 0;
  const std::string text = run_shell("'" + nvcc + "' --version").output;
  const size_t at = text.find("release ");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 8);
}

TEST(Nvcc, TakesEveryConstructOfTheLanguage) {
  const std::string nvcc = SOFFIT_TEST_NVCC;
  const int release = release_of(nvcc);
  if (release == 0) GTEST_SKIP() << "no nvcc";
  if (release < 12) GTEST_SKIP() << "nvcc " << release << " has no C++20";
  const auto output =
      std::filesystem::temp_directory_path() / ("soffit_nvcc_test_" + std::to_string(getpid()) + ".ptx");
  const Ran ran = run_shell("'" + nvcc +
                            "' -std=c++20 --expt-relaxed-constexpr --fmad=false -w -ptx -I '" SOFFIT_SOURCE_DIR
                            "/src' '" SOFFIT_TEST_FOR_NVCC "' -o '" +
                            output.string() + "'");
  EXPECT_EQ(ran.status, 0) << ran.output;
  std::error_code ignored;
  EXPECT_GT(std::filesystem::file_size(output, ignored), 0u);
  std::filesystem::remove(output, ignored);
}

}  // namespace
}  // namespace soffit::lanes
