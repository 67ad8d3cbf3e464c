"""Tokenizer sections for synthetic models: small, complete (any text can be tokenised), and loadable by llama.cpp."""

import gguf

NORMAL, UNKNOWN, CONTROL, BYTE = (int(gguf.TokenType[name]) for name in ("NORMAL", "UNKNOWN", "CONTROL", "BYTE"))
MERGES = ["Ġ t", "h e", "Ġt he", "i n", "Ġ a", "e r", "o n", "Ġ Ġ", "r e", "Ġ s"]
PIECES = ["▁", "▁t", "he", "▁the", "in", "▁a", "er", "on", "re", "▁s", "t", "h", "e", "a", "i", "n", "o", "r", "s"]


def byte_alphabet():
    """Byte-level BPE's letter for each byte: printable bytes stand for themselves, the others for U+0100 and on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters, following = {}, 0x100
    for byte in range(256):
        letters[byte] = chr(byte if byte in printable else following)
        following += byte not in printable
    return [letters[byte] for byte in range(256)]


def add_byte_level_bpe(writer, pre):
    tokens = (
        byte_alphabet() + [merge.replace(" ", "") for merge in MERGES] + ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    )
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([NORMAL] * (len(tokens) - 3) + [CONTROL] * 3)
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(len(tokens) - 3)
    writer.add_eos_token_id(len(tokens) - 1)
    return len(tokens)


def add_sentencepiece(writer):
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + PIECES
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * 259 + [-float(rank) for rank in range(len(PIECES))])
    writer.add_token_types([UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * len(PIECES))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    return len(tokens)
