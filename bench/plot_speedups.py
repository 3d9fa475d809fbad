#!/usr/bin/env python3
"""Draws docs/speedups.tsv for a slide: how many times as fast as the best baseline, by kind of task, losses included.

    plot_speedups.py [TABLE] -o chart.png     or chart.svg, chart.pdf
    plot_speedups.py [TABLE] --check          only looks whether the pages still have the figures of the table, and
                                              whether the .svg beside the table, which the README shows, is drawn from it

Each line of the table names a page beside it and words that stand there and have the figure; a line that does not is an error, with
and without --check. The axis is logarithmic: bars begin at 1, the baseline's speed, right of it is faster, left is slower.
"""
import argparse
import hashlib
import os
import re
import sys

COLUMNS = ["kind", "problem", "baseline", "machine", "times", "page", "words"]
# Okabe and Ito's colours, as in plot.py
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999999"]


def read(path):
    """The lines of the table as dictionaries, with the line's number."""
    with open(path, encoding="utf-8") as file:
        lines = [(n, line.rstrip("\n")) for n, line in enumerate(file, 1) if line.strip() and not line.startswith("#")]
    if not lines or lines[0][1].split("\t") != COLUMNS:
        sys.exit(f"{path}: the first line must name the columns {', '.join(COLUMNS)}, with tabs between")
    rows = []
    for n, line in lines[1:]:
        fields = line.split("\t")
        if len(fields) != len(COLUMNS):
            sys.exit(f"{path}, line {n}: {len(fields)} columns, not {len(COLUMNS)}")
        rows.append(dict(zip(COLUMNS, fields), line=n))
    if not rows:
        sys.exit(f"{path}: no figures")
    return rows


def check(rows, path):
    """Each figure is among the words, and the words are on the page, however its lines are broken."""
    pages = {}
    wrong = 0
    for row in rows:
        page = os.path.normpath(os.path.join(os.path.dirname(path), row["page"]))
        if page not in pages:
            with open(page, encoding="utf-8") as file:
                pages[page] = " ".join(file.read().split())
        if not re.search(rf"(?<![\d.]){re.escape(row['times'])}(?!\d|\.\d)", row["words"]):
            print(f"{path}, line {row['line']}: {row['times']} is not among the words \"{row['words']}\"", file=sys.stderr)
            wrong += 1
        if " ".join(row["words"].split()) not in pages[page]:
            print(f"{path}, line {row['line']}: {page} does not have \"{row['words']}\"", file=sys.stderr)
            wrong += 1
    return wrong


def mark(path):
    """What the drawing of a table says of it."""
    with open(path, "rb") as file:
        return "table " + hashlib.sha256(file.read()).hexdigest()[:16]


def drawn(path):
    """Whether the .svg beside the table, if there is one, is of this table."""
    picture = os.path.splitext(path)[0] + ".svg"
    if not os.path.exists(picture):
        return True
    with open(picture, encoding="utf-8") as file:
        return mark(path) in file.read()


def draw(rows, out, source):
    import matplotlib

    matplotlib.use("Agg")  # no display needed
    matplotlib.rcParams["svg.hashsalt"] = "sparsegpu"  # the same file each time
    matplotlib.rcParams["svg.fonttype"] = "none"
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    rows = [row for kind in kinds for row in rows if row["kind"] == kind]
    colours = {kind: COLOURS[k % len(COLOURS)] for k, kind in enumerate(kinds)}
    places, place = [], 0.0
    for k, row in enumerate(rows):
        if k and row["kind"] != rows[k - 1]["kind"]:
            place += 0.6
        places.append(place)
        place += 1
    figure, axes = plt.subplots(figsize=(13.3, 0.8 + 0.27 * place))
    for row, y in zip(rows, places):
        times = float(row["times"])
        axes.barh(y, times - 1, left=1, height=0.8, color=colours[row["kind"]])
        beside = f"{row['times']}  ({row['baseline']}, {row['machine']})"
        axes.text(max(times, 1) * 1.06, y, beside, va="center", fontsize=8)
    axes.set_yticks(places, [row["problem"] for row in rows], fontsize=8)
    axes.set_xscale("log")
    times = [float(row["times"]) for row in rows]
    axes.set_xlim(min(0.9, min(times) * 0.8), max(times) * 40)
    ticks = [t for t in (0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if min(times) * 0.8 <= t <= max(times) * 1.5]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("times as fast as the baseline in parentheses; same machine, fp64")
    handles = [plt.Rectangle((0, 0), 1, 1, color=colours[kind]) for kind in kinds]
    axes.legend(handles, kinds, loc="upper right", fontsize=8, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    metadata = {"Date": None, "Description": source} if out.endswith(".svg") else None
    figure.savefig(out, dpi=150, metadata=metadata)
    print(f"{len(rows)} figures in {out}")


def main():
    table = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "speedups.tsv")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", default=os.path.normpath(table))
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-o", dest="out", metavar="FILE")
    what.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    rows = read(arguments.table)
    wrong = check(rows, arguments.table)
    if wrong:
        sys.exit(f"{wrong} lines that the pages do not bear out")
    if arguments.out:
        draw(rows, arguments.out, mark(arguments.table))
    elif not drawn(arguments.table):
        sys.exit(f"{arguments.table} has changed since its .svg was drawn: plot_speedups.py -o docs/speedups.svg")


if __name__ == "__main__":
    main()
