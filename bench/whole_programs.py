#!/usr/bin/env python3
"""Times PETSc's own tutorials as they are with two types of matrices, and prints a table: what a user sees who changes
options alone.

  PETSC_DIR=... PETSC_ARCH=... bench/whole_programs.py --plugin build/libsparsegpu.so [--bin FOLDER] [--runs 2]
      [--types aijcusparse:cuda,sparsegpu:cuda] [PATTERN ...]

The programs and their arguments are in whole_programs.tsv beside this file; those that --bin (default: a temporary
folder) lacks are built there from PETSC_DIR/src with mpicc. --types: of matrices and vectors, the first is the baseline.
PATTERN: only programs whose name has one of these. Runs take turns; ratios are of the fastest runs.
"""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

MORE_SOURCES = {"ts/tutorials/advection-diffusion-reaction/ex5": ["reaction_diffusion.c"]}


def build(program, folder):
    """The path of the program, built if need be."""
    path = os.path.join(folder, program.replace("/", "_"))
    if os.path.exists(path):
        return path
    petsc, arch = os.environ["PETSC_DIR"], os.environ.get("PETSC_ARCH", "")
    where = os.path.join(petsc, "src", os.path.dirname(program))
    library = os.path.join(petsc, arch, "lib")
    sources = [os.path.basename(program) + ".c"] + MORE_SOURCES.get(program, [])
    include = [os.path.join(petsc, "include"), os.path.join(petsc, arch, "include"), "/usr/local/cuda/include"]
    subprocess.run(["mpicc", "-O2", "-w", "-I."] + ["-I" + i for i in include] + sources +
                   ["-o", path, "-L" + library, "-Wl,-rpath," + library, "-lpetsc", "-lm"], cwd=where, check=True)
    return path


def run(path, arguments, matrix, vector, plugin):
    """Seconds of the program and of its KSPSolve(), by -log_view; None where it fails."""
    with tempfile.NamedTemporaryFile() as log:
        words = arguments.replace("@M", matrix).replace("@V", vector).split() + ["-log_view", ":" + log.name]
        if "sparsegpu" in matrix:
            words += ["-dll_prepend", plugin]
        try:
            done = subprocess.run([path] + words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
        except subprocess.TimeoutExpired:
            return None
        text = open(log.name).read()
    total = re.search(r"Time \(sec\):\s+(\S+)", text)
    solve = re.search(r"^KSPSolve\s+\d+\s+\S+\s+(\S+)", text, re.M)
    return (float(total[1]), float(solve[1])) if done.returncode == 0 and total and solve else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--bin", default=None)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--types", default="aijcusparse:cuda,sparsegpu:cuda")
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    types = [pair.split(":") for pair in options.types.split(",")]
    if len(types) != 2 or any(len(pair) != 2 for pair in types):
        sys.exit(f"--types {options.types}: two pairs MATRIX:VECTOR are needed")
    temporary = tempfile.TemporaryDirectory()
    folder = options.bin or temporary.name
    os.makedirs(folder, exist_ok=True)
    plugin = os.path.realpath(options.plugin)
    ratios = [[], []]
    print("| program | " + " | ".join(f"{m}, s" for m, _ in types) + " | ratio | " +
          " | ".join(f"solves, {m}, ms" for m, _ in types) + " | ratio |")
    print("|---" * 7 + "|")
    for line in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "whole_programs.tsv")):
        if line.startswith("#"):
            continue
        name, program, arguments = line.rstrip("\n").split("\t")
        if options.patterns and not any(p in name or p in program for p in options.patterns):
            continue
        path = build(program, folder)
        times = [[run(path, arguments, m, v, plugin) for m, v in types] for _ in range(options.runs)]
        if any(t is None for pair in times for t in pair):
            print(f"| {name} | failed |", flush=True)
            continue
        row = []
        for k, scale, digits in ((0, 1, 2), (1, 1e3, 0)): # the program, its solves
            columns = [[pair[t][k] for pair in times] for t in (0, 1)]
            ratios[k].append(min(columns[0]) / min(columns[1]))
            row += [", ".join(f"{x * scale:.{digits}f}" for x in column) for column in columns] + [f"{ratios[k][-1]:.2f}"]
        print(f"| {name} | " + " | ".join(row) + " |", flush=True)
    if not ratios[0]:
        sys.exit("no program ran")
    print(f"\nGeometric means of {len(ratios[0])}: " +
          ", ".join(f"{math.exp(sum(map(math.log, r)) / len(r)):.2f}" for r in ratios))


main()
