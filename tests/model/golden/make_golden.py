#!/usr/bin/env python3
"""Writes down how the real model files continue some prompts, by llama.cpp and by the numpy reference of tests/reference,
for golden_test.cpp.

usage: make_golden.py FOLDER_WITH_THE_MODELS [NAME…]     needs numpy, gguf, xllamacpp; writes NAME.json beside itself

A case has what llama.cpp (F16 keys and values) makes of a prompt, greedily: "tokens", and the "gaps" in log-probability
between each and its "rivals", the likeliest other token. llama.cpp rounds activations to 8 bits, so these are not the
truth: "exact_gaps" are what the reference, which rounds nothing, says of the same pairs when it is fed the same tokens.
The difference is llama.cpp's rounding noise; a token that another implementation has to agree on has a larger gap.

A case of "exact" has a sequence, and for some of its positions the reference's log-probabilities (float64) of the likeliest
tokens. "float32_error" is the largest error of the same reference in float32: a runner that computes in float32 and
rounds no activations has to be within a few times of that.
"""

import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "reference"))
import numpy as np  # noqa: E402
from llama_server import LlamaServer  # noqa: E402
from model import Model, log_softmax  # noqa: E402

# Where two tokens are nearly as likely llama.cpp itself goes another way with flash attention than without; these are the
# settings under which it says what the project promises after "story".
MODELS = {
    "smollm2": {"file": "SmolLM2-135M-Instruct.Q4_1.gguf", "flash_attention": True},
    "gemma3": {"file": "gemma-3-270m-q4_k_m.gguf", "flash_attention": False},
}
CHAT = {
    "smollm2": "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n",
    "gemma3": "<start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n",
}
LICENCE = Path("/usr/share/common-licenses/GPL-3")  # of Debian's base-files
PROMPTS = {
    "capital": "The capital of France is",
    "story": "Once upon a time, in a small village by the sea,",
    "code": "def fibonacci(n):\n    ",
    "numbers": "1, 2, 3, 5, 8, 13, 21,",
    "german": "Die Straße führt über die Brücke und",
    "japanese": "東京は日本の",
    "list": "Three things to pack for a week in the mountains:\n1.",
    # Longer than Gemma's window of 512, and than the batches that prompts are cut into.
    "licence": LICENCE.read_text()[:3000],
}
TOKENS, TOP = 32, 8
EXACT_TOKENS, LICENCE_POSITIONS = 6, 4


def continuation(server, prompt, plain_token):
    """The prompt's ids, the ids that follow, and what text they are."""
    ids = server.tokenize(prompt)
    steps, answer = server.continue_greedily(ids, TOKENS, TOP)
    tokens = answer["tokens"]
    if len(steps) != len(tokens):
        # llama.cpp withholds what belongs to a token that ends inside a character: ask again, a plain token forced.
        steps = []
        for count in range(len(tokens)):
            steps += server.continue_greedily(ids + tokens[:count], 1, TOP, forced=plain_token)[0]
    rivals = [max((t for t in top if t != token), key=top.get) for token, (_, top) in zip(tokens, steps)]
    gaps = [top[token] - top[rival] for token, rival, (_, top) in zip(tokens, rivals, steps)]
    return {
        "prompt": prompt,
        "prompt_tokens": ids,
        "text": answer["content"],
        "tokens": tokens,
        "rivals": rivals,
        "gaps": [round(gap, 3) for gap in gaps],
    }


def exact_gaps(model, case):
    ids, rows = case["prompt_tokens"] + case["tokens"][:-1], np.arange(len(case["tokens"]))
    logits = model.logits(ids, first=len(case["prompt_tokens"]) - 1)
    return [round(gap, 4) for gap in (logits[rows, case["tokens"]] - logits[rows, case["rivals"]]).tolist()]


def exact_case(double, single, tokens, first):
    values = log_softmax(double.logits(tokens, first))
    order = np.argsort(-values, axis=-1)[:, :TOP]
    top = np.take_along_axis(values, order, axis=-1)
    in_single = np.take_along_axis(log_softmax(single.logits(tokens, first).astype(np.float64)), order, axis=-1)
    return {
        "tokens": tokens,
        "first": first,
        "float32_error": float(f"{np.abs(top - in_single).max():.2g}"),
        "top": [[[t, round(v, 7)] for t, v in zip(*row)] for row in zip(order.tolist(), top.tolist())],
    }


def lines(cases):
    return ",\n".join(f"{json.dumps(name)}: {json.dumps(case, ensure_ascii=False)}" for name, case in cases.items())


def write_golden(name, path, flash_attention):
    server = LlamaServer(path, exact=False, flash_attention=flash_attention, context=2048, threads=1)
    plain_token = server.tokenize("a")[-1]
    prompts = PROMPTS | {"chat": CHAT[name].format("What is the boiling point of water?")}
    cases = {name: continuation(server, prompt, plain_token) for name, prompt in prompts.items()}
    double, single = Model(path, np.float64), Model(path, np.float32)
    for case in cases.values():
        case["exact_gaps"] = exact_gaps(double, case)
    short = cases["german"]["prompt_tokens"] + cases["german"]["tokens"][:EXACT_TOKENS]
    long = cases["licence"]["prompt_tokens"]
    exact = {
        "short": exact_case(double, single, short, 0),
        "long": exact_case(double, single, long, len(long) - LICENCE_POSITIONS),
    }
    head = {
        "recipe": "tests/model/golden/make_golden.py",
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "llama_cpp": f"xllamacpp {version('xllamacpp')}, flash attention {'on' if flash_attention else 'off'}",
    }
    with open(HERE / f"{name}.json", "w") as file:
        file.write(f'{json.dumps(head)[:-1]}, "cases": {{\n{lines(cases)}\n}}, "exact": {{\n{lines(exact)}\n}}}}\n')


def main():
    for name in sys.argv[2:] or MODELS:
        write_golden(name, Path(sys.argv[1]) / MODELS[name]["file"], MODELS[name]["flash_attention"])


if __name__ == "__main__":
    main()
