// Llama 1 to 3, and what is built like it (SmolLM2, Mistral, Mixtral). Source: arXiv 2302.13971. The converter has
// permuted the rows of q and k, so that RoPE turns adjacent elements.
#include "model/architecture.hpp"
#include "model/blocks.hpp"

namespace soffit::model {

extern const Architecture kLlama;
const Architecture kLlama = {
    .name = "llama",
    .rope_pairs = RopeParameters::Pairs::adjacent,
    .experts = Architecture::Experts::possible,
    .rope_factors = true,
    .record = [](Blocks& blocks) { record_transformer(blocks, Activation::silu); },
};

}  // namespace soffit::model
