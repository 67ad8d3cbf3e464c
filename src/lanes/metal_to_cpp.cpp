// The translator as a program of the build: metal_to_cpp plain|checked|cuda|opencl SYMBOL ROOT NAME PREPROCESSED OUTPUT
// ROOT is taken off the names of files, so that no path of this machine gets into the program.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "lanes/opencl.hpp"
#include "lanes/translate.hpp"

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fputs("usage: metal_to_cpp plain|checked|cuda|opencl SYMBOL ROOT NAME PREPROCESSED OUTPUT\n", stderr);
    return 2;
  }
  std::ifstream in(argv[5], std::ios::binary);
  std::string source((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) {
    std::fprintf(stderr, "%s: cannot be read\n", argv[5]);
    return 1;
  }
  const std::string root = argv[3];
  for (size_t at = 0; (at = source.find("\"" + root, at)) != std::string::npos;) source.erase(at + 1, root.size());
  soffit::lanes::TranslationRequest request;
  using soffit::lanes::Mode;
  const std::string mode = argv[1];
  request.mode = mode == "checked" ? Mode::checked : mode == "cuda" ? Mode::cuda : Mode::plain;
  request.library_symbol = argv[2];
  request.source_name = argv[4];
  const bool opencl = mode == "opencl";
  const auto translation =
      opencl ? soffit::lanes::to_opencl(source, argv[4]) : soffit::lanes::translate(source, request);
  if (!translation) {
    std::fprintf(stderr, "%s\n", translation.error().message.c_str());
    return 1;
  }
  std::ofstream out(argv[6], std::ios::binary | std::ios::trunc);
  out << *translation;
  out.close();
  if (!out) std::fprintf(stderr, "%s: cannot be written\n", argv[6]);
  return out ? 0 : 1;
}
