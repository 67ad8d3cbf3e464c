#!/usr/bin/env python3
"""Compares a program's logits with the numpy reference, position by position, on every synthetic model.

usage: run_reference.py --program PROGRAM [--pass ARGUMENT]... [NAME...]      exit 77 where numpy or gguf is missing

PROGRAM is started as  PROGRAM [ARGUMENT...] FILE --cache f32|f16 [--exact]  and reads one request on standard input:
    {"sequences": [[token id, ...], ...], "mode": "batch" | "chunks" | "single", "chunk": 7}
All sequences run side by side, each with its own state. A step takes the next positions of every sequence that has any
left, in one batch with rows interleaved (sequence 0 position p, sequence 1 position p, ...): all positions ("batch"),
the next "chunk" of them ("chunks"), or one ("single"). It prints {"logits": [[[value of each vocabulary entry], ...], ...]}
by sequence and position, with at least 9 digits, and exits 0.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np

    from comparison import Reference, compare_approximate, compare_exact, compare_rounded_cache
    from make_models import make_model
    from recipes import RECIPES, test_sequences
except ImportError as missing:
    print(f"SKIP: {missing}")
    sys.exit(77)

# (sequences, mode)
EXACT_CASES = [(1, "batch"), (1, "single"), (1, "chunks"), (2, "batch"), (2, "single"), (2, "chunks")]
OTHER_CASES = [(2, "batch"), (2, "single")]


class Program:
    def __init__(self, command):
        self.command = command

    def logits(self, path, sequences, mode, cache, exact):
        request = {"sequences": sequences, "mode": mode, "chunk": 7}
        command = [*self.command, str(path), "--cache", cache] + (["--exact"] if exact else [])
        done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"exit status {done.returncode}: {done.stderr.strip()[-500:]}")
        return json.loads(done.stdout)["logits"]


def check_file(path, program, report, reference=None):
    """Number of cases that failed."""
    quantised = "formats" in RECIPES[path.stem]
    reference = reference or Reference(path)
    sequences = test_sequences(path.stem, reference.vocabulary)
    reference.refuse_near_ties(sequences)
    cases = [(*case, "f32", True, compare_exact) for case in EXACT_CASES]
    # What the program does unless told otherwise: keys and values in F16, and on quantised files rounded activations.
    cases += [
        (*case, "f16", False, compare_approximate if quantised else compare_rounded_cache) for case in OTHER_CASES
    ]
    failed = 0
    for count, mode, cache, exact, compare in cases:
        exact = exact and quantised
        label = f"{path.stem:26} {count} x {mode:6} cache {cache}{' exact' if exact else ''}"
        try:
            got = program.logits(path, sequences[:count], mode, cache, exact)
            fault, figures = compare(reference, sequences[:count], got, cache)
        except (RuntimeError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            fault, figures = str(error) or type(error).__name__, ""
        failed += fault is not None
        report(f"{label:60} {figures}  {'ok' if fault is None else 'FAIL: ' + fault}")
    return failed


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--pass", dest="passed", action="append", default=[], metavar="ARGUMENT")
    arguments.add_argument("names", nargs="*", metavar="NAME")
    options = arguments.parse_args()
    program, failed, cases = Program([options.program, *options.passed]), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or RECIPES:
            path = Path(folder) / f"{name}.gguf"
            make_model(path, name)
            failed += check_file(path, program, lambda line: print(line, flush=True))
            cases += len(EXACT_CASES) + len(OTHER_CASES)
            path.unlink()
    print(f"{cases - failed} of {cases} cases agree with the reference")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
