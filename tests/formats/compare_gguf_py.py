#!/usr/bin/env python3
"""Decodes the same blocks with the PyPI package gguf and with soffit and compares them bit for bit.

usage: compare_gguf_py.py FORMAT_TOOL

The blocks of each format: random bytes; random bytes under chosen scales (zeros of both signs, subnormals, negatives, the
largest, infinities, NaNs); blocks filled with each byte value. NaN equals NaN whatever its payload. Formats without a
search are encoded by both as well. Exit status 77 means that the comparison could not run, and says why.
"""
import importlib.metadata
import pathlib
import subprocess
import sys

try:
    import numpy as np
    import gguf
    from gguf.quants import dequantize, quantize
except ImportError as error:
    print(f"SKIP: {error} (the comparison needs python3 with the packages numpy and gguf)")
    sys.exit(77)

# Byte offsets of the fp16 fields of a block.
HALF_FIELDS = {
    "q4_0": [0], "q4_1": [0, 2], "q5_0": [0], "q5_1": [0, 2], "q8_0": [0], "q2_k": [80, 82], "q3_k": [108],
    "q4_k": [0, 2], "q5_k": [0, 2], "q6_k": [208], "iq4_nl": [0], "iq4_xs": [0], "tq1_0": [52], "tq2_0": [64],
    "mxfp4": [], "f32": [], "f16": [0], "bf16": [0],
}
# +0 -0, subnormals of both signs, the largest subnormal and the smallest normal, 1, -1, the largest, inf, -inf, NaNs.
HALVES = [0x0000, 0x8000, 0x0001, 0x8001, 0x0200, 0x03FF, 0x83FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF,
          0x7C00, 0xFC00, 0x7C01, 0x7E00, 0xFE55]
# gguf 0.19 still carries an early size of this type, which never appears in a file.
SIZES_THAT_DIFFER = {"q8_1"}
# Encoders that are a formula, not a search: equal bytes are expected on ordinary values.
FORMULA_ENCODERS = ["f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "tq1_0", "tq2_0", "mxfp4"]

random = np.random.default_rng(20260821)
failures = 0


def check(condition, message):
    global failures
    if not condition:
        failures += 1
        print("FAIL: " + message)


def run(*arguments, data=b""):
    return subprocess.run([sys.argv[1], *arguments], input=data, stdout=subprocess.PIPE, check=True).stdout


def special_blocks(name, size):
    """Random blocks under every pair of chosen scales, and a block of each byte value."""
    parts = [np.repeat(np.arange(256, dtype=np.uint8)[:, None], size, axis=1)]
    fields = HALF_FIELDS[name]
    if fields:
        pairs = [(a, b) for a in HALVES for b in (HALVES if len(fields) == 2 else [0])]
        blocks = random.integers(0, 256, (len(pairs), size), dtype=np.uint8)
        for block, pair in zip(blocks, pairs):
            for offset, half in zip(fields, pair):
                block[offset], block[offset + 1] = half & 255, half >> 8
        parts.append(blocks)
    if name == "mxfp4":
        blocks = random.integers(0, 256, (256, size), dtype=np.uint8)
        blocks[:, 0] = np.arange(256)
        parts.append(blocks)
    if name in ("f16", "bf16"):
        parts.append(np.arange(65536, dtype=np.uint16).view(np.uint8).reshape(-1, 2))
    return parts


def compare_decode(name, kind, size):
    rows = 65536 if size <= 4 else 4096
    blocks = np.concatenate([random.integers(0, 256, (rows, size), dtype=np.uint8), *special_blocks(name, size)])
    with np.errstate(all="ignore"):
        theirs = np.ascontiguousarray(dequantize(blocks, kind)).astype(np.float32, copy=False).ravel()
    ours = np.frombuffer(run("decode", name, data=blocks.tobytes()), dtype=np.float32)
    check(ours.size == theirs.size, f"{name}: {ours.size} values, gguf has {theirs.size}")
    if ours.size != theirs.size:
        return
    same = (ours.view(np.uint32) == theirs.view(np.uint32)) | (np.isnan(ours) & np.isnan(theirs))
    for i in np.flatnonzero(~same)[:3]:
        print(f"  {name} value {i}: {ours[i]!r}, gguf has {theirs[i]!r}")
    check(same.all(), f"{name}: {np.count_nonzero(~same)} of {same.size} values differ from gguf")
    print(f"{name}: {blocks.shape[0]} blocks, {same.size} values equal, {np.count_nonzero(np.isnan(ours))} of them NaN")


def compare_encode(name, kind, elements):
    rows = 1 << 20 if elements == 1 else 2048
    values = random.standard_normal((rows, elements), dtype=np.float32)
    theirs = quantize(values, kind).reshape(rows, -1).view(np.uint8).reshape(rows, -1)
    ours = np.frombuffer(run("encode", name, data=values.tobytes()), dtype=np.uint8).reshape(rows, -1)
    different = np.count_nonzero((ours != theirs).any(axis=1))
    check(different == 0, f"{name}: {different} of {rows} encoded blocks differ from gguf")
    print(f"{name}: {rows} encoded blocks equal")


def main():
    print(f"numpy {np.__version__}, gguf {importlib.metadata.version('gguf')}")
    listed = {}
    for line in run("list").decode().split("\n"):
        if line:
            number, name, elements, size = line.split()
            listed[name] = (int(number), int(elements), int(size))
    for kind, (elements, size) in gguf.GGML_QUANT_SIZES.items():
        name = kind.name.lower()
        check(name in listed, f"gguf knows {name}, soffit does not")
        if name in listed and name not in SIZES_THAT_DIFFER:
            check(listed[name] == (int(kind), elements, size), f"{name}: {listed[name]}, gguf has {int(kind), elements, size}")
    for name in HALF_FIELDS:
        kind = gguf.GGMLQuantizationType[name.upper()]
        compare_decode(name, kind, listed[name][2])
    for name in FORMULA_ENCODERS:
        compare_encode(name, gguf.GGMLQuantizationType[name.upper()], listed[name][1])
    golden = subprocess.run([sys.executable, pathlib.Path(__file__).parent / "golden/make_golden.py", "--check"])
    check(golden.returncode == 0, "the golden files differ from gguf")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
