#!/usr/bin/env python3
"""Draws docs/speedups.tsv for a slide: how many times as fast as the best baseline, by kind of task, losses included.

    plot_speedups.py [TABLE] -o chart.png     or chart.svg, chart.pdf
    plot_speedups.py [TABLE] --check          only looks whether the pages still have the figures of the table, and
                                              whether the .svg beside the table, which the README shows, is drawn from it

figures.py says how a line names where its figure stands. The axis is logarithmic: bars begin at 1, the baseline's speed, right of it
is faster, left is slower.
"""
import figures


def draw(rows):
    plt = figures.pyplot()
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    rows = [row for kind in kinds for row in rows if row["kind"] == kind]
    colours = {kind: figures.COLOURS[k % len(figures.COLOURS)] for k, kind in enumerate(kinds)}
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
    figures.bare(axes)
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    figures.main(__doc__, "speedups", ["kind", "problem", "baseline", "machine", "times"], ["times"], draw)
