// Compiles a .metal file while the program runs, with the system's C++ compiler, and loads it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lanes/shim/library.h"
#include "lanes/translate.hpp"
#include "soffit/status.hpp"

namespace soffit::lanes {

// A shared object that stays loaded as long as this lives.
class LoadedLibrary {
 public:
  LoadedLibrary(LoadedLibrary&& from) noexcept;
  LoadedLibrary& operator=(LoadedLibrary&& from) noexcept;
  ~LoadedLibrary();
  const Library& operator*() const { return *library_; }
  const Library* operator->() const { return library_; }
  const std::vector<std::string>& remarks() const { return remarks_; }  // of the translator

 private:
  friend Result<LoadedLibrary> compile(const std::filesystem::path& source, Mode mode,
                                       const std::vector<Instantiation>& instantiations);
  LoadedLibrary(void* handle, const Library* library, std::vector<std::string> remarks)
      : handle_(handle), library_(library), remarks_(std::move(remarks)) {}
  void* handle_ = nullptr;
  const Library* library_ = nullptr;
  std::vector<std::string> remarks_;
};

// The compiler is $CXX, else the first of c++, g++ and clang++ on the path. An error says what of the source it is
// about, by line.
Result<LoadedLibrary> compile(const std::filesystem::path& source, Mode mode,
                              const std::vector<Instantiation>& instantiations);

}  // namespace soffit::lanes
