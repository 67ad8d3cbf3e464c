#!/usr/bin/env python3
"""Writes small synthetic models, one file per entry of RECIPES, the same bytes every time.

usage: make_models.py FOLDER [NAME…]
Weights are scaled so that logits have a deviation of about 1 to 3 and attention is neither flat nor saturated: a fault
in any part moves the logits.
"""

import sys
from pathlib import Path

import gguf
import numpy as np

from random_weights import Stream, plain, rows_of_blocks
from recipes import RECIPES
from vocabulary import add_byte_level_bpe, add_sentencepiece


def make_model(path, name):
    recipe = RECIPES[name]
    writer = gguf.GGUFWriter(str(path), recipe["architecture"])
    add_keys(writer, recipe)
    tokenizer = recipe["tokenizer"]
    vocabulary = add_sentencepiece(writer) if tokenizer == "spm" else add_byte_level_bpe(writer, tokenizer)
    for tensor, shape, deviation, mean in tensor_list(recipe, vocabulary):
        add_tensor(writer, Stream(name, tensor), tensor, shape, deviation, mean, format_of(recipe, tensor))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_keys(writer, recipe):
    writer.add_name("synthetic")
    writer.add_block_count(recipe["layers"])
    writer.add_context_length(recipe.get("context", 512))
    writer.add_embedding_length(recipe["width"])
    writer.add_feed_forward_length(recipe["feed_forward"])
    writer.add_head_count(recipe["heads"])
    writer.add_head_count_kv(recipe["heads_kv"])
    writer.add_layer_norm_rms_eps(recipe.get("epsilon", 1e-5))
    if recipe["architecture"] not in ("llama", "qwen2"):
        writer.add_key_length(recipe["head_size"])
        writer.add_value_length(recipe["head_size"])
    for key, value in recipe.get("keys", {}).items():
        add = {int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}[type(value)]
        add(f"{recipe['architecture']}.{key}", value)


def tensor_list(recipe, vocabulary):
    """(name, shape in numpy's order, deviation, mean) of every tensor."""
    width, heads, heads_kv, size = recipe["width"], recipe["heads"], recipe["heads_kv"], recipe["head_size"]
    optional = recipe.get("optional", ())
    experts, gemma = recipe.get("experts", 0), recipe["architecture"] == "gemma3"
    feed_forward = recipe.get("expert_feed_forward", recipe["feed_forward"])

    def matrix(name, rows, columns, gain=1.0, stack=()):
        return name + ".weight", (*stack, rows, columns), gain / np.sqrt(columns), 0.0

    def vector(name, length, mean=1.0, deviation=0.25):
        return name, (length,), deviation, mean

    yield matrix("token_embd", vocabulary, width, 1.0 if gemma else 2.0)
    yield vector("output_norm.weight", width)
    if "output" in optional:
        yield matrix("output", vocabulary, width, 2.0)
    if "rope_freqs" in optional:
        yield vector("rope_freqs.weight", size // 2, 3.0, 1.0)
    for index in range(recipe["layers"]):
        block = f"blk.{index}."
        yield vector(block + "attn_norm.weight", width)
        for part, count in (("q", heads), ("k", heads_kv), ("v", heads_kv)):
            yield matrix(block + "attn_" + part, count * size, width, 1.3)
            if "qkv_bias" in optional:
                yield vector(block + f"attn_{part}.bias", count * size, 0.0, 0.5)
        yield matrix(block + "attn_output", width, heads * size, 1.3)
        if "output_bias" in optional:
            yield vector(block + "attn_output.bias", width, 0.0, 0.5)
        if recipe["architecture"] in ("qwen3", "qwen3moe", "gemma3"):
            yield vector(block + "attn_q_norm.weight", size, 1.2)
            yield vector(block + "attn_k_norm.weight", size, 1.2)
        yield vector(block + "ffn_norm.weight", width)
        if gemma:
            yield vector(block + "post_attention_norm.weight", width)
            yield vector(block + "post_ffw_norm.weight", width)
        if experts:
            yield matrix(block + "ffn_gate_inp", experts, width, 2.0)
        suffix, stack = ("_exps", (experts,)) if experts else ("", ())
        shapes = {"gate": (feed_forward, width), "up": (feed_forward, width), "down": (width, feed_forward)}
        for part, (rows, columns) in shapes.items():
            yield matrix(block + "ffn_" + part + suffix, rows, columns, 1.5, stack)
            if "ffn_bias" in optional:
                yield vector(block + f"ffn_{part}.bias", rows, 0.0, 0.5)


def format_of(recipe, tensor):
    """The recipe's list of formats is dealt out to a layer's matrices, one place further in each layer."""
    formats, stem = recipe.get("formats"), tensor.removesuffix(".weight").split(".")
    if not formats or "norm" in tensor or "ffn_gate_inp" in tensor or tensor.endswith(".bias"):
        return "F32"
    if len(stem) == 1:
        return formats.get(stem[0], "F32")
    parts = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    return formats["blocks"][(parts.index(stem[2].removesuffix("_exps")) + int(stem[1])) % len(formats["blocks"])]


def add_tensor(writer, stream, name, shape, deviation, mean, format_name):
    if format_name == "F32":
        writer.add_tensor(name, plain(stream, shape, deviation, mean))
    elif format_name == "F16":
        writer.add_tensor(name, plain(stream, shape, deviation, mean).astype(np.float16))
    else:
        quantisation = gguf.GGMLQuantizationType[format_name]
        data = (
            bfloat16(plain(stream, shape, deviation))
            if format_name == "BF16"
            else rows_of_blocks(stream, shape, deviation, format_name)
        )
        writer.add_tensor(name, data, raw_dtype=quantisation)


def bfloat16(values):
    """The upper halves of the floats as bytes; dropping the lower halves is rounding enough for random values."""
    return np.ascontiguousarray(values.view("<u2").reshape(*values.shape, 2)[..., 1]).view(np.uint8)


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:] or RECIPES
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        make_model(folder / f"{name}.gguf", name)
        print(f"{name}: {(folder / f'{name}.gguf').stat().st_size} bytes")


if __name__ == "__main__":
    main()
