#!/usr/bin/env python3
"""Answers as a model runner would (see run_reference.py), computed by the reference itself in float32: what the driver
is tested with. --fault NAME makes it wrong in one way.

usage: stand_in.py FILE --cache f32|f16 [--exact] [--fault NAME]
"""

import argparse
import json
import sys

import numpy as np

from comparison import CACHES, round_to_8_bits
from faults import FAULTS
from model import Model


class StandIn:
    def __init__(self, fault=None):
        self.fault = FAULTS[fault] if fault else None
        self.kind = self.fault.model if fault else Model
        self.answers = {}  # what the mode cannot change is computed once

    def logits(self, path, sequences, mode, cache, exact):
        key = (path, len(sequences), cache, exact)
        if key not in self.answers:
            rounded = round_to_8_bits if not exact and "quantised" in str(path) else None
            model = self.kind(path, np.float32, CACHES[cache], rounded)
            self.answers[key] = model, [model.logits(sequence) for sequence in sequences]
        model, answer = self.answers[key]
        if self.fault and self.fault.answer:
            answer = self.fault.answer(model, sequences, mode, [logits.copy() for logits in answer])
        return [logits.tolist() for logits in answer]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("file")
    arguments.add_argument("--cache", choices=CACHES, required=True)
    arguments.add_argument("--exact", action="store_true")
    arguments.add_argument("--fault", choices=FAULTS)
    options = arguments.parse_args()
    request = json.load(sys.stdin)
    answer = StandIn(options.fault).logits(
        options.file, request["sequences"], request["mode"], options.cache, options.exact
    )
    json.dump({"logits": answer}, sys.stdout)


if __name__ == "__main__":
    main()
