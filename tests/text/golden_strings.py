"""The strings of hostile_strings.txt, for the recipes beside it."""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


def unescape(line):
    def one(match):
        t = match.group(0)
        if t.startswith("\\x"): return bytes([int(t[2:], 16)])
        if t.startswith("\\u{"): return chr(int(t[3:-1], 16)).encode("utf-8", "surrogatepass")
        if t.startswith("\\*"):
            count, text = re.fullmatch(r"\\\*(\d+)\((.*)\)", t, re.S).groups()
            return unescape(text) * int(count)
        if t.startswith("\\"): return {"\\": b"\\", "n": b"\n", "r": b"\r", "t": b"\t", "e": b""}[t[1]]
        return t.encode()
    return b"".join(one(m) for m in re.finditer(r"\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}|\\\*\d+\([^)]*\)|\\.|[^\\]", line))


def strings():
    for line in (HERE / "data/hostile_strings.txt").read_text().split("\n"):
        if line and not line.startswith("#"): yield unescape(line)
