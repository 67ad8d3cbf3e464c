#!/usr/bin/env python3
"""Token ids that llama.cpp gives for the strings of hostile_strings.txt: the golden files of these tests.

Needs the PyPI wheels xllamacpp (llama.cpp ready-built, whose C functions are called here) and gguf:
  python3 -m venv v && v/bin/pip install xllamacpp==2026.10.11549 gguf==0.19.0
usage: v/bin/python make_golden.py MODEL.gguf > data/NAME.golden       ids of a real model's vocabulary
       v/bin/python make_golden.py --pre NAME data/splits.vocabulary > data/splits_NAME.golden
                                                                       of the small vocabulary under a pre-tokeniser
       v/bin/python make_golden.py --pieces MODEL.gguf        the hash of all pieces and the ends of generation
One line a string: the ids without parsing special tokens, then "|", then the ids with it, or "=" when they are equal.
No BOS or EOS is added. A line "!" stands for a string on which llama.cpp ends the program (a code point above U+10FFFF).
"""
import argparse
import ctypes
import os
import re
import sys
import tempfile

from golden_strings import strings


class ModelParameters(ctypes.Structure):
    # llama_model_params begins with these; the rest is only copied.
    _fields_ = [("pointers", ctypes.c_void_p * 2), ("numbers", ctypes.c_int32 * 5), ("more_pointers", ctypes.c_void_p * 4),
                ("vocab_only", ctypes.c_bool), ("rest", ctypes.c_ubyte * 63)]


class Llama:
    def __init__(self, path):
        import xllamacpp
        self.lib = lib = ctypes.CDLL(xllamacpp.xllamacpp.__file__)
        lib.llama_model_default_params.restype = ModelParameters
        lib.llama_model_load_from_file.argtypes = [ctypes.c_char_p, ModelParameters]
        lib.llama_model_load_from_file.restype = ctypes.c_void_p
        lib.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
        lib.llama_model_get_vocab.restype = ctypes.c_void_p
        lib.llama_tokenize.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32,
                                       ctypes.c_bool, ctypes.c_bool]
        callback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
        self.quiet = callback(lambda *_: None)
        lib.llama_log_set(self.quiet, None)
        lib.llama_backend_init()
        parameters = lib.llama_model_default_params()
        parameters.vocab_only = True
        model = lib.llama_model_load_from_file(str(path).encode(), parameters)
        if not model: sys.exit(f"llama.cpp does not load {path}")
        self.vocabulary = lib.llama_model_get_vocab(model)

    def tokenize(self, text, add_special, parse_special):
        ids = (ctypes.c_int32 * (len(text) * 2 + 16))()
        count = self.lib.llama_tokenize(self.vocabulary, text, len(text), ids, len(ids), add_special, parse_special)
        if count < 0: sys.exit(f"llama_tokenize: {count} for {text!r}")
        return list(ids[:count])

    def pieces_hash(self):
        """FNV-1a over every piece, with 0xFF after each."""
        self.lib.llama_token_to_piece.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p, ctypes.c_int32,
                                                  ctypes.c_int32, ctypes.c_bool]
        buffer = ctypes.create_string_buffer(1 << 16)
        value = 0xCBF29CE484222325
        for token in range(self.lib.llama_vocab_n_tokens(ctypes.c_void_p(self.vocabulary))):
            size = self.lib.llama_token_to_piece(self.vocabulary, token, buffer, len(buffer), 0, True)
            for byte in buffer.raw[:size] + b"\xff": value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
        return value

    def ends(self):
        vocabulary = ctypes.c_void_p(self.vocabulary)
        is_end = self.lib.llama_vocab_is_eog
        is_end.restype = ctypes.c_bool
        return [t for t in range(self.lib.llama_vocab_n_tokens(vocabulary)) if is_end(vocabulary, t)]


def aborts(text):
    return re.search(rb"\xf4[\x90-\xbf][\x80-\xbf]{2}|[\xf5-\xf7][\x80-\xbf]{3}", text) is not None


def small_model(path, pre):
    """A GGUF file with nothing but the small vocabulary: see make_splits_vocabulary.py."""
    import gguf
    from make_splits_vocabulary import letters
    lines = open(path, encoding="utf-8").read().split("\n")[1:-1]
    merges = [line for line in lines if " " in line]
    pieces = dict.fromkeys(merge.replace(" ", "") for merge in merges)
    tokens = letters() + [piece for i, piece in enumerate(pieces) if i % 40 != 39] + [line for line in lines if " " not in line]
    out = tempfile.NamedTemporaryFile(suffix=".gguf", delete=False).name
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_tokenizer_model("gpt2"); writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens); writer.add_token_types([1] * len(tokens)); writer.add_token_merges(merges)
    writer.add_add_bos_token(False)
    writer.write_header_to_file(); writer.write_kv_data_to_file(); writer.write_tensors_to_file(); writer.close()
    return out


def main():
    a = argparse.ArgumentParser()
    a.add_argument("file"); a.add_argument("--pre"); a.add_argument("--pieces", action="store_true")
    o = a.parse_args()
    path = small_model(o.file, o.pre) if o.pre else o.file
    llama = Llama(path)
    if o.pre: os.unlink(path)
    if o.pieces:
        print(hex(llama.pieces_hash()), llama.ends())
        return
    for text in strings():
        if aborts(text):
            print("!")
            continue
        plain, special = (llama.tokenize(text, False, parse) for parse in (False, True))
        print(*plain, "|", "=" if plain == special else " ".join(map(str, special)))


main()
