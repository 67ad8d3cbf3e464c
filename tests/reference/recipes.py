"""What each synthetic model is: shapes, keys, optional tensors, formats. Between them they reach every branch of the
reference and every format.

Shapes are odd on purpose: width differs from heads * head_size where the architecture allows it, no dimension of the
F32 files is a multiple of 256, and every window is shorter than the test sequences.
"""
from random_weights import Stream

LLAMA = dict(architecture="llama", layers=3, width=96, heads=6, heads_kv=2, head_size=16, feed_forward=160)
QWEN2 = dict(architecture="qwen2", layers=3, width=96, heads=4, heads_kv=2, head_size=24, feed_forward=160,
             epsilon=1e-6, tokenizer="qwen2", optional=["qkv_bias"])
QWEN3 = dict(architecture="qwen3", layers=3, width=96, heads=5, heads_kv=1, head_size=32, feed_forward=128,
             epsilon=1e-6, tokenizer="qwen2")
QWEN3_MOE = dict(QWEN3, architecture="qwen3moe", heads=4, heads_kv=2, experts=8, expert_feed_forward=40,
                 optional=["output"], keys={"expert_count": 8, "expert_used_count": 3,
                                            "expert_feed_forward_length": 40, "rope.freq_base": 1e6})
GEMMA3 = dict(architecture="gemma3", layers=8, width=64, heads=4, heads_kv=2, head_size=24, feed_forward=96,
              epsilon=1e-6, tokenizer="spm", keys={"attention.sliding_window": 16, "rope.freq_base": 1e6})
WIDE = dict(width=256, feed_forward=256)  # for the formats with blocks of 256

RECIPES = {
    # ---- F32
    "llama": dict(LLAMA, tokenizer="smollm", optional=["output"]),
    "llama-wide-heads": dict(LLAMA, tokenizer="spm", head_size=24, keys={
        "attention.key_length": 24, "attention.value_length": 24, "rope.dimension_count": 24,
        "rope.scaling.type": "yarn", "rope.scaling.factor": 8.0}),
    "llama-biases-rope-factors": dict(
        LLAMA, tokenizer="llama-bpe", optional=["rope_freqs", "qkv_bias", "output_bias", "ffn_bias"],
        keys={"rope.freq_base": 5e5}),
    "llama-experts": dict(LLAMA, tokenizer="spm", feed_forward=64, experts=6, sequences="e",
                          keys={"expert_count": 6, "expert_used_count": 2}),
    "qwen2": dict(QWEN2, keys={"rope.freq_base": 1e6}),
    "qwen2-linear": dict(QWEN2, optional=["qkv_bias", "output"],
                         keys={"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}),
    "qwen3": dict(QWEN3, keys={"rope.freq_base": 1e6}),
    "qwen3-yarn": dict(QWEN3, keys={
        "rope.freq_base": 1e4, "rope.scaling.type": "yarn", "rope.scaling.factor": 4.0,
        "rope.scaling.original_context_length": 128, "rope.scaling.attn_factor": 1.25}),
    "qwen3-no-scaling": dict(QWEN3, optional=["output"],
                             keys={"rope.scaling.type": "none", "rope.scaling.factor": 4.0}),
    "qwen3moe": dict(QWEN3_MOE, sequences="e"),
    "gemma3": GEMMA3,
    "gemma3-linear-period3": dict(GEMMA3, layers=4, keys={
        "attention.sliding_window": 11, "attention.sliding_window_pattern": 3, "rope.freq_base": 1e6,
        "rope.freq_base_swa": 5e3, "rope.scaling.type": "linear", "rope.scaling.factor": 8.0,
        "final_logit_softcapping": 3.0}),
    "gemma3-no-window": dict(GEMMA3, layers=6, keys={"rope.freq_base": 1e6}),
    "gemma3-62-layers": dict(GEMMA3, layers=62, width=32, heads=2, heads_kv=1, head_size=8, feed_forward=32),
    # ---- quantised
    "llama-quantised": dict(LLAMA | WIDE, heads=8, head_size=32, tokenizer="smollm", optional=["output"],
                            formats=dict(token_embd="Q8_0", output="Q6_K",
                                         blocks=["Q4_K", "Q5_K", "Q6_K", "Q4_0", "Q4_1", "Q8_0", "Q3_K"])),
    "llama-experts-quantised": dict(
        LLAMA | WIDE, heads=4, head_size=64, tokenizer="spm", experts=4, sequences="c",
        keys={"expert_count": 4, "expert_used_count": 2},
        formats=dict(token_embd="Q4_K", blocks=["IQ4_XS", "TQ2_0", "Q5_1", "Q2_K", "MXFP4", "Q6_K", "Q5_0"])),
    "qwen2-quantised": dict(
        QWEN2, width=160, heads=5, heads_kv=1, head_size=32, feed_forward=96,
        formats=dict(token_embd="Q5_0", blocks=["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "IQ4_NL", "MXFP4"])),
    "qwen3-quantised": dict(
        QWEN3 | WIDE, heads=8, heads_kv=2,
        formats=dict(token_embd="Q5_K", blocks=["TQ1_0", "TQ2_0", "Q2_K", "Q3_K", "IQ4_XS", "IQ4_NL", "Q4_K"])),
    "qwen3moe-quantised": dict(
        QWEN3_MOE | WIDE, heads=8, head_size=32, expert_feed_forward=256, sequences="c",
        keys=QWEN3_MOE["keys"] | {"expert_feed_forward_length": 256},
        formats=dict(token_embd="Q4_K", output="Q6_K",
                     blocks=["Q4_K", "Q6_K", "Q5_K", "TQ1_0", "IQ4_XS", "Q8_0", "Q3_K"])),
    "gemma3-quantised": dict(
        GEMMA3 | WIDE, heads=4, head_size=64,
        formats=dict(token_embd="Q8_0", blocks=["Q5_0", "F16", "BF16", "Q4_K", "Q6_K", "Q8_0", "Q5_K"])),
}


def random_tokens(name, count, vocabulary):
    """Token ids for a test sequence; control tokens may occur: to the model they are ids like others."""
    return [int(i) for i in Stream(name, "tokens").integers(count) % vocabulary]


def test_sequences(name, vocabulary):
    """Two sequences, both longer than any window. A recipe with experts names a draw that chooses experts clearly."""
    draw = RECIPES[name].get("sequences", "a")
    return [random_tokens(f"{name}/{draw}{index}", length, vocabulary) for index, length in enumerate((60, 37))]
