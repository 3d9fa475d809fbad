#!/usr/bin/env python3
"""Draws the JSON of examples/solve: the residual norm of every solver against iterations and against time.

    plot.py RESULT.json -o chart.png [--matrix NAME] [--most 8]

Norms are those that the solvers tested, relative to their first one: from the left of a preconditioner they are norms
of the preconditioned residual. Time is that of the whole solve, shared evenly among its iterations. Solid lines are
ours, dashed ones PETSc's on a GPU, dotted ones PETSc's on the host; the fastest of each are drawn.
"""
import argparse
import json
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
import matplotlib.pyplot as plt

# Okabe and Ito's colours, which colour-blind people can tell apart.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999999", "#000000"]


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"plot.py: {path}: {error}")
    if not isinstance(data, dict) or not data.get("systems"):
        sys.exit(f"plot.py: {path}: no results of examples/solve: \"systems\" is missing")
    return data["systems"]


def curves(system, most):
    """Runs with a history, ours first, the fastest of the others after them."""
    runs = [run for run in system["runs"] if "error" not in run and len(run["history"]) > 1 and run["history"][0]]
    runs.sort(key=lambda run: (not run["ours"], run["reason"].startswith("DIVERGED"), run["solve_s"]))
    return runs[:most]


def draw(system, most, path):
    runs = curves(system, most)
    if not runs:
        sys.exit(f"plot.py: no solver of {system['matrix']} has told its residual norms")
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    for number, run in enumerate(runs):
        norms = [norm / run["history"][0] if norm else None for norm in run["history"]]
        step = 1e3 * run["solve_s"] / (len(norms) - 1)
        style = "-" if run["ours"] else "--" if run["device"] else ":"
        label = f"{run['type']}, {run['ksp']}, {run['pc']}"
        for panel, scale in zip(panels, (1, step)):
            panel.semilogy([k * scale for k in range(len(norms))], norms, style, lw=1.5, label=label,
                           color=COLOURS[number % len(COLOURS)])
    panels[0].set(xlabel="iterations", ylabel="residual norm / first one")
    panels[1].set(xlabel="milliseconds", xscale="log")
    for panel in panels:
        panel.grid(alpha=0.3)
    panels[1].legend(fontsize="small")
    figure.suptitle(f"{system['matrix']}: {system['rows']:,} unknowns, {system['nnz']:,} nonzeros")
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--matrix", help="of the file's (the first)")
    parser.add_argument("--most", type=int, default=8, help="solvers to draw")
    arguments = parser.parse_args()
    systems = read(arguments.result)
    chosen = [s for s in systems if s["matrix"] == arguments.matrix] if arguments.matrix else systems[:1]
    if not chosen:
        sys.exit(f"plot.py: {arguments.matrix} is none of {', '.join(s['matrix'] for s in systems)}")
    draw(chosen[0], arguments.most, arguments.output)


if __name__ == "__main__":
    main()
