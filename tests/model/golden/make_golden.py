#!/usr/bin/env python3
"""Asks llama.cpp how the real model files continue some prompts, greedily, and writes it down for golden_test.cpp.

usage: make_golden.py FOLDER_WITH_THE_MODELS        needs the PyPI wheel xllamacpp; writes NAME.json beside itself
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "reference"))
from llama_server import LlamaServer  # noqa: E402

PROMPTS = [
    "The capital of France is",
    "Once upon a time, in a small village by the sea,",
    "def fibonacci(n):\n",
    "Water boils at",
    "Die Hauptstadt von Deutschland ist",
    "1, 2, 3, 4, 5,",
]
MODELS = {"smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf", "gemma3": "gemma-3-270m-q4_k_m.gguf"}
TOKENS, TOP = 24, 5

for name, file in MODELS.items():
    server = LlamaServer(Path(sys.argv[1]) / file, exact=False, context=1024)
    entries = []
    for prompt in PROMPTS:
        tokens = server.tokenize(prompt)
        steps, answer = server.continue_greedily(tokens, TOKENS, TOP)
        top = [sorted(likely.items(), key=lambda item: -item[1]) for _, likely in steps]
        entries.append(
            {
                "prompt": prompt,
                "prompt_tokens": tokens,
                "text": answer["content"],
                "tokens": [token for token, _ in steps],
                "top": [[[token, round(value, 4)] for token, value in likely] for likely in top],
            }
        )
    head = {"file": file, "xllamacpp": version("xllamacpp"), "key_value_type": "f16"}
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    (HERE / f"{name}.json").write_text(json.dumps(head)[:-1] + f', "entries": [\n{lines}\n]}}\n')
