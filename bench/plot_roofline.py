#!/usr/bin/env python3
"""Draws docs/roofline.tsv: GFlop/s of products over flop/byte, ours and cuSPARSE's of the same matrix joined.

    plot_roofline.py [TABLE] -o docs/roofline.svg     or .png, .pdf
    plot_roofline.py [TABLE] --check                  whether page, table and picture agree (figures.py)
"""
import figures

UNITS = {"us": 1e-6, "ms": 1e-3}
FIGURES = ["nonzeros", "MB", "time or GB/s"]


def point(row):
    """flop/byte and GFlop/s: two flops a nonzero."""
    flops = 2 * figures.value(row["nonzeros"])
    time = row["time or GB/s"]
    seconds = figures.value(time) * UNITS[time.split()[-1]]
    return flops / (figures.value(row["MB"]) * 1e6), flops / seconds / 1e9


def draw(rows):
    plt = figures.pyplot()
    figure, axes = plt.subplots(figsize=(9, 5.6))
    roof = next(figures.value(row["time or GB/s"]) for row in rows if row["who"] == "roof")
    ours = {row["matrix"]: point(row) for row in rows if row["who"] == "sparsegpu"}
    theirs = {row["matrix"]: point(row) for row in rows if row["who"] == "cuSPARSE"}
    for name in theirs.keys() & ours.keys():
        axes.annotate("", ours[name], theirs[name], arrowprops={"arrowstyle": "->", "color": "#999999", "shrinkA": 6, "shrinkB": 6})
    for points, colour, marker, label in ((ours, figures.COLOURS[0], "o", "sparsegpu, auto"),
                                          (theirs, figures.COLOURS[3], "s", "cuSPARSE CSR_ALG1, the same matrix")):
        axes.plot(*zip(*points.values()), linestyle="none", marker=marker, markersize=8, color=colour, label=label, zorder=3)
    for name, (x, y) in ours.items():
        axes.annotate(name, (x, y), xytext=(9, -4), textcoords="offset points", fontsize=9.5, va="top", color=figures.COLOURS[0],
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    every = list(ours.values()) + list(theirs.values())
    low, high = min(x for x, _ in every) / 1.25, max(x for x, _ in every) * 2.3
    axes.plot([low, high], [roof * low, roof * high], color="black", linewidth=1.3, label=f"memory: copies move {roof:.0f} GB/s")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlim(low, high)
    ticks = [t for t in (0.125, 0.25, 0.5, 1, 2, 4) if low <= t <= high]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks], fontsize=10)
    ends = min(y for _, y in every) / 1.3, max(y for _, y in every) * 1.6
    axes.set_ylim(*ends)
    ticks = [t for t in (125, 250, 500, 1000, 2000, 4000) if ends[0] <= t <= ends[1]]
    axes.set_yticks(ticks, [str(t) for t in ticks], fontsize=10)
    axes.minorticks_off()
    axes.set_xlabel("flop/byte (sparsegpu: bytes that a product must move; cuSPARSE: bytes moved, by the profiler)", fontsize=10)
    axes.set_ylabel("GFlop/s, one H100, fp64", fontsize=10)
    axes.legend(fontsize=10, frameon=False, loc="upper left")
    figures.bare(axes)
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    figures.main(__doc__, "roofline", ["who", "matrix", *FIGURES], FIGURES, draw)
