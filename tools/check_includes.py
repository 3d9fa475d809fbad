#!/usr/bin/env python3
"""Checks that includes go one way: a folder of src includes its own and lower ones only.

  tools/check_includes.py            lists upward includes; exit status 1 if there is one
  tools/check_includes.py --list     what each folder includes, with counts
"""

import collections
import os
import re
import sys

# Lowest first. A folder that is not listed belongs to the longest listed one that it lies in; a format's folder is a
# layer of its own beside the other formats (see FORMATS).
LAYERS = [
    "sparsegpu.h",
    "petsc",
    "device",
    "comm",
    "mat/rows",
    "mat/formats",
    "mat/converted",
    "mat/choice",
    "mat/products",
    "mat/face",
    "pc/symbolic",
    "pc/ordering",
    "pc/trisolve",
    "pc/factor",
    "pc/ilu",
    "pc/lu",
    "pc/tile",
    "pc/blocks",
    "pc/strategy",
    "pc",
    "ksp/sweep",
    "ksp/common",
    "ksp/gmres",
    "ksp/jacobi",
    "ksp",
    "register.cxx",
]
# The choice of a format compares plans: it must not know any format. Nor may a format's base class.
FORMATS = "mat/formats/"
KNOWS_NO_FORMAT = ("mat/choice", "mat/converted")

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def folder(path):
    """The layer of a file of src, and the folder that it lies in."""
    parts = path.split("/")
    for n in range(len(parts), 0, -1):
        name = "/".join(parts[:n])
        if name in LAYERS:
            return name
    sys.exit(f"src/{path} lies in no layer: add its folder to tools/check_includes.py")


def includes(root):
    """All includes between files of src: (file, line number, included file)."""
    for where, _, names in os.walk(root):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(where, name), root)
            if not path.endswith((".h", ".hpp", ".cxx", ".cu", ".cuh", ".def")) or path.endswith("_test.cxx"):
                continue
            with open(os.path.join(where, name), encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    match = INCLUDE.match(line)
                    if match and os.path.exists(os.path.join(root, match.group(1))):
                        yield path, number, match.group(1)


def faults(root):
    for path, number, other in includes(root):
        mine, theirs = folder(path), folder(other)
        if LAYERS.index(theirs) > LAYERS.index(mine):
            yield f"src/{path}:{number}: {mine} includes {other} of {theirs}, which is above it"
        elif mine in KNOWS_NO_FORMAT and other.startswith(FORMATS) and other.count("/") > 2 and "/codec/" not in other:
            yield f"src/{path}:{number}: {mine} must know no format, but includes {other}"


def main():
    root = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
    if sys.argv[1:] == ["--list"]:
        counts = collections.Counter((folder(p), folder(o)) for p, _, o in includes(root))
        for mine in LAYERS:
            below = [f"{o} ({n})" for (p, o), n in sorted(counts.items()) if p == mine and o != mine]
            print(f"{mine}: {', '.join(below)}")
        return 0
    found = list(faults(root))
    print("\n".join(found))
    print(f"{len(found)} upward includes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
