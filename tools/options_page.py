#!/usr/bin/env python3
"""Writes docs/options.md from what programs print with -help, so that the page and the library cannot differ.

  tools/options_page.py BUILD            writes the page
  tools/options_page.py BUILD --check    only compares: 1 where the page is another one

BUILD has examples/solve_poisson and libsparsegpu.so.
"""
import os
import re
import subprocess
import sys

ESTIMATE = "Multigrid, the largest eigenvalues by a Krylov method of PETSc"
# of those that PETSc's own objects offer under a prefix of ours: the options that ask for the object
ONLY = {ESTIMATE: [f"-pc_sparsegpuamg_esteig_{name}" for name in ("ksp_type", "ksp_max_it", "ksp_rtol", "pc_type")]}
NOTES = {ESTIMATE: "One of these options has a Krylov method estimate the largest eigenvalues, in place of ten steps of Lanczos' method; it is `cg` where `MAT_SPD` is set. Other options of `KSP` and `PC` are taken with this prefix, too.\n\n"}
# what a program is told, so that each part of the library offers its options
RUNS = [
    ("Matrices: `-mat_type sparsegpu`", ["-pc_type", "none"]),
    ("Several ranks", ["-pc_type", "none"]),
    ("Triangular solves of incomplete factors: `-pc_type ilu -pc_factor_mat_solver_type sparsegpu`, `icc`, and `-pc_type sparsegpu`",
     ["-pc_type", "ilu", "-pc_factor_mat_solver_type", "sparsegpu"]),
    ("Incomplete factorizations and block Jacobi: `-pc_type sparsegpu`", ["-pc_type", "sparsegpu"]),
    ("Direct: `-pc_type lu -pc_factor_mat_solver_type sparsegpu`, also `cholesky`",
     ["-pc_type", "lu", "-pc_factor_mat_solver_type", "sparsegpu"]),
    ("Orderings: `-pc_factor_mat_ordering_type abmc`",
     ["-pc_type", "ilu", "-pc_factor_mat_solver_type", "sparsegpu", "-pc_factor_mat_ordering_type", "abmc"]),
    ("Multigrid: `-pc_type sparsegpuamg`", ["-pc_type", "sparsegpuamg"]),
    (ESTIMATE, ["-pc_type", "sparsegpuamg", "-pc_sparsegpuamg_esteig_ksp_max_it", "10"]),
    ("Smoothers: `-pc_type sparsegpusmoother`", ["-pc_type", "sparsegpusmoother"]),
    ("Conjugate gradients: `-ksp_type sparsegpucg`", ["-ksp_type", "sparsegpucg", "-pc_type", "jacobi"]),
    ("BiCGStab: `-ksp_type sparsegpubcgs`", ["-ksp_type", "sparsegpubcgs", "-pc_type", "jacobi"]),
    ("GMRES: `-ksp_type sparsegpugmres`", ["-ksp_type", "sparsegpugmres", "-pc_type", "jacobi"]),
    ("Jacobi: `-ksp_type sparsegpujacobi`", ["-ksp_type", "sparsegpujacobi", "-pc_type", "jacobi"]),
]
HEAD = """# Options

Written by `tools/options_page.py BUILD` from `-help`; not to be edited. Each option is taken under the prefix of its matrix, preconditioner or solver, but for those that begin with
`-sparsegpu_`, which hold for the whole program unless they are given with a matrix's prefix. A value that is not allowed is an error that names those that are.
"""
TAIL = """
## The device

Read once, when the library first looks for a GPU; `-help` has nothing of them.

| option | meaning |
|---|---|
| `-sparsegpu_device N` | the GPU, where PETSc itself has no CUDA; by default the rank on its host modulo the visible devices |
| `-sparsegpu_device_shared_memory BYTES` | for tests: a thread block has less shared memory than the GPU gives |
| `-sparsegpu_device_cooperative no` | for tests: no cooperative launches; `refused`: none that fits |
| `-sparsegpu_device_largest_array BYTES` | for tests: no larger array in the GPU's memory |
| `-sparsegpu_device_stuck` | for tests: direct solves that say that they made no progress |
| `-sparsegpu_test_away` | for tests: each product hides values from the host, as if a GPU had them |
"""
LINE = re.compile(r"^ +(-[a-z0-9_]*(?:sparsegpu|abmc|leastfill)[a-z0-9_]*):? *<([^>]*)>:? *(.*)$")


def offered(build, arguments, ranks=1):
    """(option, default, text) of the library's own options in the -help of a program run with `arguments`."""
    environment = dict(os.environ, PETSC_OPTIONS="", OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    text = subprocess.run(
        ["mpiexec", "-n", str(ranks), os.path.join(build, "examples/solve_poisson"), "-m", "9", "-n", "9", "-dll_append",
         os.path.abspath(os.path.join(build, "libsparsegpu.so")), "-mat_type", "sparsegpu"] + arguments + ["-help"],
        env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    for line in text.splitlines():
        found = LINE.match(line)
        if found:
            yield found.group(1), found.group(2), found.group(3)


def cells(default, text):
    """The default value and the description as a table has them."""
    default = re.split(r" : (?:formerly )?", default)[-1].strip()
    page = re.search(r" *\(([A-Za-z]*)\)$", text)
    if page:
        text = text[:page.start()]
    choice = re.search(r" *\((?:choose )?one of\) *(.*)$", text)
    if choice:
        names = [n for n in choice.group(1).split() if n]
        text = text[:choice.start()]
        if len(names) < 8:
            text += ": " + ", ".join(f"`{n}`" for n in names)
    # long numbers of limits say nothing
    default = {"TRUE": "true", "FALSE": "false", "0.": "0", "1.": "1"}.get(default, default.rstrip("."))
    return f"`{default}`" if default else "", text.replace("|", "\\|"), page.group(1) if page else ""


def page(build):
    seen, parts = set(), [HEAD]
    for title, arguments in RUNS:
        rows = []
        for name, default, text in offered(build, arguments, 2 if title == "Several ranks" else 1):
            if name in seen or name not in ONLY.get(title, [name]):
                continue
            seen.add(name)
            value, words, manual = cells(default, text)
            rows.append(f"| `{name}` | {value} | {words} | {manual} |")
        if not rows:
            sys.exit(f"{title}: -help has no option of ours")
        parts.append(f"\n## {title}\n\n{NOTES.get(title, '')}| option | default | meaning | manual page |\n|---|---|---|---|\n" + "\n".join(rows) + "\n")
    return "".join(parts) + TAIL


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "options.md")
    text = page(sys.argv[1])
    if "--check" not in sys.argv:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return
    with open(path, encoding="utf-8") as f:
        if f.read() != text:
            sys.exit("docs/options.md is not what -help says: run tools/options_page.py BUILD")


main()
