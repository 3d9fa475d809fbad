#!/usr/bin/env python3
"""Draws docs/cudss.tsv: how many times as fast as cuDSS the direct solver is, a line of dots for each matrix.

    plot_cudss.py [TABLE] -o docs/cudss.svg     or .png, .pdf
    plot_cudss.py [TABLE] --check               whether page, table and picture agree (figures.py)
"""
import figures

SERIES = {"again": ("new values and one solve", "o"), "columns": ("16 right-hand sides", "D"),
          "first": ("first factorization", "s")}


def draw(rows):
    plt = figures.pyplot()
    places, place = [], 0.0
    for k, row in enumerate(rows):
        place += 2.2 if not k or row["kind"] != rows[k - 1]["kind"] else 1.0
        places.append(place)
    figure, axes = plt.subplots(figsize=(9, 0.9 + 0.21 * place))
    for k, (name, (label, marker)) in enumerate(SERIES.items()):
        at = [place + 0.2 * (k - 1) for place in places]  # equal ratios side by side
        axes.plot([figures.value(row[name]) for row in rows], at, linestyle="none", marker=marker, markersize=6.5,
                  color=figures.COLOURS[k], markeredgecolor="white", markeredgewidth=0.5, label=label, zorder=3)
    every = [figures.value(row[name]) for row in rows for name in SERIES]
    low, high = min(every) / 1.1, max(every) * 1.1
    for k, (row, y) in enumerate(zip(rows, places)):
        if not k or row["kind"] != rows[k - 1]["kind"]:
            axes.text(-0.01, y - 1, row["kind"], transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=10,
                      fontweight="bold")
    axes.set_yticks(places, [row["matrix"] for row in rows], fontsize=9.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.8, zorder=0)
    axes.set_ylim(place + 0.7, 0.2)
    axes.set_xscale("log", base=2)
    axes.set_xlim(low, high)
    ticks = [t for t in (0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 16) if low <= t <= high]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks], fontsize=10)
    axes.minorticks_off()
    axes.axvline(1, color="black", linewidth=1.2, zorder=2)
    axes.set_xlabel("times as fast as cuDSS 1.0.0, one H100, fp64 (left of 1: slower)", fontsize=10)
    axes.legend(fontsize=10, frameon=False, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncol=3, handletextpad=0.2)
    figures.bare(axes)
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    figures.main(__doc__, "cudss", ["kind", "matrix", "again", "first", "columns"], [*SERIES], draw)
