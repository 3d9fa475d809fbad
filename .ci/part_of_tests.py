#!/usr/bin/env python3
"""Every third test program, say, and its tests: what one change builds and runs where all take too long.

    part_of_tests.py BUILD PART OF targets|tests [CTEST ARGUMENTS]

Of the tests in the folder BUILD that ctest selects, those of every OF-th program from number PART (from 0) on. Prints
the targets that they need, or a regular expression of their names for ctest -R.
"""
import json
import os
import re
import subprocess
import sys


def program_of(test):
    """The target of tests/ that the test runs, or None: a driver or a script."""
    for word in test.get("command", []):
        folder, name = os.path.split(word)
        if folder.endswith("/tests/bin"):
            return name
    return None


def main(build, part, of, what, *arguments):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", *arguments], check=True,
                             capture_output=True, text=True).stdout
    tests = {}
    for test in json.loads(listing)["tests"]:
        tests.setdefault(program_of(test), []).append(test["name"])
    drivers = tests.pop(None, [])
    chosen = sorted(tests)[int(part)::int(of)]
    if what == "targets":
        print(" ".join(["sparsegpu", "programs", *chosen]))
        return
    names = drivers + [name for program in chosen for name in tests[program]]
    print("^(" + "|".join(re.escape(name) for name in names) + ")$")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
