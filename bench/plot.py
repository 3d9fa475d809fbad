#!/usr/bin/env python3
"""Draws the JSON of examples/compare: speed-up over PETSc's fastest type, per matrix and format.

    plot.py RESULT.json -o chart.png [--side gpu|host] [--formats a,b,c]

and the JSON lines of bench/spmv: speed-up of auto over the best baseline, by class, and a roofline.

    plot.py RESULT.jsonl -o chart.png [--roofline roofline.png] [--bandwidth GB/s]

In the first, bars start at 1, the speed of PETSc's fastest type on the same side (GPU or host): up is faster, down is slower, and
equal factors are equally long. "auto" and the formats that are fastest somewhere are drawn; a cross is a format that
refuses the matrix. A line through the end of a bar is the spread of the times, as the table of compare has it.
"""
import argparse
import json
import math
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
import matplotlib.pyplot as plt

import plot_spmv
from figures import COLOURS

MOST_FORMATS = 6  # bars of a group that can still be told apart on a slide


def read(path):
    """The results of examples/compare, or the list of bench/spmv's lines."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        lines = plot_spmv.parse(text, path)
        if lines is not None:
            return lines
        data = json.loads(text)
    except (OSError, ValueError) as error:
        sys.exit(f"plot.py: {path}: {error}")
    if not isinstance(data, dict) or "cases" not in data:
        sys.exit(f"plot.py: {path}: no results of examples/compare: \"cases\" is missing")
    return data


def ratios(case, on_device):
    """Format -> speed-up, None where it refuses; of sparsegpu on one side."""
    found = {}
    for result in case["results"]:
        if result["type"] == "sparsegpu" and result["device"] == on_device:
            found[result["format"]] = result["ratio"] if result["applicable"] else None
    return found


def spreads(case, on_device):
    """Format -> spread of its times, a part of their median; 0 where the file has none."""
    return {result["format"]: result.get("ms_spread") or 0 for result in case["results"]
            if result["type"] == "sparsegpu" and result["device"] == on_device}


def choose(groups, wanted):
    """The formats to draw: auto, those that are fastest on some matrix, then the fastest on average."""
    names = list(dict.fromkeys(name for group in groups for name in group))
    if wanted:
        return [name for name in wanted if name in names]
    fixed = [name for name in names if name != "auto"]
    wins = dict.fromkeys(fixed, 0)
    for group in groups:
        valid = {name: group[name] for name in fixed if group.get(name)}
        if valid:
            wins[max(valid, key=valid.get)] += 1

    def mean(name):  # geometric; refusing a matrix counts as a quarter of the native speed
        return sum(math.log(group.get(name) or 0.25) for group in groups)

    fixed.sort(key=lambda name: (-wins[name], -mean(name)))
    shown = set(fixed[: MOST_FORMATS - 1])
    return [name for name in ["auto"] if name in names] + [name for name in names if name in shown]


def draw(data, on_device, wanted, path):
    cases = [case for case in data["cases"] if any(ratios(case, on_device).values())]
    if not cases:
        sys.exit("plot.py: no timings in this file: was it made with -check_only?")
    groups = [ratios(case, on_device) for case in cases]
    widths = [spreads(case, on_device) for case in cases]
    formats = choose(groups, wanted)
    figure, axes = plt.subplots(figsize=(13.33, 7.5))  # inches, the shape of a slide
    width = 0.84 / len(formats)
    drawn = [group[name] for group in groups for name in formats if group.get(name)]
    low, high = min(drawn + [0.9]) / 1.15, max(drawn + [1.1]) * 1.25

    for k, name in enumerate(formats):
        for at, group in enumerate(groups):
            x = at - 0.42 + (k + 0.5) * width
            ratio = group.get(name)
            if ratio:
                axes.bar(x, ratio - 1, width * 0.92, bottom=1, color=COLOURS[k % len(COLOURS)], zorder=3,
                         label=name if at == 0 else None)
                spread = widths[at][name]
                axes.plot([x, x], [ratio / (1 + spread), ratio * (1 + spread)], color="black", linewidth=1.2, zorder=4)
            else:
                axes.plot(x, 1.04, marker="x", color=COLOURS[k % len(COLOURS)], markersize=8, markeredgewidth=2.5,
                          zorder=7)
        if not groups[0].get(name):  # the legend needs one bar of each format
            axes.bar(0, 0, width, bottom=1, color=COLOURS[k % len(COLOURS)], label=name)
    for at, group in enumerate(groups):
        best = max((name for name in formats if group.get(name)), key=lambda name: group[name], default=None)
        if best:
            # Above its bar, or over the middle of the group where all bars hang and neighbours' labels could touch.
            x = at - 0.42 + (formats.index(best) + 0.5) * width if group[best] > 1 else at
            top = group[best] * (1 + widths[at][best])
            axes.text(x, max(top, 1) * 1.03, f"{group[best]:.2f}x", ha="center", va="bottom", fontsize=13,
                      fontweight="bold", zorder=5)

    results = [result for case in cases for result in case["results"] if result["device"] == on_device]
    natives = sorted({result["native"] for result in results if result["native"]})
    axes.set_yscale("log", base=2)
    axes.set_ylim(low, high)
    ticks = [t for t in (0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 16, 32) if low <= t <= high]
    axes.set_yticks(ticks, [f"{t:g}x" for t in ticks], fontsize=14)
    axes.minorticks_off()
    axes.axhline(1, color="black", linewidth=1.4, zorder=6)
    axes.grid(axis="y", color="#dddddd", zorder=0)
    axes.set_xticks(range(len(cases)))
    labels = [f"{case['matrix']}\n{case['nnz'] / 1e6:.1f}M" for case in cases]
    crowded = len(cases) > 8
    axes.set_xticklabels(labels, fontsize=12 if crowded else 14, rotation=30 if crowded else 0,
                         ha="right" if crowded else "center", rotation_mode="anchor" if crowded else None)
    axes.set_xlim(-0.6, len(cases) - 0.4)
    axes.set_ylabel(f"speed-up over PETSc's fastest type\n({', '.join(natives)})", fontsize=14, multialignment="center")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    precision = f"{data['scalar']}, {8 * data['real_bytes']}-bit values, {8 * data['int_bytes']}-bit indices"
    ranks = f"{data['ranks']} MPI rank{'s' if data['ranks'] > 1 else ''}"
    place = data["device"] if on_device and data["device"] else data["host"]
    title = figure.suptitle("sparsegpu: sparse matrix-vector products in PETSc", fontsize=22, fontweight="bold",
                            ha="left")
    axes.set_title(f"{place}, PETSc {data['petsc']}, {precision}, {ranks}", fontsize=13, loc="left", color="#444444",
                   pad=40)
    axes.legend(ncol=len(formats), fontsize=14, frameon=False, loc="lower left", bbox_to_anchor=(-0.01, 1.0),
                borderaxespad=0.2, handlelength=1.2, columnspacing=1.4)
    figure.tight_layout()
    title.set_x(axes.get_position().x0)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", help="the file that compare -json wrote, or what bench/spmv printed")
    parser.add_argument("-o", "--output", default="chart.png", help="the picture (chart.png)")
    parser.add_argument("--side", choices=["gpu", "host"], help="the GPU where there are results of one, else the host")
    parser.add_argument("--formats", help="the formats to draw, separated by commas")
    parser.add_argument("--roofline", metavar="PICTURE", help="of bench/spmv: GFLOP/s over bytes for each nonzero")
    parser.add_argument("--bandwidth", type=float, help="GB/s of its roof (the highest rate in the file)")
    arguments = parser.parse_args()
    data = read(arguments.result)
    if isinstance(data, list):
        plot_spmv.draw_ratios(data, arguments.output)
        if arguments.roofline:
            plot_spmv.draw_roofline(data, arguments.roofline, arguments.bandwidth)
        return
    has_gpu = any(result["device"] and result["ratio"] for case in data["cases"] for result in case["results"])
    on_device = arguments.side == "gpu" if arguments.side else has_gpu
    draw(data, on_device, arguments.formats.split(",") if arguments.formats else None, arguments.output)


if __name__ == "__main__":
    main()
