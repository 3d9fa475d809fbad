#!/usr/bin/env python3
"""Checks that files of more than 300 lines, and functions of src of more than 60, are in the list of
docs/architecture.md, which has the reason of each, and that the list has no others.

  tools/check_sizes.py
"""

import os
import re
import subprocess
import sys

FILE, FUNCTION = 300, 60  # lines
TITLE = "## Long files and functions"
NOT_A_FUNCTION = re.compile(r"(template <[^>]*> )?(class|struct|namespace|enum|union|extern)\b")
ENTRY = re.compile(r"`((?:src|tests|bench|examples)/[\w./]+)(?:: (\w+))?`")


def functions(lines):
    """The functions that begin at the margin, with their heads: (name, lines)."""
    begin = None
    for k, line in enumerate(lines):
        if line == "{" and k and begin is None:
            head = k - 1
            while head > 0 and (lines[head][:1] in (" ", "#", "") or lines[head].startswith("//")):
                head -= 1
            if not NOT_A_FUNCTION.match(lines[head]):
                begin = head
        elif line in ("}", "};") and begin is not None:
            names = re.findall(r"(\w+)\(", " ".join(lines[begin:k]))
            yield next((n for n in names if n != "__launch_bounds__"), "?"), k - begin + 1
            begin = None


def found(top):
    """All that is too long, as the list has it."""
    for path in subprocess.check_output(["git", "-C", top, "ls-files", "-c", "-o", "--exclude-standard"], text=True).split():
        whole = os.path.join(top, path)
        if not re.search(r"\.(cxx|cu|cuh|hpp|h|c)$", path) or not os.path.exists(whole):
            continue
        with open(whole, encoding="utf-8") as file:
            lines = file.read().splitlines()
        if len(lines) > FILE:
            yield path
        if path.startswith("src/"):
            yield from (f"{path}: {name}" for name, length in functions(lines) if length > FUNCTION)


def main():
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(top, "docs", "architecture.md"), encoding="utf-8") as page:
        text = page.read().partition(TITLE)[2].partition("\n## ")[0]
    listed = {f"{path}: {name}" if name else path for path, name in ENTRY.findall(text)}
    long = set(found(top))
    for entry in sorted(long - listed):
        print(f"{entry} has more than {FUNCTION if ': ' in entry else FILE} lines: split it, or give the reason in docs/architecture.md")
    for entry in sorted(listed - long):
        print(f"{entry} is short: leave it out of docs/architecture.md")
    return 1 if long != listed else 0


if __name__ == "__main__":
    sys.exit(main())
