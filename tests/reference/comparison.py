"""How near to the reference logits have to be. Every bound is measured on the reference itself, at run time, by
rounding in it what the program may round, so that a bound is neither guessed nor grows with a fault."""

import numpy as np

from model import Model, log_softmax

CACHES = {"f32": None, "f16": np.float16}

# Exact comparison: the program computes in float32 what the reference computes in float64. The reference run in
# float32 differs from itself by 4e-6 to 4e-5. The program adds in another order and has its own exponential: this factor
# above that.
EXACT_FACTOR = 6.0

# With an F16 cache, a key near the middle of two f16 values may be rounded either way, and some are. What that may do is
# measured against what rounding does at all (largest about 1e-2, mean about 1e-3 of a logit): over 72 runs of six files
# with weights disturbed by 1e-7, the mean difference was at most 0.30 of the mean effect of rounding. A program that does
# not round, or rounds otherwise, has 1.0.
CACHE_SHARE = 0.5

# Approximate comparison: the program may round the activations that meet quantised weights to 8 bits, one scale for
# 32 to 256 of them. Doing that to the reference, 256 to a scale (32 where a row is no multiple), gives a mean KL
# divergence of 3e-4 to 1e-2 on these files (real models are smoother) and 4 to 12 % of positions whose likeliest
# token changes. The program may have twice the mean divergence, and twice the changed positions plus four. This finds
# a broken kernel, not a small fault: those are for the exact comparison.
APPROXIMATE_FACTOR = 2.0

# Smallest gap between the last expert chosen and the first one not: a file and sequence below it would test a coin.
SMALLEST_ROUTING_GAP = 2e-3


class Reference:
    """Logits of sequences under the roundings that bounds are made of; each computed once."""

    def __init__(self, path):
        self.path, self.models, self.answers = path, {}, {}
        self.vocabulary = len(self.model(np.float64, "f32", None).weights["token_embd.weight"])

    def model(self, numeric, cache, round_activations):
        key = (numeric, cache, round_activations)
        if key not in self.models:
            self.models[key] = Model(self.path, numeric, CACHES[cache], round_activations)
        return self.models[key]

    def logits(self, sequence, cache, numeric=np.float64, round_activations=None):
        key = (tuple(sequence), cache, numeric, round_activations)
        if key not in self.answers:
            self.answers[key] = self.model(numeric, cache, round_activations).logits(sequence)
        return self.answers[key]

    def refuse_near_ties(self, sequences):
        model = self.model(np.float64, "f32", None)
        if model.configuration.experts:
            gap = min(model.routing_gap(sequence) for sequence in sequences)
            if gap < SMALLEST_ROUTING_GAP:
                raise ValueError(f"{self.path.stem}: the choice of experts hangs on {gap:.1e}; choose other tokens")


def round_to_8_bits(x, weight_format):
    if weight_format in ("F32", "F16", "BF16"):
        return x
    block = 256 if x.shape[-1] % 256 == 0 else 32
    groups = x.reshape(*x.shape[:-1], -1, block)
    scale = np.abs(groups).max(axis=-1, keepdims=True) / 127
    scale = np.where(scale == 0, 1, scale)
    return (np.round(groups / scale) * scale).reshape(x.shape)


def checked_shape(sequences, got, vocabulary):
    """The program's logits as arrays; ValueError when some are missing or not finite."""
    if len(got) != len(sequences):
        raise ValueError(f"{len(got)} sequences came back for {len(sequences)}")
    arrays = [np.array(logits, dtype=np.float64) for logits in got]
    for index, (sequence, logits) in enumerate(zip(sequences, arrays)):
        if logits.shape != (len(sequence), vocabulary):
            raise ValueError(f"sequence {index}: shape {logits.shape}, expected {(len(sequence), vocabulary)}")
        if not np.isfinite(logits).all():
            raise ValueError(f"sequence {index}: a logit is not finite")
    return arrays


def compare_exact(reference, sequences, got, cache):
    """(fault or None, figures to print)"""
    got = checked_shape(sequences, got, reference.vocabulary)
    expected = [reference.logits(s, cache) for s in sequences]
    rounding = max(np.abs(reference.logits(s, cache, np.float32) - e).max() for s, e in zip(sequences, expected))
    bound = EXACT_FACTOR * rounding
    errors = [np.abs(g - e).max(axis=1) for g, e in zip(got, expected)]
    worst = max(e.max() for e in errors)
    figures = f"difference {worst:.1e}, bound {bound:.1e}"
    if worst <= bound:
        return None, figures
    sequence = int(np.argmax([e.max() for e in errors]))
    first = int(np.argmax(errors[sequence] > bound))
    return f"sequence {sequence} is wrong from position {first} on", figures


def compare_rounded_cache(reference, sequences, got, cache):
    """(fault or None, figures to print)"""
    got = np.concatenate(checked_shape(sequences, got, reference.vocabulary))
    expected = np.concatenate([reference.logits(s, cache) for s in sequences])
    unrounded = np.concatenate([reference.logits(s, "f32") for s in sequences])
    errors, effects = np.abs(got - expected), np.abs(unrounded - expected)
    allowed = CACHE_SHARE * effects.mean()
    figures = f"difference {errors.max():.1e}, bound {effects.max():.1e}; mean {errors.mean():.1e}, bound {allowed:.1e}"
    right = errors.max() <= effects.max() and errors.mean() <= allowed
    return (None if right else "too far from the reference"), figures


def compare_approximate(reference, sequences, got, cache):
    """(fault or None, figures to print)"""
    got = np.concatenate(checked_shape(sequences, got, reference.vocabulary))
    expected = np.concatenate([reference.logits(s, "f32") for s in sequences])
    rounded = np.concatenate([reference.logits(s, cache, np.float64, round_to_8_bits) for s in sequences])
    divergence, allowed = mean_divergence(expected, got), APPROXIMATE_FACTOR * mean_divergence(expected, rounded)
    changed, may_change = changed_tops(expected, got), 4 + APPROXIMATE_FACTOR * changed_tops(expected, rounded)
    figures = f"mean KL {divergence:.1e}, bound {allowed:.1e}; top token changed {changed}, bound {may_change:.0f}"
    return (None if divergence <= allowed and changed <= may_change else "too far from the reference"), figures


def mean_divergence(expected, got):
    p, q = log_softmax(expected), log_softmax(got)
    return (np.exp(p) * (p - q)).sum(axis=-1).mean()


def changed_tops(expected, got):
    return int((expected.argmax(axis=-1) != got.argmax(axis=-1)).sum())
