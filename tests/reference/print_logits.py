#!/usr/bin/env python3
"""Prints the reference's logits as JSON, in the form that run_reference.py expects of a program.

usage: print_logits.py FILE.gguf TOKENS.json [--cache f32|f16]     exit 77 where numpy or gguf is missing
TOKENS.json holds {"sequences": [[token id, ...], ...]}.
"""

import argparse
import json
import sys

try:
    from comparison import CACHES
    from model import Model
except ImportError as missing:
    print(f"SKIP: {missing}")
    sys.exit(77)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("file")
    arguments.add_argument("tokens")
    arguments.add_argument("--cache", choices=CACHES, default="f32")
    options = arguments.parse_args()
    model = Model(options.file, cache=CACHES[options.cache])
    with open(options.tokens) as request:
        sequences = json.load(request)["sequences"]
    json.dump({"logits": [model.logits(sequence).tolist() for sequence in sequences]}, sys.stdout)


if __name__ == "__main__":
    main()
