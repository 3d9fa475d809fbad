#!/usr/bin/env python3
"""Every third test program, say, and its tests: what one change builds and runs where all take too long.

    part_of_tests.py BUILD PART OF targets|tests [CTEST ARGUMENTS]

Of the tests in the folder BUILD that ctest selects, those of every OF-th program from number PART (from 0) on. Prints
the targets that they need, or a regular expression of their names for ctest -R.
"""
import json
import pathlib
import re
import subprocess
import sys


def programs(build):
    """The target of tests/ that each test runs, which may not have been built: others run a driver or a script."""
    found = {}
    for listing in pathlib.Path(build).rglob("CTestTestfile.cmake"):
        for name, program in re.findall(r'^add_test\((?:\[=*\[)?([^\s\]]+)(?:\]=*\])? .*?/tests/bin/([^/"]+)"',
                                        listing.read_text(), re.MULTILINE):
            found[name] = program
    return found


def main(build, part, of, what, *arguments):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", *arguments], check=True,
                             capture_output=True, text=True).stdout
    program = programs(build)
    tests = {}
    for test in json.loads(listing)["tests"]:
        tests.setdefault(program.get(test["name"]), []).append(test["name"])
    drivers = tests.pop(None, [])
    chosen = sorted(tests)[int(part)::int(of)]
    if not chosen:
        sys.exit(f"{build} has no test program for {arguments}")
    if what == "targets":
        print(" ".join(["sparsegpu", "programs", *chosen]))
        return
    names = drivers + [name for program in chosen for name in tests[program]]
    print("^(" + "|".join(re.escape(name) for name in names) + ")$")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
