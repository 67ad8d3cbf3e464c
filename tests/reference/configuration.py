"""What a GGUF file's metadata says about its model, for the reference in model.py.

Keys and defaults are those that llama.cpp's loader uses; the names of the fields are the field's own.
"""

import math
from dataclasses import dataclass, field

ARCHITECTURES = ("llama", "qwen2", "qwen3", "qwen3moe", "gemma3")


@dataclass
class Rope:
    """Rotary position embedding of one layer."""

    dimensions: int  # leading elements of a head that are rotated; the exponent's denominator
    base: float
    pairing: str  # "norm": elements (2i, 2i+1); "neox": elements (i, i + dimensions/2)
    scale: float = 1.0  # multiplies the position
    magnitude: float = 1.0  # multiplies cosine and sine
    yarn_original_context: int = 0  # 0: no YaRN
    yarn_beta_fast: float = 32.0
    yarn_beta_slow: float = 1.0


@dataclass
class Layer:
    heads: int
    heads_kv: int
    rope: Rope
    window: int  # keys visible including the query's own; 0: all


@dataclass
class Configuration:
    architecture: str
    width: int
    head_size: int
    epsilon: float
    attention_scale: float
    embedding_scale: float
    activation: str  # "silu" or "gelu" (tanh form), on the gate
    experts: int
    experts_used: int
    final_softcap: float  # 0: none
    layers: list[Layer] = field(default_factory=list)


def read_configuration(metadata):
    architecture = metadata["general.architecture"]
    if architecture not in ARCHITECTURES:
        raise ValueError(f"architecture {architecture!r} is not one of {', '.join(ARCHITECTURES)}")

    def get(name, default=None):
        value = metadata.get(f"{architecture}.{name}", default)
        if value is None:
            raise ValueError(f"key {architecture}.{name} is missing")
        return value

    layer_count = get("block_count")

    def per_layer(name, default=None):
        value = get(name, default)
        if not isinstance(value, list):
            return [value] * layer_count
        if len(value) != layer_count:
            raise ValueError(f"key {architecture}.{name} has {len(value)} elements, block_count is {layer_count}")
        return value

    width = get("embedding_length")
    heads = per_layer("attention.head_count")
    heads_kv = per_layer("attention.head_count_kv", heads)
    head_size = get("attention.key_length", width // heads[0])
    if get("attention.value_length", head_size) != head_size:
        raise ValueError(f"value_length {get('attention.value_length')} differs from key_length {head_size}")
    gemma = architecture == "gemma3"
    # Gemma 3 27B divides by sqrt(width / heads); nothing but its 62 layers tells it from its smaller sisters.
    attention_scale = (width / heads[0] if gemma and layer_count == 62 else head_size) ** -0.5

    configuration = Configuration(
        architecture,
        width,
        head_size,
        get("attention.layer_norm_rms_epsilon"),
        attention_scale,
        embedding_scale=math.sqrt(width) if gemma else 1.0,
        activation="gelu" if gemma else "silu",
        experts=get("expert_count", 0),
        experts_used=get("expert_used_count", 0),
        final_softcap=get("final_logit_softcapping", 0.0) if gemma else 0.0,
    )

    if get("expert_weights_scale", 0.0) not in (0.0, 1.0):
        raise ValueError("expert_weights_scale is set, which llama.cpp ignores for these architectures")
    window = get("attention.sliding_window", 0) if gemma else 0
    period = get("attention.sliding_window_pattern", 6) if gemma else 1
    for index in range(layer_count):
        rope = read_rope(get, architecture, head_size)
        local = window > 0 and (index + 1) % period != 0
        if local:
            rope = Rope(rope.dimensions, get("rope.freq_base_swa", 10000.0), rope.pairing)
        configuration.layers.append(Layer(heads[index], heads_kv[index], rope, window if local else 0))
    return configuration


def read_rope(get, architecture, head_size):
    kind = get("rope.scaling.type", "linear")
    if kind not in ("none", "linear", "yarn"):
        raise ValueError(f"RoPE scaling {kind!r} is not one of none, linear, yarn")
    factor = get("rope.scaling.factor", get("rope.scale_linear", 0.0))
    if kind == "none" or factor == 0.0:
        factor = 1.0
    rope = Rope(
        get("rope.dimension_count", head_size),
        get("rope.freq_base", 10000.0),
        "norm" if architecture == "llama" else "neox",
        1.0 / factor,
        get("rope.scaling.attn_factor", 1.0),
    )
    if kind == "yarn":
        rope.magnitude *= 1.0 + 0.1 * math.log(factor)
        rope.yarn_original_context = get("rope.scaling.original_context_length", get("context_length"))
    return rope
