#!/usr/bin/env python3
"""Writes or checks golden/NAME.json: some of the reference's logits on each synthetic model, so that neither the
recipes nor the reference change unnoticed.

usage: make_golden.py [--check]     exit 77 where numpy or gguf is missing
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

try:
    import gguf
    import numpy as np

    from make_models import make_model
    from model import Model
    from recipes import RECIPES, test_sequences
except ImportError as missing:
    print(f"SKIP: {missing}")
    sys.exit(77)

FOLDER = Path(__file__).parent / "golden"
POSITIONS = (0, 1, 18, 36)
ENTRIES = (0, 1, 64, 100, 203, 268)
ROUNDING = 2e-7  # of values printed with 7 digits, of size up to 10; the reference itself is in float64


def weights_hash(path):
    """SHA-256 over the tensors' names and bytes, which a new version of the writer leaves alone."""
    digest = hashlib.sha256()
    for tensor in gguf.GGUFReader(path).tensors:
        digest.update(tensor.name.encode() + tensor.data.tobytes())
    return digest.hexdigest()


def golden(path):
    model = Model(path)
    sequences = test_sequences(path.stem, len(model.weights["token_embd.weight"]))
    logits = [model.logits(sequence)[np.ix_(POSITIONS, ENTRIES)] for sequence in sequences]
    return {
        "recipe": "tests/reference/make_golden.py",
        "file": path.stem,
        "weights_sha256": weights_hash(path),
        "sequences": sequences,
        "positions": POSITIONS,
        "entries": ENTRIES,
        "logits": [[[float(f"{v:.7g}") for v in row] for row in rows] for rows in logits],
    }


def differences(name, expected, got):
    for key in ("weights_sha256", "sequences"):
        if expected[key] != got[key]:
            yield f"{name}: {key} differs"
    error = np.abs(np.array(expected["logits"]) - np.array(got["logits"])).max()
    if not error <= ROUNDING * 10:
        yield f"{name}: logits differ by {error:.1e}"


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for name in RECIPES:
            path, file = Path(folder) / f"{name}.gguf", FOLDER / f"{name}.json"
            make_model(path, name)
            values = golden(path)
            if "--check" in sys.argv[1:]:
                problems += differences(name, json.loads(file.read_text()), json.loads(json.dumps(values)))
            else:
                FOLDER.mkdir(exist_ok=True)
                file.write_text(json.dumps(values) + "\n")
    print("\n".join(problems) or f"{len(RECIPES)} files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
