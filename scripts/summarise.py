#!/usr/bin/env python3
"""The summary of ./check: what passed, what failed, and what was skipped and why.

usage: summarise.py [--missing NAME]… ALLOWED_SKIPS OUTCOMES CTEST_JUNIT…
CTEST_JUNIT are what ctest --output-junit wrote. OUTCOMES has a line "outcome TAB name TAB reason" for each other check.
ALLOWED_SKIPS has lines "WHEN REGULAR-EXPRESSION": a skip is allowed when an expression matches its whole reason and WHEN
is "always" or one of those things that could not be fetched (--missing). Any other skip is a failure.
The last line is "N passed, N failed, N skipped". Exits 1 when anything failed or nothing passed.
"""

import argparse
import re
import sys
from xml.etree import ElementTree

SKIP_LINE = re.compile(r"^SKIP: (.*)$", re.MULTILINE)
# What GoogleTest prints for GTEST_SKIP() << message.
GOOGLETEST_SKIP = re.compile(r": Skipped\n(.*?)\n+(?=\S*.*: Skipped\n|\[  SKIPPED \])", re.DOTALL)


def skip_reasons(output):
    reasons = SKIP_LINE.findall(output) + GOOGLETEST_SKIP.findall(output)
    return list(dict.fromkeys(" ".join(reason.split()) for reason in reasons))


def ctest_outcomes(path):
    """(outcome, name, reason) of each test. A test that passed but says that it left something out counts twice."""
    try:
        cases = ElementTree.parse(path).iter("testcase")
    except (OSError, ElementTree.ParseError) as error:
        return [("failed", f"ctest, {path}", f"left no report: {error}")]
    outcomes = []
    for case in cases:
        name, status = case.get("name"), case.get("status")
        reasons = skip_reasons(case.findtext("system-out") or "")
        if status == "run":
            outcomes.append(("passed", name, ""))
        elif status == "disabled":
            outcomes.append(("skipped", name, "disabled"))
        elif case.find("skipped") is None or case.find("failure") is not None:
            outcomes.append(("failed", name, ""))
            continue
        elif not reasons:
            outcomes.append(("skipped", name, "no reason given"))
        outcomes += [("skipped", name, reason) for reason in reasons]
    return outcomes


def other_outcomes(path):
    with open(path) as lines:
        return [tuple(line.rstrip("\n").split("\t")) for line in lines]


def read_allowed(path, missing):
    with open(path) as lines:
        entries = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return [re.compile(pattern.strip()) for when, pattern in entries if when == "always" or when in missing]


def judge(outcome, allowed):
    kind, name, reason = outcome
    if kind == "skipped" and not any(pattern.fullmatch(reason) for pattern in allowed):
        return "failed", name, f"skipped for a reason that is not allowed: {reason}"
    return outcome


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--missing", action="append", default=[])
    parser.add_argument("allowed")
    parser.add_argument("others")
    parser.add_argument("reports", nargs="+")
    arguments = parser.parse_args()
    allowed = read_allowed(arguments.allowed, arguments.missing)
    outcomes = other_outcomes(arguments.others)
    for report in arguments.reports:
        outcomes += ctest_outcomes(report)
    outcomes = [judge(outcome, allowed) for outcome in outcomes]

    print()
    skips = {}
    for kind, name, reason in outcomes:
        if kind == "skipped":
            skips.setdefault(reason, []).append(name)
    for reason, names in skips.items():
        print(f"skipped {len(names)}: {reason}")
        for name in names:
            print(f"    {name}")
    for kind, name, reason in outcomes:
        if kind == "failed":
            print(f"failed: {name}" + (f" ({reason})" if reason else ""))
    count = {kind: sum(outcome[0] == kind for outcome in outcomes) for kind in ("passed", "failed", "skipped")}
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 0 if count["passed"] and not count["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
