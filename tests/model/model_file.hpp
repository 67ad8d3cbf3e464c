// Small synthetic models, right unless a test makes them wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "soffit/gguf.hpp"

namespace soffit::test {

struct ModelFile {
  struct Tensor {
    std::vector<int64_t> shape;      // ne0 first
    uint32_t type = 0;               // GGUF's id
    float scale = 1.0f;              // of its random values; vectors are around one
    bool constant = false;           // every value is `scale`
    std::vector<float> values = {};  // instead of random ones
  };
  std::string architecture;
  std::map<std::string, gguf::OwnedValue> keys;  // without the architecture's prefix, except those with a dot in front
  std::map<std::string, Tensor> tensors;

  static ModelFile llama();  // dense, untied, grouped heads
  static ModelFile qwen2();
  static ModelFile qwen3();
  static ModelFile qwen3moe();
  static ModelFile gemma3();
  static std::vector<ModelFile> all();

  void set_type(const std::string& tensor, Format format) { tensors.at(tensor).type = uint32_t(format); }
  // The values that a tensor gets, the same every time.
  std::vector<float> values(const std::string& tensor) const;

  // Gives it a vocabulary: <unk>, <s>, </s>, the 256 bytes.
  void add_tokenizer();
  void write(const std::filesystem::path& path) const;
  // Written to a temporary file, which is gone when the last owner of the result is.
  std::shared_ptr<const gguf::File> open() const;
};

}  // namespace soffit::test
