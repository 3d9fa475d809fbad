#!/usr/bin/env python3
"""Checks what docs/xsdk.md says of the sources of the library: nothing prints, exits or touches settings of the process,
communicators are PETSc's objects', and public names have the library's name in them.

  tools/check_policies.py        exit status 1 if a line of src breaks a rule
"""

import os
import re
import sys

# Files whose threads are joined before a function of theirs returns.
JOINED = [
    "device/cublas.cu",
    "device/staging.cu",
    "pc/ordering/dissection.cxx",
    "pc/ordering/in_parts.hpp",
    "pc/ordering/search_fast.cxx",
]
# Rule: what no line may have, but for the files named.
RULES = {
    "M3: communicators are those of the caller's objects": (r"\bMPI_COMM_WORLD\b|\bPETSC_COMM_WORLD\b", ["device/device.cu"]),
    "M3: MPI's error handling stays": (r"\bMPI_Comm_set_errhandler\b", ["comm/window.cxx"]),
    "M6: settings of the process stay": (
        r"\b(?:signal|sigaction|feenableexcept|fesetround|fesetenv|setenv|putenv|MPI_Init\w*|cudaDeviceReset)\s*\(",
        ["pc/ordering/metis_copies.cxx"],
    ),
    "M6: signals stay unblocked": (
        r"\b(?:pthread_sigmask|sigprocmask|sigsuspend|sigwait\w*)\s*\(",
        ["device/signals_blocked.hpp", "pc/ordering/metis_copies.cxx"],
    ),
    "M6: threads end with the call that starts them": (
        r"\bpthread_create\s*\(|\.detach\s*\(|\bstd::j?thread\b(?!::)|\bstd::async\b",
        # copies of METIS that stay, as docs/xsdk.md says; the others join
        ["pc/ordering/metis_copies.cxx", *JOINED],
    ),
    "M6: the process goes on": (r"(?<![\w.>])(?:std::)?(?:exit|_exit|abort|terminate|atexit)\s*\(", ["device/kokkos.kokkos.cxx"]),
    "M11: nothing is printed unasked": (
        r"\b(?:printf|fprintf|puts|fputs|putchar|PetscPrintf|PetscFPrintf|PetscSynchronized\w*rintf)\s*\("
        r"|\bstd::(?:cout|cerr|clog)\b|\bPETSC_STD(?:OUT|ERR)\b|\bPETSC_VIEWER_STD\w+",
        [],
    ),
    "M11: no file is opened": (r"\b(?:fopen|freopen|PetscFOpen)\s*\(|\bstd::[io]?fstream\b", []),
}
MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
PUBLIC = re.compile(r"^PETSC_EXTERN PetscErrorCode (\w+)\(", re.MULTILINE)
TYPE = re.compile(r"^\} (\w+);", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def sources(top):
    """Each file of src with its text, comments blanked but for their line ends."""
    for where, _, names in os.walk(os.path.join(top, "src")):
        for name in sorted(names):
            if name.endswith((".cxx", ".cu", ".cuh", ".hpp", ".h")) and not name.endswith("_test.cxx"):
                path = os.path.join(where, name)
                with open(path, encoding="utf-8") as file:
                    text = COMMENT.sub(lambda match: "\n" * match.group().count("\n"), file.read())
                yield os.path.relpath(path, os.path.join(top, "src")), text


def broken_rules(top):
    files = 0
    for path, text in sources(top):
        files += 1
        for rule, (pattern, allowed) in RULES.items():
            if path not in allowed:
                for match in re.finditer(pattern, text):
                    yield f"src/{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}: {rule}"
    if files < 100:
        yield f"only {files} files of src were read"


def threads_left(top):
    """Files of JOINED that join nothing."""
    for path in JOINED:
        with open(os.path.join(top, "src", path), encoding="utf-8") as file:
            if not re.search(r"(?:\.|->)join\(\)", file.read()):
                yield f"src/{path}: M6: no thread is joined"


def foreign_names(top):
    """Public names without the library's; PETSc's orderings have names of that kind."""
    with open(os.path.join(top, "src", "sparsegpu.h"), encoding="utf-8") as file:
        text = COMMENT.sub("", file.read())
    names = PUBLIC.findall(text)
    if len(names) < 10:
        yield f"src/sparsegpu.h declares {len(names)} functions only: what is read from it is wrong"
    for name in MACRO.findall(text) + names + TYPE.findall(text):
        if "sparsegpu" not in name.lower() and not name.startswith("MATORDERING"):
            yield f"src/sparsegpu.h: {name}: M9: public names have sparsegpu in them"


def main():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    wrong = [*broken_rules(top), *threads_left(top), *foreign_names(top)]
    print(*wrong, f"{len(wrong)} lines break a policy of docs/xsdk.md", sep="\n")
    sys.exit(bool(wrong))


main()
