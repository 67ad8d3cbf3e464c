#!/usr/bin/env python3
"""Makes the golden files of this folder with the PyPI package gguf: FORMAT.bin holds blocks, then their values as fp32.

usage: make_golden.py            writes the files
       make_golden.py --check    decodes the blocks of the files once more and compares

Written with gguf 0.19.0 and numpy 2.4.6. Needs ../compare_gguf_py.py for the list of formats and their special scales.
"""
import pathlib
import sys

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

here = pathlib.Path(__file__).parent
sys.path.insert(0, str(here.parent))
from compare_gguf_py import HALF_FIELDS  # noqa: E402

# Scales under which the random blocks stand: ordinary ones, zeros, subnormals, a negative one, the largest.
SCALES = [0x2C00, 0xA9F3, 0x0000, 0x8000, 0x0001, 0x83FF, 0x7BFF, 0x3555]


def values_of(blocks, kind):
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(dequantize(blocks, kind)).astype(np.float32, copy=False).ravel()


def make_blocks(name, size):
    random = np.random.default_rng([ord(c) for c in name])
    blocks = random.integers(0, 256, (len(SCALES) if size > 2 else 64, size), dtype=np.uint8)
    for row, block in enumerate(blocks):
        for field, offset in enumerate(HALF_FIELDS[name]):
            if size > 2:  # f16 itself stays random
                half = SCALES[(row + field * 3) % len(SCALES)]
                block[offset], block[offset + 1] = half & 255, half >> 8
    return blocks


def main():
    check = sys.argv[1:] == ["--check"]
    for name in HALF_FIELDS:
        kind = GGMLQuantizationType[name.upper()]
        elements, size = GGML_QUANT_SIZES[kind]
        path = here / f"{name}.bin"
        if check:
            data = np.fromfile(path, dtype=np.uint8)
            count = data.size // (size + 4 * elements)
            blocks, values = data[:count * size].reshape(count, size), data[count * size:].view(np.float32)
            if not np.array_equal(values_of(blocks, kind), values, equal_nan=True):
                sys.exit(f"{path.name} is not what gguf decodes")
        else:
            blocks = make_blocks(name, size)
            path.write_bytes(blocks.tobytes() + values_of(blocks, kind).tobytes())
    print("golden files", "agree with gguf" if check else "written")


if __name__ == "__main__":
    main()
