// The seeds of the fuzz targets: small inputs, right and wrong, that each reach another part of what reads them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "soffit/gguf.hpp"

namespace soffit::fuzz {

// A target's directory. What cannot be written ends the program.
class Corpus {
 public:
  explicit Corpus(std::filesystem::path directory) : directory_(std::move(directory)) {}
  void seed(std::string_view name, std::span<const std::byte> bytes) const;
  // A GGUF file that write(writer) fills.
  template <class Write>
  void seed_file(std::string_view name, Write write) const {
    const auto writer = create(name);
    write(*writer);
    expect_done(writer->finish());
  }

 private:
  std::unique_ptr<gguf::Writer> create(std::string_view name) const;
  static void expect_done(const Status& status);
  std::filesystem::path directory_;
};

void make_formats(const Corpus& corpus);
void make_gguf(const Corpus& corpus);
void make_logits(const Corpus& corpus);
void make_metal(const Corpus& corpus);
void make_model(const Corpus& corpus);
void make_state(const Corpus& corpus);
void make_text(const Corpus& corpus);

}  // namespace soffit::fuzz
