"""A transformer in numpy, written to be read: the reference that the model runner's logits are compared with.

It recomputes every position from the whole sequence (no cache), in float64 unless told otherwise, with weights decoded
by the PyPI package gguf. Shapes in comments: T positions, S head size.
"""

import gguf
import numpy as np

from configuration import read_configuration


class Model:
    """numeric: type of all arithmetic. cache: type keys and values are rounded to (None: not rounded).
    round_activations(x, weight_format) stands for kernels that quantise what goes into a matrix product."""

    def __init__(self, path, numeric=np.float64, cache=None, round_activations=None):
        reader = gguf.GGUFReader(path)
        self.metadata = {name: field.contents() for name, field in reader.fields.items()}
        self.configuration = read_configuration(self.metadata)
        self.numeric, self.cache, self.round_activations = numeric, cache, round_activations
        self.weights = {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(numeric) for t in reader.tensors}
        self.formats = {t.name: t.tensor_type.name for t in reader.tensors}
        self.used = set()
        self.logits([0])
        if unused := sorted(set(self.weights) - self.used):
            raise ValueError(f"tensors the reference does not know: {', '.join(unused)}")

    def weight(self, name):
        self.used.add(name)
        return self.weights[name]

    def linear(self, x, name, expert=None):
        """x · Wᵀ (+ bias); W has one row per output."""
        matrix = self.weight(name + ".weight")
        if expert is not None:
            matrix = matrix[expert]
        if self.round_activations:
            x = self.round_activations(x, self.formats[name + ".weight"])
        y = x @ matrix.T
        if name + ".bias" in self.weights:
            y = y + self.weight(name + ".bias")
        return y

    def norm(self, x, name):
        mean_square = np.mean(x * x, axis=-1, keepdims=True)
        return x / np.sqrt(mean_square + self.numeric(self.configuration.epsilon)) * self.weight(name + ".weight")

    def logits(self, tokens, first=0):
        """[T - first, vocabulary]: of the positions from the first wanted on"""
        c = self.configuration
        x = self.weight("token_embd.weight")[np.asarray(tokens)] * self.numeric(c.embedding_scale)
        for index, layer in enumerate(c.layers):
            block = f"blk.{index}."
            mixed = self.attention(self.norm(x, block + "attn_norm"), block, layer)
            x = x + self.post_norm(mixed, block + "post_attention_norm")
            mixed = self.feed_forward(self.norm(x, block + "ffn_norm"), block)
            x = x + self.post_norm(mixed, block + "post_ffw_norm")
        x = self.norm(x[first:], "output_norm")
        y = self.linear(x, "output" if "output.weight" in self.weights else "token_embd")
        return c.final_softcap * np.tanh(y / c.final_softcap) if c.final_softcap else y

    def post_norm(self, x, name):
        return self.norm(x, name) if self.configuration.architecture == "gemma3" else x

    def attention(self, x, block, layer):
        c, count = self.configuration, len(x)
        q = self.linear(x, block + "attn_q").reshape(count, layer.heads, c.head_size)
        k = self.linear(x, block + "attn_k").reshape(count, layer.heads_kv, c.head_size)
        v = self.linear(x, block + "attn_v").reshape(count, layer.heads_kv, c.head_size)
        if c.architecture in ("qwen3", "qwen3moe", "gemma3"):
            q, k = self.norm(q, block + "attn_q_norm"), self.norm(k, block + "attn_k_norm")
        cosine, sine = self.rotation(np.arange(count), layer.rope)
        q, k = rotate(q, cosine, sine, layer.rope.pairing), rotate(k, cosine, sine, layer.rope.pairing)
        if self.cache:
            k, v = k.astype(self.cache).astype(self.numeric), v.astype(self.cache).astype(self.numeric)
        group = layer.heads // layer.heads_kv
        k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)  # query head h reads key-value head h / group

        scores = np.einsum("phs,khs->hpk", q, k) * self.numeric(c.attention_scale)
        scores = np.where(visible(count, layer.window), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        total = weights.sum(axis=-1, keepdims=True)
        if self.cache == np.float16:
            weights = eleven_bits(weights)
        mixed = np.einsum("hpk,khs->phs", weights / total, v)
        return self.linear(mixed.reshape(count, -1), block + "attn_output")

    def feed_forward(self, x, block):
        if self.configuration.experts == 0:
            gate, up = self.linear(x, block + "ffn_gate"), self.linear(x, block + "ffn_up")
            return self.linear(self.activate(gate) * up, block + "ffn_down")
        y = np.zeros_like(x)
        chosen, share = self.route(x, block)
        for expert in range(self.configuration.experts):
            rows, slots = np.nonzero(chosen == expert)
            if not len(rows):
                continue
            gate = self.linear(x[rows], block + "ffn_gate_exps", expert)
            up = self.linear(x[rows], block + "ffn_up_exps", expert)
            y[rows] += share[rows, slots, None] * self.linear(self.activate(gate) * up, block + "ffn_down_exps", expert)
        return y

    def route(self, x, block):
        """The experts of each position [T, used] and their shares, which sum to one."""
        probabilities = softmax(self.linear(x, block + "ffn_gate_inp"))
        chosen = np.argsort(-probabilities, axis=-1, kind="stable")[:, : self.configuration.experts_used]
        share = np.take_along_axis(probabilities, chosen, axis=-1)
        return chosen, share / share.sum(axis=-1, keepdims=True)

    def routing_gap(self, tokens):
        """The smallest distance, in router logits, between an expert chosen and one not."""
        gaps, route = [], self.route

        def measured(x, block):
            ordered = np.sort(self.linear(x, block + "ffn_gate_inp"), axis=-1)[:, ::-1]
            used = self.configuration.experts_used
            gaps.append((ordered[:, used - 1] - ordered[:, used]).min())
            return route(x, block)

        self.route = measured
        self.logits(tokens)
        del self.route
        return min(gaps)

    def activate(self, gate):
        if self.configuration.activation == "silu":
            return gate / (1 + np.exp(-gate))
        return 0.5 * gate * (1 + np.tanh(self.numeric(np.sqrt(2 / np.pi)) * gate * (1 + 0.044715 * gate * gate)))

    def rotation(self, positions, rope):
        """Cosine and sine [T, 1, dimensions/2] of each pair's angle."""
        pair = np.arange(rope.dimensions // 2)
        frequency = rope.base ** (-2.0 * pair / rope.dimensions)
        if self.configuration.architecture == "llama" and "rope_freqs.weight" in self.weights:
            frequency = frequency / self.weight("rope_freqs.weight")
        slowed = frequency * rope.scale
        if rope.yarn_original_context:

            def pair_turning(times):  # the pair that turns so often within the original context
                wavelength = rope.yarn_original_context / times
                return rope.dimensions * np.log(wavelength / (2 * np.pi)) / (2 * np.log(rope.base))

            low = max(0, np.floor(pair_turning(rope.yarn_beta_fast)))
            high = min(rope.dimensions - 1, np.ceil(pair_turning(rope.yarn_beta_slow)))
            kept = 1 - np.clip((pair - low) / max(0.001, high - low), 0, 1)
            slowed = slowed * (1 - kept) + frequency * kept
        angle = positions[:, None, None] * slowed
        cosine, sine = np.cos(angle) * rope.magnitude, np.sin(angle) * rope.magnitude
        return cosine.astype(self.numeric), sine.astype(self.numeric)


def rotate(x, cosine, sine, pairing):
    """x [T, heads, S]; elements from 2 · pairs on stay as they are."""
    pairs = cosine.shape[-1]
    first = np.s_[..., 0 : 2 * pairs : 2] if pairing == "norm" else np.s_[..., 0:pairs]
    second = np.s_[..., 1 : 2 * pairs : 2] if pairing == "norm" else np.s_[..., pairs : 2 * pairs]
    y = x.copy()
    y[first] = x[first] * cosine - x[second] * sine
    y[second] = x[first] * sine + x[second] * cosine
    return y


def visible(count, window):
    """[query, key]: a key is seen by itself and later queries, within the window when there is one."""
    distance = np.arange(count)[:, None] - np.arange(count)[None, :]
    return (distance >= 0) & ((distance < window) if window else True)


def eleven_bits(x):
    """The significand of fp16, whatever the exponent: weights of F16 values, as the program's attention rounds them."""
    significand, exponent = np.frexp(x)
    return np.ldexp(np.round(significand * 2048) / 2048, exponent).astype(x.dtype)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def log_softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
