#!/usr/bin/env python3
"""Draws docs/solves.tsv: milliseconds of whole solves, a panel for each problem.

    plot_solves.py [TABLE] -o docs/solves.svg     or .png, .pdf
    plot_solves.py [TABLE] --check                whether page, table and picture agree (figures.py)
"""
import figures

SIDES = {"aijcusparse": figures.COLOURS[6], "sparsegpu": figures.COLOURS[0]}
COLUMNS = 2


def draw_problem(axes, rows, problem):
    times = [figures.value(row["ms"]) for row in rows]
    axes.barh(range(len(rows)), times, height=0.72, color=[SIDES[row["matrix"]] for row in rows])
    for k, (row, time) in enumerate(zip(rows, times)):
        axes.text(time + max(times) * 0.02, k, f"{row['ms']} ({row['iterations']})", va="center", fontsize=9.5)
    axes.set_yticks(range(len(rows)), [row["solver"] for row in rows], fontsize=9.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, max(times) * 1.42)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_title(problem, fontsize=10.5, loc="left")
    figures.bare(axes)


def draw(rows):
    plt = figures.pyplot()
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    groups = [[row for row in rows if row["problem"] == problem] for problem in problems]
    lines = -(-len(groups) // COLUMNS)
    most = max(map(len, groups))
    figure, panels = plt.subplots(lines, COLUMNS, figsize=(9.6, 0.75 + 0.3 * (most + 1) * lines), squeeze=False)
    for axes, problem, group in zip(panels.T.flat, problems, groups):
        draw_problem(axes, group, problem)
        axes.set_ylim(most - 0.5, -0.5)
    for axes in panels.T.flat[len(groups):]:
        axes.set_axis_off()
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in SIDES.values()]
    figure.legend(handles, [f"matrix {side}" for side in SIDES], loc="lower right", bbox_to_anchor=(0.99, 0), fontsize=10, frameon=False, ncol=2)
    figure.text(0.01, 0.015, "milliseconds (iterations) of whole solves with Jacobi, one GPU (gmres: H100, cg: H200), fp64", fontsize=10, va="bottom")
    figure.tight_layout(rect=(0, 0.05, 0.99, 1))
    return figure


if __name__ == "__main__":
    figures.main(__doc__, "solves", ["problem", "solver", "matrix", "ms", "iterations"], ["ms", "iterations"], draw)
