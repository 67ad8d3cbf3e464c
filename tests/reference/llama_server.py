"""Asks llama.cpp (PyPI wheel xllamacpp, ready-built) for the log-probabilities of every vocabulary entry."""

import json
import urllib.request

import numpy as np
import xllamacpp

F32 = xllamacpp.ggml_type.GGML_TYPE_F32


class LlamaServer:
    """exact: flash attention off, F32 keys and values: what remains is float rounding (on F32 files)."""

    def __init__(self, path, exact, flash_attention=False, context=512, threads=2):
        settings = xllamacpp.CommonParams()
        settings.model.path, settings.n_ctx, settings.n_parallel = str(path), context, 1
        settings.cpuparams.n_threads, settings.verbosity = threads, 0
        settings.warmup = settings.fit_params = False
        kind = xllamacpp.llama_flash_attn_type
        settings.flash_attn_type = (
            kind.LLAMA_FLASH_ATTN_TYPE_ENABLED if flash_attention else kind.LLAMA_FLASH_ATTN_TYPE_DISABLED
        )
        if exact:
            settings.cache_type_k = settings.cache_type_v = F32
        self.server = xllamacpp.Server(settings)

    def post(self, path, body):
        address, headers = self.server.listening_address + path, {"Content-Type": "application/json"}
        request = urllib.request.Request(address, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def tokenize(self, text):
        return self.post("/tokenize", {"content": text, "add_special": True})["tokens"]

    def continue_greedily(self, tokens, count, top, forbidden=(), forced=None):
        """One entry a generated token: its id and the log-probabilities, before any bias, of the top entries by id."""
        bias = [[token, False] for token in forbidden] + ([] if forced is None else [[forced, 1000.0]])
        answer = self.post(
            "/completion",
            {
                "prompt": tokens,
                "n_predict": count,
                "temperature": 0,
                "n_probs": top,
                "cache_prompt": False,
                "return_tokens": True,
                "logit_bias": bias,
            },
        )
        steps = answer.get("completion_probabilities", [])
        return [(s["id"], {t["id"]: t["logprob"] for t in s["top_logprobs"]}) for s in steps], answer

    def log_probabilities(self, tokens, count, vocabulary, forbidden=()):
        """The ids of a greedy continuation, and [count, vocabulary]; row 0 is what follows the given tokens."""
        steps, _ = self.continue_greedily(tokens, count, vocabulary, forbidden)
        entries = sum(len(top) for _, top in steps)
        if entries != count * vocabulary:
            raise RuntimeError(f"llama.cpp gave {entries} log-probabilities, expected {count} x {vocabulary}")
        values = np.array([[top[token] for token in range(vocabulary)] for _, top in steps])
        return [token for token, _ in steps], values
