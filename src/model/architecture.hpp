// What tells one architecture from another: how its metadata is read beyond the common keys, which tensors its layers
// have, and the order of its operations. To add one: write architecture_NAME.cpp and name it in architecture.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.hpp"
#include "model/metadata.hpp"

namespace soffit::model {

class Blocks;

struct Architecture {
  std::string_view name;  // general.architecture
  RopeParameters::Pairs rope_pairs = RopeParameters::Pairs::halves;

  enum class Experts : uint8_t { never, possible, always };
  Experts experts = Experts::never;

  // Tensors of a layer beyond the common ones.
  bool query_key_bias_required = false;  // elsewhere attention biases are taken where a file has them
  bool head_norms = false;               // RMS norm of each query and key head
  bool post_norms = false;               // RMS norm of what attention and feed-forward add to the residual
  bool rope_factors = false;             // the file may have rope_freqs.weight

  // Completes what the common keys gave; may be null.
  Status (*configure)(const Metadata& metadata, Config& config) = nullptr;
  // Records the operations of a batch.
  void (*record)(Blocks& blocks) = nullptr;
};

std::span<const Architecture* const> architectures();
std::string architecture_names();  // "llama, qwen2, …"

}  // namespace soffit::model
