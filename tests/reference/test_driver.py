#!/usr/bin/env python3
"""Tests run_reference.py with a stand-in for the program: a right one passes on every file, and each of the faults of
faults.py is found. Without this, a comparison that compares nothing would look just as good.

usage: test_driver.py      exit 77 where numpy or gguf is missing
"""

import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from comparison import Reference
    from faults import FAULTS
    from make_models import make_model
    from recipes import RECIPES
    from run_reference import Program, check_file
    from stand_in import StandIn
except (ImportError, SystemExit) as missing:
    print(f"SKIP: {missing}")
    sys.exit(77)

HERE = Path(__file__).parent


def main():
    problems, references = [], {}

    def expect(condition, message):
        if not condition:
            problems.append(message)
            print("FAIL:", message, flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in RECIPES:
            path = folder / f"{name}.gguf"
            make_model(path, name)
            lines = []
            references[name] = Reference(path)
            failed = check_file(path, StandIn(), lines.append, references[name])
            expect(failed == 0 and lines, f"the stand-in fails on {name}:\n" + "\n".join(lines))
        for name, fault in FAULTS.items():
            lines = []
            failed = check_file(folder / f"{fault.file}.gguf", StandIn(name), lines.append, references[fault.file])
            found = [line for line in lines if "FAIL" in line]
            expect(failed > 0, f"fault {name} is not found on {fault.file}:\n" + "\n".join(lines))
            if fault.answer is None:  # found by comparing numbers, not because the wrong model could not run
                expect(all("difference" in line or "mean KL" in line for line in found), f"fault {name}: {found[:1]}")
            print(f"{name:25} found in {failed} of {len(lines)} cases, {' '.join(found[0].split()) if found else ''}")

        # As a program of its own: right, wrong, crashing, and printing something else.
        path = folder / "qwen2.gguf"
        stand_in = [sys.executable, str(HERE / "stand_in.py")]
        commands = {
            "right": stand_in,
            "wrong": [*stand_in, "--fault", "query-bias"],
            "crashing": [sys.executable, "-c", "raise SystemExit(3)"],
            "chatting": [sys.executable, "-c", "print('hello')"],
        }
        for label, command in commands.items():
            failed = check_file(path, Program(command), lambda line: None)
            expect((failed == 0) == (label == "right"), f"a {label} program: {failed} cases failed")
        driver = [
            sys.executable,
            str(HERE / "run_reference.py"),
            "qwen2",
            "--program",
            stand_in[0],
            "--pass",
            stand_in[1],
        ]
        status = subprocess.run([*driver, "--pass=--fault", "--pass=query-bias"], stdout=subprocess.DEVNULL).returncode
        expect(status == 1, f"the driver exits {status} for a wrong program")
    print(f"{len(RECIPES)} files, {len(FAULTS)} faults, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
