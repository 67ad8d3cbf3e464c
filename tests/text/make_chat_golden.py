#!/usr/bin/env python3
"""What Jinja makes of the conversations of chat_conversations.txt with models' own chat templates: chat.golden.

Needs the PyPI wheel jinja2: python3 -m venv v && v/bin/pip install jinja2==3.1.6
usage: v/bin/python make_chat_golden.py NAME=TEMPLATE.jinja… > data/chat.golden
The templates are text files that hold tokenizer.chat_template (v/bin/gguf-dump prints it); llama.cpp's models/templates
has most of them. They are their models' and stay out of this repository; what is kept is what they print.
Those of smollm2, qwen2.5, qwen3, llama3.1, llama3.3 and gemma2 were the models' files; llama3 and gemma3 were transcribed, and
qwen3-thinking-2507 is qwen3's with the last lines that the 2507 models have instead.
A template line, whether it writes a BOS token first, then two lines a conversation, with and without the opening of an
answer; "!" where the template raises an error. The environment is that of Hugging Face's apply_chat_template, without
a clock, so that a template that asks for today's date takes its own default.
"""
import hashlib
import sys

import jinja2
from golden_strings import HERE, unescape


def conversations():
    text = (HERE / "data/chat_conversations.txt").read_text()
    lines = [line for line in text.split("\n") if not line.startswith("#")]
    for block in "\n".join(lines).strip("\n").split("\n\n"):
        messages = []
        for line in block.split("\n"):
            role, content = line.split(" ", 1)
            messages.append({"role": role, "content": unescape(content).decode()})
        yield messages


def escape(text):
    out = text.replace("\\", "\\\\").replace("\n", "\\n")
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in out)


def refuse(message):
    raise jinja2.TemplateError(message)


environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
environment.globals["raise_exception"] = refuse
for argument in sys.argv[1:]:
    name, path = argument.split("=", 1)
    source = open(path, encoding="utf-8").read()
    template = environment.from_string(source)
    lines, bos = [], set()
    for messages in conversations():
        for open_answer in (True, False):
            try:
                text = template.render(messages=messages, add_generation_prompt=open_answer, bos_token="<BOS>", eos_token="")
            except jinja2.TemplateError:
                lines.append("!")
                continue
            bos.add(text.startswith("<BOS>"))
            lines.append(escape(text.removeprefix("<BOS>")))
    (wants_bos,) = bos
    print(f"# sha256 of the template: {hashlib.sha256(source.encode()).hexdigest()}")
    print("template", name, "bos" if wants_bos else "no-bos")
    print("\n".join(lines))
