#!/usr/bin/env python3
"""The golden tokens of sampler_test.cpp, drawn by a second sampler written from the description in sampler.hpp.

usage: python3 make_sampler_golden.py
"""
import math
import struct

MASK = (1 << 64) - 1


def f32(x): return struct.unpack("f", struct.pack("f", x))[0]


class Random:  # xoshiro256**, seeded by SplitMix64
    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = seed + 0x9E3779B97F4A7C15 & MASK
            z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & MASK
            z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
            self.s.append(z ^ z >> 31)

    def uniform(self):
        s = self.s
        rotate = lambda x, k: (x << k | x >> 64 - k) & MASK
        result, t = rotate(s[1] * 5 & MASK, 7) * 9 & MASK, s[1] << 17 & MASK
        s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return (result >> 11) * 2.0**-53


def many_logits(size):
    random, logits = Random(7), []
    for _ in range(size):
        x = 0.0
        for _ in range(12): x = f32(x + f32(random.uniform()))
        logits.append(f32(f32(x - 6) * 3))
    return logits


def sequence(logits, count, seed, temperature=f32(0.8), top_k=40, top_p=f32(0.95), min_p=f32(0.05), penalty=1.0):
    random, recent, out = Random(seed), [], []
    for _ in range(count):
        scores = list(logits)
        for i in set(recent[-64:]): scores[i] = f32(scores[i] / penalty) if scores[i] > 0 else f32(scores[i] * penalty)
        order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        if top_k > 0: order = order[:top_k]
        best = scores[order[0]]
        weight = {i: math.exp(scores[i] - best) for i in order}
        total, kept, mass = sum(weight.values()), [], 0.0
        for i in order:
            if top_p < 1 and mass >= top_p * total: break
            mass += weight[i]
            kept.append(i)
        kept = [i for i in kept if weight[i] >= min_p]
        weight = {i: math.exp((scores[i] - best) / temperature) for i in kept}
        u, mass, total = random.uniform(), 0.0, sum(weight.values())
        for i in kept:
            mass += weight[i] / total
            if u < mass: break
        out.append(i)
        recent.append(i)
    return out


logits = many_logits(1000)
print("defaults, seed 11:", sequence(logits, 16, 11))
print("no top-k, top-p 0.9, temperature 1.5, seed 3:", sequence(logits, 16, 3, 1.5, 0, f32(0.9), 0.0))
print("penalty 1.3, seed 5:", sequence(logits, 16, 5, penalty=f32(1.3)))
