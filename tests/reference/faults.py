"""Wrong models: each differs from the reference by one mistake that a model runner could make, small ones preferred.
The test of the driver demands that every one is found on the file named with it."""
from dataclasses import dataclass, replace
from typing import Callable, Optional

import numpy as np

from model import Model, softmax


@dataclass
class Fault:
    file: str                          # recipe that must reveal it
    model: type = Model
    answer: Optional[Callable] = None  # (model, sequences, mode, right answer) -> wrong answer


def with_configuration(**changes):
    """A model with other fields in its configuration."""

    class Changed(Model):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            for name, value in changes.items():
                setattr(self.configuration, name, value)

    return Changed


def with_layers(change):
    """A model whose layers are described wrongly: change(layer, index) gives the wrong description."""

    class Changed(Model):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.configuration.layers = [change(layer, i) for i, layer in enumerate(self.configuration.layers)]

    return Changed


def with_rope(**changes):
    return with_layers(lambda layer, _: replace(layer, rope=replace(layer.rope, **changes)))


def with_weights(change):
    """A model with damaged weights: change(weights by name)."""

    class Changed(Model):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            change(self.weights)

    return Changed


def swap_block_scales(weights):
    row = weights["blk.1.ffn_up.weight"][5]
    row[:32], row[32:64] = row[:32] * 1.2, row[32:64] / 1.2


def swap_norms(weights):
    q, k = "blk.0.attn_q_norm.weight", "blk.0.attn_k_norm.weight"
    weights[q], weights[k] = weights[k], weights[q]


def no_rope_factors(weights):
    weights["rope_freqs.weight"][:] = 1


def zero_row(weights):
    weights["blk.1.ffn_down.weight"][7] = 0


class GroupedInterleaved(Model):
    """Query head h reads key-value head h mod G instead of h / group."""

    def attention(self, x, block, layer):
        order = np.arange(layer.heads).reshape(layer.heads_kv, -1).T.ravel()
        rows = (order[:, None] * self.configuration.head_size + np.arange(self.configuration.head_size)).ravel()
        kept = {name: self.weights[name] for name in (block + "attn_q.weight", block + "attn_output.weight")}
        self.weights[block + "attn_q.weight"] = kept[block + "attn_q.weight"][np.argsort(rows)]
        self.weights[block + "attn_output.weight"] = kept[block + "attn_output.weight"][:, np.argsort(rows)]
        result = super().attention(x, block, layer)
        self.weights.update(kept)
        return result


class CacheNotRounded(Model):
    """Keys and values stay F32 whatever was asked for."""

    def __init__(self, path, numeric, cache, *arguments):
        super().__init__(path, numeric, None, *arguments)


class NotRenormalised(Model):
    def route(self, x, block):
        chosen, _ = super().route(x, block)
        probabilities = softmax(self.linear(x, block + "ffn_gate_inp"))
        return chosen, np.take_along_axis(probabilities, chosen, axis=-1)


class SharesSwapped(Model):
    def route(self, x, block):
        chosen, share = super().route(x, block)
        share[:, :2] = share[:, 1::-1]
        return chosen, share


class ActivationOnUp(Model):
    def feed_forward(self, x, block):
        gate, up = self.linear(x, block + "ffn_gate"), self.linear(x, block + "ffn_up")
        return self.linear(gate * self.activate(up), block + "ffn_down")


class NoPostNorm(Model):
    """The last norms of one layer are computed, then forgotten."""

    def post_norm(self, x, name):
        normed = super().post_norm(x, name)
        return x if name.startswith("blk.3.") else normed


class LatePositionsShifted(Model):
    """Positions skip one after 40, as after a wrongly counted batch."""

    def rotation(self, positions, rope):
        return super().rotation(positions + (positions >= 40), rope)


class LogisticGelu(Model):
    """x · sigmoid(1.702 x), GELU's other approximation."""

    def activate(self, gate):
        return gate / (1 + np.exp(-1.702 * gate))


def without_bias(name):
    return with_weights(lambda weights: weights.update({name: np.zeros_like(weights[name])}))


def see_other_sequence(model, sequences, mode, answer):
    """The second sequence also sees the first one's first token."""
    if len(sequences) == 2:
        answer[1] = model.logits(sequences[0][:1] + sequences[1])[1:]
    return answer


def swap_sequences(model, sequences, mode, answer):
    """In the last common step the two sequences get each other's row."""
    if len(sequences) == 2:
        last = min(map(len, sequences)) - 1
        answer[0][last], answer[1][last] = answer[1][last].copy(), answer[0][last].copy()
    return answer


def forget_in_single_mode(model, sequences, mode, answer):
    """Token by token, the oldest key is lost at the end."""
    if mode == "single":
        answer[0][-1] = model.logits(sequences[0][1:])[-1]
    return answer


def one_not_a_number(model, sequences, mode, answer):
    answer[-1][-1, -1] = np.nan
    return answer


def one_position_missing(model, sequences, mode, answer):
    return [logits[:-1] for logits in answer]


def one_sequence_missing(model, sequences, mode, answer):
    return answer[:-1]


def window(shift):
    return with_layers(lambda layer, _: replace(layer, window=layer.window + shift if layer.window else 0))


FAULTS = {
    "rope-base": Fault("qwen3", with_rope(base=1.01e6)),
    "rope-pairing-norm": Fault("qwen3", with_rope(pairing="norm")),
    "rope-pairing-neox": Fault("llama", with_rope(pairing="neox")),
    "rope-factors": Fault("llama-biases-rope-factors", with_weights(no_rope_factors)),
    "linear-scaling": Fault("qwen2-linear", with_rope(scale=1.0)),
    "scaling-although-none": Fault("qwen3-no-scaling", with_rope(scale=0.25)),
    "yarn-as-linear": Fault("qwen3-yarn", with_rope(yarn_original_context=0)),
    "yarn-context": Fault("qwen3-yarn", with_rope(yarn_original_context=512)),
    "yarn-magnitude": Fault("qwen3-yarn", with_rope(magnitude=1.25)),
    "yarn-betas": Fault("qwen3-yarn", with_rope(yarn_beta_fast=8.0)),
    "positions": Fault("llama", LatePositionsShifted),
    "window-wider": Fault("gemma3", window(1)),
    "window-narrower": Fault("gemma3-linear-period3", window(-1)),
    "window-everywhere": Fault("gemma3", with_layers(lambda layer, _: replace(layer, window=16))),
    "local-rope-base": Fault("gemma3-linear-period3", with_layers(
        lambda layer, _: replace(layer, rope=replace(layer.rope, base=1e4)) if layer.window else layer)),
    "local-rope-scaled": Fault("gemma3-linear-period3", with_rope(scale=0.125)),
    "window-although-none": Fault("gemma3-no-window", with_layers(
        lambda layer, index: layer if index == 5 else replace(layer, rope=replace(layer.rope, base=1e4)))),
    "attention-scale": Fault("gemma3-62-layers", with_configuration(attention_scale=8**-0.5)),
    "embedding-scale": Fault("gemma3", with_configuration(embedding_scale=1.0)),
    "final-softcap": Fault("gemma3-linear-period3", with_configuration(final_softcap=0.0)),
    "gelu": Fault("gemma3", LogisticGelu),
    "silu-for-gelu": Fault("gemma3", with_configuration(activation="silu")),
    "post-norm": Fault("gemma3", NoPostNorm),
    "activation-on-up": Fault("llama", ActivationOnUp),
    "epsilon": Fault("llama", with_configuration(epsilon=1e-6)),
    "head-groups": Fault("llama", GroupedInterleaved),
    "query-key-norms-swapped": Fault("qwen3", with_weights(swap_norms)),
    "cache-not-rounded": Fault("gemma3", CacheNotRounded),
    "query-bias": Fault("qwen2", without_bias("blk.2.attn_q.bias")),
    "down-bias": Fault("llama-biases-rope-factors", without_bias("blk.2.ffn_down.bias")),
    "experts-not-renormalised": Fault("qwen3moe", NotRenormalised),
    "expert-shares": Fault("llama-experts", SharesSwapped),
    "one-expert-too-few": Fault("qwen3moe", with_configuration(experts_used=2)),
    "row-of-zeros": Fault("qwen3-quantised", with_weights(zero_row)),
    "scales": Fault("llama-quantised", with_weights(swap_block_scales)),
    "sequences-see-each-other": Fault("llama", answer=see_other_sequence),
    "sequences-swapped": Fault("qwen3", answer=swap_sequences),
    "cache-forgets": Fault("qwen2", answer=forget_in_single_mode),
    "not-a-number": Fault("llama", answer=one_not_a_number),
    "position-missing": Fault("llama", answer=one_position_missing),
    "sequence-missing": Fault("llama", answer=one_sequence_missing),
}
