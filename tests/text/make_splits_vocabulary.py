#!/usr/bin/env python3
"""A small vocabulary that shows where a pre-tokeniser cuts: byte-pair merges learnt over hostile_strings.txt without any
cutting, so that merges cross every boundary and a boundary in the wrong place changes the ids.

usage: python3 make_splits_vocabulary.py > data/splits.vocabulary
A line with a space is a merge; a line without one is a token that no merge makes, for the pre-tokenisers that take whole
words. The tokens are the 256 letters of the byte alphabet in the order of their bytes, the pieces that the merges make,
except every 40th, so that some merges end in what is no token, and the whole words.
"""
import collections
import re

from golden_strings import strings

MERGES = 4000


def letters():
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    other = iter(range(0x100, 0x144))
    return [chr(b) if b in own else chr(next(other)) for b in range(256)]


def main():
    alphabet = letters()
    # Repetitions would teach only themselves.
    words = [[alphabet[b] for b in text.decode("utf-8", "replace").encode()] for text in strings() if len(text) <= 120]
    print("# see make_splits_vocabulary.py; merges, best first, then whole words")
    pieces = set()
    for _ in range(MERGES):
        pairs = collections.Counter(pair for word in words for pair in zip(word, word[1:]))
        if not pairs: break
        (left, right), _ = min(pairs.items(), key=lambda item: (-item[1], item[0]))
        print(left, right)
        pieces.add(left + right)
        for word in words:
            i = 0
            while i + 1 < len(word):
                if word[i] == left and word[i + 1] == right: word[i:i + 2] = [left + right]
                i += 1
    text = b"\n".join(strings()).decode("utf-8", "replace").replace(" ", "Ġ")
    for word in sorted(set(re.findall("Ġ?[A-Za-z]{5,20}", text)) - pieces): print(word)


if __name__ == "__main__":
    main()
