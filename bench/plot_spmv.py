"""The charts of bench/spmv's JSON lines: ratios to the best baseline by class, and a roofline. Called by plot.py."""
import json
import math
import sys

import matplotlib.pyplot as plt

from figures import COLOURS

PEERS = ["cusparse_alg1", "cusparse_alg2", "cusparse_sell", "cusparse_bsr", "aijcusparse"]


def parse(text, path):
    """The measurements, one dictionary a line; None if these are no JSON lines of bench/spmv."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("{"):
            continue  # PETSc's own words
        try:
            lines.append(json.loads(line))
        except ValueError as error:
            if number == 1:
                return None
            sys.exit(f"plot.py: {path}, line {number}: {error}")
    return lines if any("what" in line for line in lines) else None


def matrices(lines):
    """One dictionary of what -> line for each matrix, in the file's order."""
    found = {}
    for line in lines:
        if "ms" in line:
            key = tuple(line.get(k) for k in ("class", "matrix", "nnz", "seed", "values"))
            found.setdefault(key, {})[line["what"]] = line
    return [group for group in found.values() if "auto" in group]


def best_baseline(group):
    """Milliseconds and name of the fastest."""
    return min(((group[baseline]["ms"], baseline) for baseline in PEERS if baseline in group), default=(None, ""))


def label(line):
    name = line["matrix"].rsplit("/", 1)[-1].split(".mtx")[0].replace("surrogate:", "as ")
    return f"{name}, {line['nnz'] / 1e6:.2g}M" + (", natural" if line["values"] == "natural" else "")


def draw_ratios(lines, path):
    groups = [(group, *best_baseline(group)) for group in matrices(lines)]
    groups = [(group, ms / group["auto"]["ms"], baseline) for group, ms, baseline in groups if ms]
    if not groups:
        sys.exit("plot.py: no matrix with a time of auto and of a baseline")
    classes = list(dict.fromkeys(group["auto"]["class"] for group, _, _ in groups))
    groups.sort(key=lambda g: (classes.index(g[0]["auto"]["class"]), -g[1]))
    figure, axes = plt.subplots(figsize=(11, 1.8 + 0.3 * len(groups)))
    high = max(ratio for _, ratio, _ in groups)
    for at, (group, ratio, baseline) in enumerate(groups):
        line = group["auto"]
        colour = COLOURS[classes.index(line["class"]) % len(COLOURS)]
        axes.barh(at, ratio - 1, left=1, color=colour, height=0.72, zorder=3)
        axes.text(max(ratio, 1) * 1.02, at, f"{ratio:.2f}  {line['format']} against {baseline.replace('cusparse_', '')}",
                  va="center", fontsize=8)
    for k, name in enumerate(classes):
        ratios = [ratio for group, ratio, _ in groups if group["auto"]["class"] == name]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        axes.barh(0, 0, color=COLOURS[k % len(COLOURS)], label=f"{name}: {mean:.2f} mean, {min(ratios):.2f} worst")
    axes.axvline(1, color="black", linewidth=1.2, zorder=4)
    axes.set_xscale("log", base=2)
    low = min([ratio for _, ratio, _ in groups] + [0.9])
    axes.set_xlim(low / 1.1, high * 1.8)  # room for the words
    ticks = [t for t in (0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 16) if low / 1.1 <= t <= high * 1.8]
    axes.set_xticks(ticks, [f"{t:g}x" for t in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(groups)), [label(group["auto"]) for group, _, _ in groups], fontsize=8)
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.grid(axis="x", color="#dddddd", zorder=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(fontsize=8, frameon=False, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncol=2)
    axes.set_xlabel(f"speed-up of auto over the fastest of cuSPARSE and PETSc, {groups[0][0]['auto'].get('device', '')}")
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def draw_roofline(lines, path, bandwidth):
    groups = matrices(lines)
    if not groups:
        sys.exit("plot.py: no matrix with a time of auto")
    if not bandwidth:  # GB/s: what some product out of the cache reached
        rates = [line["gbs"] for group in groups for line in group.values()
                 if "gbs" in line and line.get("size_class") == "above_4_l2"]
        bandwidth = max(rates or [line["gbs"] for group in groups for line in group.values() if "gbs" in line])
    figure, axes = plt.subplots(figsize=(9, 6.5))
    series = {"auto": [], "cuSPARSE, CSR": []}
    for group in groups:
        auto = group["auto"]
        series["auto"].append((auto["bytes_per_nonzero"], auto["gflops"], auto["size_class"]))
        csr = [group[baseline]["gflops"] for baseline in PEERS[:2] if baseline in group]
        if csr:
            series["cuSPARSE, CSR"].append((auto["csr_bytes"] / auto["nnz"], max(csr), auto["size_class"]))
    for (name, points), colour in zip(series.items(), COLOURS[:1] + COLOURS[3:4]):
        for cached in (False, True):
            chosen = [point for point in points if (point[2] == "below_l2") == cached]
            axes.scatter([p[0] for p in chosen], [p[1] for p in chosen], s=36, color="none" if cached else colour,
                         edgecolors=colour, zorder=3, label=name + (", fits in L2" if cached else "") if chosen else None)
    bytes_seen = [point[0] for points in series.values() for point in points]
    ends = [min(bytes_seen) / 1.3, max(bytes_seen) * 1.3]
    axes.plot(ends, [2 * bandwidth / b for b in ends], color="black", linewidth=1.2, label=f"{bandwidth:.0f} GB/s")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("bytes moved for each nonzero: the matrix, x and y, each once")
    axes.set_ylabel("GFLOP/s")
    axes.grid(color="#dddddd", zorder=0)
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_title(groups[0]["auto"].get("device", ""), fontsize=11, loc="left", color="#444444")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
