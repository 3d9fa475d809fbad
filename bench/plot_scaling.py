#!/usr/bin/env python3
"""Draws docs/scaling.tsv: products of equal size on each GPU, and solves of equal size in all, on 1, 2 and 4 GPUs.

    plot_scaling.py [TABLE] -o docs/scaling.svg     or .png, .pdf
    plot_scaling.py [TABLE] --check                 whether page, table and picture agree (figures.py)
"""
import figures

GPUS = ["1", "2", "4"]
MARKERS = ["o", "s", "D", "^"]


def points(row):
    """(GPUs, microseconds) of those that were measured."""
    return [(int(gpus), figures.value(row[gpus])) for gpus in GPUS if row[gpus] != "-"]


def draw_products(axes, rows):
    """Times, with the efficiency of the most GPUs behind them."""
    for k, row in enumerate(rows):
        times = points(row)
        last = times[-1]
        axes.plot(*zip(*times), color=figures.COLOURS[k], marker=MARKERS[k], markersize=6)
        axes.annotate(f"{row['problem']}, {row['GPU']}", last, xytext=(0, 9), textcoords="offset points", fontsize=9.5, ha="right")
        axes.annotate(f"{100 * times[0][1] / last[1]:.0f} %", last, xytext=(7, 0), textcoords="offset points", fontsize=9.5,
                      va="center")
    axes.set_yscale("log")
    ticks = [t for t in (5, 10, 20, 50, 100, 200, 500) if min(points(r)[0][1] for r in rows) / 2 < t]
    axes.set_yticks(ticks, [str(t) for t in ticks])
    axes.minorticks_off()
    axes.set_ylim(ticks[0] * 0.9, ticks[-1] * 1.1)
    axes.set_ylabel("microseconds a product", fontsize=10)
    axes.set_title("Products, 128^3 nodes a GPU", fontsize=11, loc="left")


def draw_solves(axes, rows, solver):
    ends = []
    for k, row in enumerate(rows):
        times = points(row)
        speeds = [(gpus, times[0][1] / time) for gpus, time in times]
        axes.plot(*zip(*speeds), color=figures.COLOURS[k], marker=MARKERS[k], markersize=6, label=row["problem"])
        ends.append((speeds[-1][1], k))
    place = 0.0
    for speed, k in sorted(ends):  # labels of neighbouring lines keep apart
        place = max(speed, place + 0.17)
        axes.text(4.12, place, f"{speed:.2f}", fontsize=9.5, va="center", color=figures.COLOURS[k])
    axes.plot([1, 4], [1, 4], color="#888888", linewidth=1, linestyle=":", zorder=1, label="ideal")
    axes.set_ylim(0.9, 4.15)
    axes.set_yticks([1, 2, 3, 4], ["1", "2", "3", "4"])
    axes.set_ylabel("times as fast as one GPU", fontsize=10)
    axes.set_title(f"sparsegpu{solver}, an iteration, {rows[0]['GPU']}", fontsize=11, loc="left")
    axes.legend(fontsize=9, frameon=False, loc="upper left", handlelength=1.3, borderaxespad=0.2)


def draw(rows):
    plt = figures.pyplot()
    figure, panels = plt.subplots(1, 3, figsize=(10.8, 4))
    draw_products(panels[0], [row for row in rows if row["panel"] == "product"])
    for axes, solver in zip(panels[1:], ("cg", "gmres")):
        draw_solves(axes, [row for row in rows if row["panel"] == solver], solver)
    for axes in panels:
        axes.set_xticks([1, 2, 4], GPUS)
        axes.set_xlim(0.85, 4.75)
        axes.set_xlabel("GPUs", fontsize=10)
        axes.tick_params(labelsize=10)
        figures.bare(axes)
    figure.tight_layout(w_pad=1.5)
    return figure


if __name__ == "__main__":
    figures.main(__doc__, "scaling", ["panel", "problem", "GPU", *GPUS], GPUS, draw)
