#!/usr/bin/env python3
"""Checks the numpy reference against llama.cpp: log-probabilities of the whole vocabulary on the synthetic F32 files.

usage: check_against_llama.py [NAME…]     needs numpy, gguf, xllamacpp; exit 77 where one is missing
Each file is asked two ways: prompts of several lengths evaluated in one batch, and a continuation of 60 tokens
evaluated one by one; both run past every sliding window. Logits themselves are not visible from outside llama.cpp; the
log-softmax fixes them but for a constant per position.
"""

import sys
import tempfile
from pathlib import Path

try:
    import numpy as np

    from llama_server import LlamaServer
    from make_models import make_model
    from model import Model, log_softmax
    from recipes import RECIPES, random_tokens
except ImportError as missing:
    print(f"SKIP: {missing}")
    sys.exit(77)

PROMPT_LENGTHS = (1, 2, 7, 16, 17, 18, 40, 90)

# llama.cpp computes in float32, so it may differ from the float64 reference as much as the reference does when run in
# float32, times this factor (sums are taken in another order). For SiLU models that makes a bound of about 5e-5.
# Gemma's GELU is looked up by llama.cpp in a table of f16 results at f16 arguments, and so it is here; an argument
# within rounding of the middle between two f16 values is looked up one entry apart, a step of 2^-11 in one hidden
# value, and both differences become about 1e-3 (4e-3 without the table).
FACTOR = 4.0


class ModelWithGeluTable(Model):
    def activate(self, gate):
        if self.configuration.activation != "gelu":
            return super().activate(gate)
        return super().activate(gate.astype(np.float16).astype(self.numeric)).astype(np.float16).astype(self.numeric)


def printable_only(model):
    """Every token but printable ASCII: llama.cpp reports nothing for one that ends the text or part of a character."""
    tokens = model.metadata["tokenizer.ggml.tokens"]
    allowed = [chr(code) for code in range(0x21, 0x7F)] + [f"<0x{code:02X}>" for code in range(0x21, 0x7F)]
    return [token for token, text in enumerate(tokens) if text not in allowed]


def differences(path):
    """Largest difference in one batch and token by token, and the bound for both."""
    model, server = ModelWithGeluTable(path), LlamaServer(path, exact=True, threads=1)
    in_float32 = ModelWithGeluTable(path, numeric=np.float32)
    vocabulary = len(model.weights["token_embd.weight"])
    tokens, forbidden = random_tokens(path.stem, max(PROMPT_LENGTHS), vocabulary), printable_only(model)
    expected = log_softmax(model.logits(tokens))
    rounding = np.abs(log_softmax(in_float32.logits(tokens)) - expected).max()
    batch = 0.0
    for length in PROMPT_LENGTHS:
        _, got = server.log_probabilities(tokens[:length], 1, vocabulary, forbidden)
        batch = max(batch, np.abs(got[0] - expected[length - 1]).max())
    continuation, got = server.log_probabilities(tokens[:3], 60, vocabulary, forbidden)
    single = np.abs(got - log_softmax(model.logits(tokens[:3] + continuation))[2:62]).max()
    return batch, single, FACTOR * rounding


def main():
    names = sys.argv[1:] or [name for name, recipe in RECIPES.items() if "formats" not in recipe]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = Path(folder) / f"{name}.gguf"
            make_model(path, name)
            batch, single, bound = differences(path)
            right = batch <= bound and single <= bound
            failed += not right
            print(
                f"{name:26} one batch {batch:.1e}  token by token {single:.1e}  bound {bound:.1e}  "
                f"{'ok' if right else 'FAIL'}",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
