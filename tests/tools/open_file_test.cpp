// Files that are cut short while they are mapped, in child processes.
#include "open_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "files.hpp"

namespace soffit::test {
namespace {

using gguf::test::TemporaryDirectory;

constexpr int64_t kElements = 1 << 20;

void write_model(const std::filesystem::path& path) {
  const auto writer = gguf::Writer::create(path);
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->describe("a", 0, std::array{kElements}));
  ASSERT_TRUE((*writer)->write(std::vector<std::byte>(kElements * 4)));
  ASSERT_TRUE((*writer)->finish());
}

[[noreturn]] void read_last_byte(std::span<const std::byte> bytes) {
  const volatile std::byte& last = bytes.back();
  _exit(last == std::byte{0} ? 100 : 101);
}

TEST(LostFileDeathTest, IsNamedAndEndsTheProgramWithOne) {
  TemporaryDirectory folder;
  write_model(folder / "model.gguf");
  EXPECT_EXIT(
      {
        tool::install_lost_file_handler();
        const auto file = tool::open_file(folder / "model.gguf");
        if (!file || truncate((folder / "model.gguf").c_str(), 4096) != 0) _exit(99);
        read_last_byte((*file)->tensors()[0].bytes);
      },
      testing::ExitedWithCode(1), "soffit: error: .*model.gguf: cut short while it was read");
}

TEST(LostFileDeathTest, OtherMappedFilesToo) {
  TemporaryDirectory folder;
  const std::string path = folder / "data";
  EXPECT_EXIT(
      {
        tool::install_lost_file_handler();
        const int descriptor = open(path.c_str(), O_RDWR | O_CREAT, 0600);
        if (descriptor < 0 || ftruncate(descriptor, 1 << 16) != 0) _exit(99);
        void* address = mmap(nullptr, 1 << 16, PROT_READ, MAP_SHARED, descriptor, 0);
        if (address == MAP_FAILED || ftruncate(descriptor, 0) != 0) _exit(99);
        read_last_byte({static_cast<const std::byte*>(address), 1 << 16});
      },
      testing::ExitedWithCode(1), "a mapped file: cut short");
}

// Sent by another process, it says nothing about a file.
TEST(LostFileDeathTest, AnotherSigbusEndsTheProgramAsEver) {
  EXPECT_EXIT(
      {
        tool::install_lost_file_handler();
        raise(SIGBUS);
        raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace soffit::test
