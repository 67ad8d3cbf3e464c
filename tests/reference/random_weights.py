"""Random weights that are the same everywhere: in F32, F16, BF16, or as random blocks of a quantised format.

Quantised weights are not encoded from numbers: every bit of a block is drawn, except that scales are finite, of
moderate size and different from block to block. The whole code space gets used, and no encoder's version can change a
file.
"""

import zlib

import gguf
import numpy as np

# Byte offset of the fp16 block scale; of the fp16 block minimum, with the multiple of the scale that centres weights
# on 0.
SCALE_AT = {
    "Q4_0": 0,
    "Q4_1": 0,
    "Q5_0": 0,
    "Q5_1": 0,
    "Q8_0": 0,
    "Q2_K": 80,
    "Q3_K": 108,
    "Q4_K": 0,
    "Q5_K": 0,
    "Q6_K": 208,
    "IQ4_NL": 0,
    "IQ4_XS": 0,
    "TQ1_0": 52,
    "TQ2_0": 64,
}
MINIMUM_AT = {"Q4_1": (2, -7.5), "Q5_1": (2, -15.5), "Q2_K": (82, 1.5), "Q4_K": (2, 7.5), "Q5_K": (2, 15.5)}


class Stream:
    """SplitMix64 (Steele, Lea, Flood 2014), counted from a seed made of the file's and the tensor's name."""

    def __init__(self, *names):
        self.next = zlib.crc32("/".join(names).encode()) << 32

    def integers(self, count):
        with np.errstate(over="ignore"):
            z = np.uint64(self.next) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        self.next = (self.next + count * 0x9E3779B97F4A7C15) % 2**64
        return z ^ (z >> np.uint64(31))

    def uniform(self, count, low=0.0, high=1.0):
        return low + (high - low) * (self.integers(count) >> np.uint64(40)).astype(np.float64) / 2**24

    def bytes(self, count):
        return (self.integers(count) >> np.uint64(32)).astype(np.uint8)


def plain(stream, shape, deviation, mean=0.0):
    """float32 values, uniform around the mean."""
    reach = deviation * np.sqrt(3.0)
    return stream.uniform(int(np.prod(shape)), mean - reach, mean + reach).astype(np.float32).reshape(shape)


def rows_of_blocks(stream, shape, deviation, format_name):
    """uint8 [.., bytes of a row] of a quantised format whose decoded weights have about the deviation."""
    quantisation = gguf.GGMLQuantizationType[format_name]
    block, size = gguf.GGML_QUANT_SIZES[quantisation]
    if shape[-1] % block:
        raise ValueError(f"{format_name}: {shape[-1]} columns are not a multiple of {block}")
    count = int(np.prod(shape)) // block
    data = random_codes(stream, count, size, format_name)
    spread = stream.uniform(count, 0.6, 1.4)
    if format_name == "MXFP4":  # one exponent byte; 127 stands for 2^-1 and the codes' deviation is about 6
        data[:, 0] = np.round(np.log2(deviation / 6.0) + 128).astype(np.uint8) + (spread > 1.0)
    else:
        set_scales(data, spread, format_name)  # for weights of about unit scale, to learn their deviation
        decoded = gguf.quants.dequantize(data.reshape(-1), quantisation)
        # Two digits: sums may come out differently in the last bits on another processor, the scales must not.
        set_scales(data, spread * float(f"{deviation / decoded.std():.2g}"), format_name)
    return data.reshape(*shape[:-1], shape[-1] // block * size)


def random_codes(stream, count, size, format_name):
    if format_name == "TQ2_0":  # the fourth code of a ternary pair of bits is no weight
        digits = (stream.integers(count * (size - 2) * 4) % np.uint64(3)).astype(np.uint8).reshape(count, size - 2, 4)
        codes = digits[..., 0] | digits[..., 1] << 2 | digits[..., 2] << 4 | digits[..., 3] << 6
    elif format_name == "TQ1_0":  # five ternary digits (the last four bytes: four) times 256/243, rounded up
        numbers = (stream.integers(count * (size - 2)) % np.uint64(243)).astype(np.int64).reshape(count, size - 2)
        numbers[:, -4:] -= numbers[:, -4:] % 3
        codes = ((numbers * 256 + 242) // 243).astype(np.uint8)
    else:
        return stream.bytes(count * size).reshape(count, size)
    return np.concatenate([codes, np.zeros((count, 2), np.uint8)], axis=1)


def set_scales(data, scales, format_name):
    put_half(data, SCALE_AT[format_name], scales)
    if format_name in MINIMUM_AT:
        at, ratio = MINIMUM_AT[format_name]
        put_half(data, at, scales * ratio)


def put_half(data, at, values):
    data[:, at : at + 2] = values.astype("<f2").view(np.uint8).reshape(-1, 2)
