#!/usr/bin/env python3
"""What each format costs a model: KL divergence, top token and perplexity against the same model in F16.

usage: bench/quality.py --program SOFFIT --text FILE [--context 512] [--chunks 8] [--formats F,...] MODEL...
       bench/quality.py --render      writes docs/quality.md from docs/quality.json
       bench/quality.py --check       exit 1 when docs/quality.md is not what --render would write
Everything is done by the program: `quantize MODEL base f16`, `perplexity --save-logits --exact`, then for each format
`quantize base FILE FORMAT` and `perplexity --kl-against`, with and without --exact. Needs nothing but Python's standard library, a temporary
folder ($TMPDIR) of some gigabytes, and time. The results replace docs/quality.json and docs/quality.md.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
RESULTS, PAGE = DOCS / "quality.json", DOCS / "quality.md"
FORMATS = (
    "bf16 q8_0 q6_k q5_1 q5_k q5_0 q4_1 q4_k q4_0 iq4_nl iq4_xs mxfp4 q3_k q2_k tq2_0 tq1_0"  # by bits a weight
).split()


SCORES = ("perplexity", "stderr", "kl_mean", "kl_stderr", "kl_p99", "kl_max", "same_top")


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


class Program:
    def __init__(self, path):
        self.path = path

    def __call__(self, *arguments):
        command = [self.path, *map(str, arguments), "--output", "json"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stderr}")
        return json.loads(result.stdout)


def elements(tensor):
    count = 1
    for dimension in tensor["shape"]:
        count *= dimension
    return count


def quantise(program, base, path, name):
    """The converted tensors, and all. Matrices whose rows are no whole blocks of the format stay F16."""
    tensors = program("quantize", base, path, name)["tensors"]
    if any("wanted" in tensor for tensor in tensors):
        overrides = [f"--tensor={t['name']}={name}" for t in tensors if t["from"] != t["to"] and "wanted" not in t]
        tensors = program("quantize", base, path, "f16", *overrides)["tensors"] if overrides else []
    return [t for t in tensors if t["to"] == name], tensors


def measure_format(program, base, logits, scoring, name, folder):
    path = folder / f"{name}.gguf"
    converted, tensors = quantise(program, base, path, name)
    if not converted:
        return None
    matrices = [t for t in tensors if len(t["shape"]) > 1]
    weights = sum(map(elements, matrices))
    score = program("perplexity", "-m", path, *scoring, "--kl-against", logits, "--exact")
    as_run = program("perplexity", "-m", path, *scoring, "--kl-against", logits)
    path.unlink()
    return {
        "format": name,
        "share": sum(map(elements, converted)) / weights,
        "bits_per_weight": 8 * sum(t["bytes"] for t in converted) / sum(map(elements, converted)),
        "model_bits_per_weight": 8 * sum(t["bytes"] for t in matrices) / weights,
        "relative_rmse": (
            sum(t["relative_rmse"] ** 2 * elements(t) for t in converted) / sum(map(elements, converted))
        ) ** 0.5,
        **{key: score[key] for key in SCORES},
        "as_run": {key: as_run[key] for key in SCORES},
    }


def measure_model(program, model, scoring, formats, folder, save):
    base, logits = folder / "base.gguf", folder / "base.logits"
    program("quantize", model, base, "f16")
    score = program("perplexity", "-m", base, *scoring, "--save-logits", logits, "--exact")
    print(f"{model.name}: f16 perplexity {score['perplexity']:.4f}", flush=True)
    result = {
        "model": model.name,
        "sha256": sha256(model),
        "tokens_scored": score["tokens"],
        "base": {"format": "f16", "perplexity": score["perplexity"], "stderr": score["stderr"]},
        "tried": [],
        "formats": [],
    }
    for name in formats:
        row = measure_format(program, base, logits, scoring, name, folder)
        result["tried"].append(name)
        if row is None:
            print(f"  {name:7} fits no matrix", flush=True)
            continue
        result["formats"].append(row)
        save(result)
        print(
            f"  {name:7} {row['share']:4.0%} of the weights, perplexity {row['perplexity']:.4f}, mean KL "
            f"{row['kl_mean']:.6f}, as run {row['as_run']['kl_mean']:.6f}",
            flush=True,
        )
    save(result)


def measure(options):
    """Writes the results after every format, so that a run that is stopped leaves those it has."""
    program, text = Program(options.program), Path(options.text)
    scoring = ["-f", text, "-c", options.context, "--chunks", options.chunks]
    results = {
        "text": {"file": text.name, "sha256": sha256(text)},
        "context": options.context,
        "chunks": options.chunks,
        "models": [],
    }
    for model in map(Path, options.models):
        with tempfile.TemporaryDirectory() as folder:
            others = list(results["models"])

            def save(result, others=others):
                results["models"] = [*others, result]
                RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")

            measure_model(program, model, scoring, options.formats.split(","), Path(folder), save)


def binomial_error(share, count):
    return (share * (1 - share) / count) ** 0.5


HEAD = """# What each format costs

Made by `bench/quality.py` from `docs/quality.json`; do not edit. The command:

    bench/quality.py --program build/release/soffit --text {text} --context {context} --chunks {chunks}{formats} {models}

Each real file is decoded to F16 by `soffit quantize`; that is the base. Each format is encoded from the base, and both
read the same text in windows of {context} tokens, {chunks} of them, of which the second half is scored.

* **KL**: Kullback-Leibler divergence of the base's distribution of the next token from the format's, in nats.
* **±**: the standard error of the mean KL, over the tokens scored. Those of one text are no independent sample of all
  texts, so it says how far another part of the same text may differ, no more.
* **same top**: how often both put the same token first; its standard error is in parentheses.
* **bits**: bits a weight of the matrices in the format. **share**: their part of all weights; where it is not 100 %,
  rows of the others are no whole blocks of the format, and they stay F16, so that the row is about this format alone;
  rows with different shares cannot be compared.
* **as run**: mean KL without `--exact`, activations rounded to int8 as soffit does by default where it is faster. All
  other columns are with `--exact`: the cost of the weights' format alone.
* **rmse**: error of the weights in the format, relative to their root mean square.

The base files are quantised themselves, so the format that a file's weights come from looks better here than it is: the
weights lie on its grid already. No importance matrix is used anywhere.
"""


def render(results):
    tried = results["models"][0]["tried"]
    text = HEAD.format(
        formats="" if sorted(tried) == sorted(FORMATS) else f" --formats {','.join(tried)}",
        text=results["text"]["file"],
        context=results["context"],
        chunks=results["chunks"],
        models=" ".join(model["model"] for model in results["models"]),
    )
    for model in results["models"]:
        base = model["base"]
        text += (
            f"\n## {model['model']}\n\nF16: perplexity {base['perplexity']:.4f} ± {base['stderr']:.4f} over "
            f"{model['tokens_scored']} tokens.\n\n"
            "| format | bits | share | rmse | mean KL | ± | 99 % KL | same top | perplexity | ÷ F16 | as run |\n"
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        )
        for row in sorted(model["formats"], key=lambda r: (-round(r["share"], 3), -r["bits_per_weight"])):
            text += (
                f"| {row['format']} | {row['bits_per_weight']:.4g} | {row['share']:.0%} | {row['relative_rmse']:.2%} "
                f"| {row['kl_mean']:.5f} | {row['kl_stderr']:.5f} | {row['kl_p99']:.4f} "
                f"| {row['same_top']:.1%} ({binomial_error(row['same_top'], model['tokens_scored']):.1%}) "
                f"| {row['perplexity']:.4f} "
                f"| {row['perplexity'] / base['perplexity']:.4f} | {row['as_run']['kl_mean']:.5f} |\n"
            )
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--program")
    parser.add_argument("--text")
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--chunks", type=int, default=8)
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--render", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        right = PAGE.read_text(encoding="utf-8") == render(json.loads(RESULTS.read_text(encoding="utf-8")))
        print("docs/quality.md is current" if right else "docs/quality.md is not what docs/quality.json says")
        return 0 if right else 1
    if not options.render:
        if not (options.models and options.program and options.text):
            parser.error("--program, --text and a MODEL are needed")
        measure(options)
    PAGE.write_text(render(json.loads(RESULTS.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
