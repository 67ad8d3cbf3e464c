#!/usr/bin/env python3
"""Synthetic files are files to llama.cpp (PyPI wheel xllamacpp): it loads and runs each shape in each mix.

usage: check_against_llama.py --program SOFFIT     needs xllamacpp and numpy; exit 77 where one is missing
Token ids of a hostile text must be the same in both programs, and llama.cpp's log-probabilities finite and varied.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "reference"))
try:
    from llama_server import LlamaServer
except ImportError as missing:
    print(f"SKIP: {missing}")
    sys.exit(77)

SHAPES = ("qwen3-tiny", "qwen3moe-tiny", "llama-tiny")
MIXES = ("q8_0", "q6_k", "q4_k_m", "ud-q4_k_xl", "iq4_xs", "tq1_0", "tq2_0", "mxfp4", "bf16")
TEXT = "The roofs of three houses,\n\tna\u00efve \u6f22\u5b57 \U0001f98a 12345   and a half."


def soffit(program, *arguments):
    result = subprocess.run([program, *map(str, arguments)], capture_output=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"soffit {arguments[0]} failed: {result.stderr.decode(errors='replace')}")
    return result.stdout


def faults(program, path, tokens_too):
    server = LlamaServer(path, exact=False, context=128, threads=1)
    tokens = server.post("/tokenize", {"content": TEXT, "add_special": False})["tokens"]
    if tokens_too:
        ours = json.loads(soffit(program, "tokenize", "-m", path, "-p", TEXT, "--output", "json"))
        if ours != tokens:
            yield f"token ids {ours}, llama.cpp has {tokens}"
    steps, _ = server.continue_greedily(tokens, 4, 100)
    if len(steps) == 0:
        yield "llama.cpp generated nothing"
    for _, top in steps:
        values = sorted(top.values(), reverse=True)
        if len(values) < 100 or not all(map(math.isfinite, values)):
            yield f"{len(values)} log-probabilities, not all finite"
        elif values[0] - values[-1] < 3:
            yield f"log-probabilities of 100 tokens lie between {values[0]} and {values[-1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            for mix in MIXES:
                path = Path(folder) / f"{shape}-{mix}.gguf"
                soffit(program, "synth", shape, mix, path)
                found = list(faults(program, path, tokens_too=mix == MIXES[0]))
                failed += bool(found)
                print(f"{shape:14} {mix:10} {'; '.join(found) or 'ok'}", flush=True)
                path.unlink()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
