#!/usr/bin/env python3
"""Checks that includes go one way: a folder of src includes its own and lower ones only, and is a namespace.

  tools/check_includes.py            lists upward includes and files outside their folder's namespace; exit status 1
                                     if there is one
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
    "pc/factor",
    "pc/ordering",
    "pc/trisolve",
    "pc/subdomains",
    "pc/ilu",
    "pc/lu",
    "pc/tile",
    "pc/blocks",
    "pc/aggregate",
    "pc/classical",
    "pc/smooth",
    "pc/amg",
    "pc/strategy",
    "pc",
    "ksp/sweep",
    "ksp/common",
    "ksp/bcgs",
    "ksp/cg",
    "ksp/gmres",
    "ksp/jacobi",
    "ksp",
    "version.cxx",
    "register.cxx",
]
# The choice of a format compares plans: it must not know any format. Nor may a format's base class.
FORMATS = "mat/formats/"
KNOWS_NO_FORMAT = ("mat/choice", "mat/converted")

# A folder's namespace is sparsegpu:: and the last part of its name, but for these. Folders in a layer share it.
NAMESPACES = {"petsc": "", "device": "", "version.cxx": "", "register.cxx": "", "ksp/common": "ksp"}

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


def namespace(layer):
    """The namespace of a layer."""
    name = NAMESPACES.get(layer, layer.split("/")[-1])
    return f"sparsegpu::{name}" if name else "sparsegpu"


OPENED = re.compile(r"^namespace (sparsegpu[\w:]*)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r"(?:(?:class|struct) \w+;\s*)+")
DIRECTIVE = re.compile(r"^ *using namespace (?:sparsegpu::)?(\w+);", re.MULTILINE)
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE | re.DOTALL)


def misplaced(root):
    """Files that do not open their folder's namespace, or define things in another one, or use a higher one's names."""
    of_layer = {}
    for layer in LAYERS:  # the lowest of those that share one
        of_layer.setdefault(namespace(layer), LAYERS.index(layer))
    for where, _, names in os.walk(root):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(where, name), root)
            if not path.endswith((".hpp", ".cxx", ".cu", ".cuh")) or path.endswith("_test.cxx"):
                continue
            with open(os.path.join(where, name), encoding="utf-8") as file:
                text = file.read()
            mine = namespace(folder(path))
            for used in DIRECTIVE.findall(text):
                if of_layer.get(f"sparsegpu::{used}", 0) > LAYERS.index(folder(path)):
                    yield f"src/{path}: uses the names of sparsegpu::{used}, which is above it"
            if name == "names.hpp":  # declares the namespaces of lower folders
                continue
            opened = OPENED.findall(text)
            for other, body in opened:
                inside = other == mine or (mine != "sparsegpu" and other.startswith(mine + "::"))
                if not inside and not DECLARED.fullmatch(body):
                    yield f"src/{path}: defines things in {other}; its folder's namespace is {mine}"
            # Public functions are global: a file of these uses the namespace.
            code = NO_CODE.sub("", text).strip()
            if code and mine != "sparsegpu" and not any(o == mine or o.startswith(mine + "::") for o, _ in opened):
                if f"\nusing namespace {mine};\n" not in text:
                    yield f"src/{path}: does not open {mine}, its folder's namespace"


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
    upward, outside = list(faults(root)), list(misplaced(root))
    print("\n".join(upward + outside))
    print(f"{len(upward)} upward includes, {len(outside)} files outside their folder's namespace")
    return 1 if upward or outside else 0


if __name__ == "__main__":
    sys.exit(main())
