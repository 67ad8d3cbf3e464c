// Makes the seed corpora of the fuzz targets.
// usage: make_corpus DIRECTORY
#include <cstdio>
#include <fstream>

#include "corpus.hpp"
#include "fault.hpp"

namespace soffit::fuzz {

void Corpus::seed(std::string_view name, std::span<const std::byte> bytes) const {
  std::ofstream stream(directory_ / name, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  expect(bool(stream.flush()), "a seed cannot be written");
}

std::unique_ptr<gguf::Writer> Corpus::create(std::string_view name) const {
  auto writer = gguf::Writer::create(directory_ / name);
  if (!writer) expect_done(writer.error());
  return *std::move(writer);
}

void Corpus::expect_done(const Status& status) {
  if (!status) expect(false, status.error().message.c_str());
}

}  // namespace soffit::fuzz

int main(int argc, char** argv) {
  using namespace soffit::fuzz;
  if (argc != 2) return std::fprintf(stderr, "usage: make_corpus DIRECTORY\n"), 2;
  const std::filesystem::path all = argv[1];
  const auto corpus = [&](const char* name) {
    std::filesystem::create_directories(all / name);
    return Corpus(all / name);
  };
  make_formats(corpus("formats"));
  make_gguf(corpus("gguf"));
  make_logits(corpus("logits"));
  make_metal(corpus("metal"));
  make_model(corpus("model"));
  make_state(corpus("state"));
  make_text(corpus("text"));
}
