#!/usr/bin/env python3
"""Draws whole solves of bench/krylov -rtol: time against the true residual, a line for each solver and matrix.

    krylov -points 27 -n 128 -rtol 1e-2,1e-4,1e-6,1e-8 > solves.txt
    plot_krylov.py solves.txt -o chart.png
"""
import argparse
import re
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
import matplotlib.pyplot as plt

from figures import COLOURS

LINE = re.compile(r"^  (\S+) +(\S+) +(\S+) +\d+e[-+]\d+ +\d+ +([\d.e+-]+) +([\d.]+) +[\d.]+$")


def read(path):
    """(solver, matrix, basis) -> [(true residual, milliseconds)], in the file's order."""
    found = {}
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                match = LINE.match(line.rstrip())
                if match:
                    matrix, solver, basis, residual, time = match.groups()
                    found.setdefault((solver, matrix, basis), []).append((float(residual), float(time)))
    except OSError as error:
        sys.exit(f"plot_krylov.py: {path}: {error}")
    if not found:
        sys.exit(f"plot_krylov.py: {path}: no whole solves of bench/krylov -rtol")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("-o", required=True, metavar="CHART")
    arguments = parser.parse_args()
    found = read(arguments.text)
    figure, axes = plt.subplots(figsize=(8, 5))
    ours = [key for key in found if key[0].startswith("sparsegpu")]
    for k, key in enumerate(ours + [key for key in found if key not in ours]):
        points = sorted(found[key], reverse=True)
        label = f"{key[0]}, {key[1]}" + ("" if key[2] == "-" or key not in ours else f", basis in {key[2]}")
        axes.plot([t for _, t in points], [r for r, _ in points], marker="o", label=label,
                  color=COLOURS[k % len(COLOURS)], linestyle="-" if key in ours else "--")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("milliseconds from the matrix to the solution")
    axes.set_ylabel("|b - A x| / |b|")
    axes.legend(fontsize=8)
    axes.grid(True, alpha=0.3)
    figure.tight_layout()
    figure.savefig(arguments.o)


if __name__ == "__main__":
    main()
