#!/usr/bin/env python3
"""Draws docs/architecture.svg from the includes of src: a box for each folder, the lowest at the bottom, an arc from each
folder to those that it includes, but for the lowest three, which all include. tools/check_includes.py has the layers.

  tools/draw_includes.py             writes the picture
  tools/draw_includes.py --check     exit status 1 if the picture in docs is not that of the sources
"""

import collections
import os
import sys

import check_includes

WIDTH, HEIGHT, GAP, LEFT = 230, 30, 12, 230
EVERYWHERE = ("sparsegpu.h", "petsc", "device")
COLOURS = {"mat": "#dbe9f6", "pc": "#e3f1dc", "ksp": "#fbe8d3"}


def arcs(root):
    """How many includes go from one folder to another one."""
    counts = collections.Counter()
    for path, _, other in check_includes.includes(root):
        mine, theirs = check_includes.folder(path), check_includes.folder(other)
        if mine != theirs and (theirs not in EVERYWHERE or mine in EVERYWHERE):
            counts[mine, theirs] += 1
    return counts


def picture(root):
    used = {name for pair in arcs(root) for name in pair}
    layers = [name for name in check_includes.LAYERS if name in used]
    bottom = len(layers) * (HEIGHT + GAP)
    middle = {name: bottom - k * (HEIGHT + GAP) - HEIGHT / 2 for k, name in enumerate(layers)}
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * LEFT + WIDTH} {bottom + GAP}" '
        'font-family="sans-serif" font-size="14">'
    ]
    for (mine, theirs), count in sorted(arcs(root).items()):
        right = theirs.startswith("mat") or theirs in EVERYWHERE
        x = LEFT + WIDTH if right else LEFT
        reach = min(LEFT - 15, 14 + abs(layers.index(mine) - layers.index(theirs)) * 14) * (1 if right else -1)
        svg.append(
            f'<path d="M{x} {middle[mine]:g} C{x + reach} {middle[mine]:g} {x + reach} {middle[theirs]:g} '
            f'{x} {middle[theirs]:g}" fill="none" stroke="#667" stroke-width="{min(3.0, 0.6 + count / 15):.1f}" '
            f'opacity="0.6"><title>{mine} includes {theirs}: {count}</title></path>'
        )
    for name in layers:
        colour = COLOURS.get(name.split("/")[0], "#eee")
        svg.append(
            f'<rect x="{LEFT}" y="{middle[name] - HEIGHT / 2:g}" width="{WIDTH}" height="{HEIGHT}" rx="4" '
            f'fill="{colour}" stroke="#445"/>'
            f'<text x="{LEFT + WIDTH / 2:g}" y="{middle[name] + 5:g}" text-anchor="middle">{name}</text>'
        )
    return "\n".join(svg + ["</svg>", ""])


def main():
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.path.join(top, "docs", "architecture.svg")
    drawn = picture(os.path.join(top, "src"))
    if sys.argv[1:] == ["--check"]:
        if os.path.exists(path) and open(path, encoding="utf-8").read() == drawn:
            return 0
        print("docs/architecture.svg is not that of the sources: run tools/draw_includes.py")
        return 1
    with open(path, "w", encoding="utf-8") as out:
        out.write(drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main())
