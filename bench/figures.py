"""What the pictures of the pages share, each drawn from a table docs/NAME.tsv to docs/NAME.svg: reading the table, checking that the
pages have its figures, telling whether the picture is of this table.

Lines that begin with # are comments. The first other one names the columns. Fields are separated by tabs. The last two columns are
    page   a file beside the table, or NAME.md#anchor: a section of it, up to the next heading of its level
    words  what stands there and has the figures of the line, however the page's lines are broken. Words that end in "..." go on to the
           end of the page's line, the only one that has them. "&&" separates the words of several places.
A figure is a number with an optional unit behind it, "-" where there is none, or a product: "0.0323 x 6.08".
"""
import argparse
import hashlib
import os
import re
import sys

# Okabe and Ito's, which colour-blind people can tell apart; ours is the first
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999999"]


def pyplot():
    """matplotlib for files that are the same each time, without a display."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "sparsegpu"
    matplotlib.rcParams["svg.fonttype"] = "none"
    import matplotlib.pyplot as plt

    return plt


def bare(axes):
    """Leaves out the upper and the right side."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def factors(figure):
    return [] if figure == "-" else [factor.split()[0] for factor in figure.split(" x ")]


def value(figure):
    """The number of a figure, None of "-"."""
    numbers = [float(factor.replace(",", "").rstrip("M")) * (1e6 if factor.endswith("M") else 1) for factor in factors(figure)]
    product = 1.0
    for number in numbers:
        product *= number
    return product if numbers else None


def read(path, columns):
    """The lines of the table as dictionaries, with the line's number."""
    columns = columns + ["page", "words"]
    with open(path, encoding="utf-8") as file:
        lines = [(n, line.rstrip("\n")) for n, line in enumerate(file, 1) if line.strip() and not line.startswith("#")]
    if not lines or lines[0][1].split("\t") != columns:
        sys.exit(f"{path}: the first line must name the columns {', '.join(columns)}, with tabs between")
    rows = []
    for n, line in lines[1:]:
        fields = line.split("\t")
        if len(fields) != len(columns):
            sys.exit(f"{path}, line {n}: {len(fields)} columns, not {len(columns)}")
        rows.append(dict(zip(columns, fields), line=n))
    if not rows:
        sys.exit(f"{path}: no figures")
    return rows


def section(page):
    """The lines of a page, or of its section behind a #."""
    name, _, anchor = page.partition("#")
    with open(name, encoding="utf-8") as file:
        lines = file.read().splitlines()
    level, found = 0, []
    for line in lines if anchor else []:
        heading = re.match(r"(#+) (.*)", line)
        if heading and level and len(heading[1]) <= level:
            break
        if heading and not level and re.sub(r"[^\w\- ]", "", heading[2].lower()).replace(" ", "-") == anchor:
            level = len(heading[1])
        if level:
            found.append(line)
    return found if anchor else lines


def whole_words(words, lines):
    """The words as the page has them, None if it does not."""
    if not words.endswith("..."):
        words = " ".join(words.split())
        return words if words in " ".join(" ".join(lines).split()) else None
    words = words[:-3].rstrip()
    having = [line[line.index(words):] for line in lines if words in line]
    return having[0] if len(having) == 1 else None


def check(rows, path, figures):
    """Says which lines the pages do not bear out; their number."""
    pages = {}
    wrong = 0
    for row in rows:
        page = os.path.normpath(os.path.join(os.path.dirname(path), row["page"]))
        if page not in pages:
            pages[page] = section(page)
        found = [whole_words(words.strip(), pages[page]) for words in row["words"].split("&&")]
        if None in found:
            print(f"{path}, line {row['line']}: {page} does not have, or has in several lines, \"{row['words']}\"", file=sys.stderr)
            wrong += 1
            continue
        for number in (factor for figure in figures for factor in factors(row[figure])):
            if not any(re.search(rf"(?<![\d.]){re.escape(number)}(?!\d|\.\d)", words) for words in found):
                print(f"{path}, line {row['line']}: {number} is not among the words \"{row['words']}\"", file=sys.stderr)
                wrong += 1
    return wrong


def mark(path):
    """What the drawing of a table says of it."""
    with open(path, "rb") as file:
        return "table " + hashlib.sha256(file.read()).hexdigest()[:16]


def save(figure, path, table):
    figure.savefig(path, dpi=150, metadata={"Date": None, "Description": mark(table)} if path.endswith(".svg") else None)


def main(doc, name, columns, figures, draw):
    """The command line: checks the table of this name and draws it by draw(rows), which returns matplotlib's figure."""
    docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", default=os.path.normpath(os.path.join(docs, name + ".tsv")))
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-o", dest="out", metavar="FILE", help="the picture: .svg, .png or .pdf")
    what.add_argument("--check", action="store_true", help="only whether pages, table and the .svg beside it agree")
    arguments = parser.parse_args()
    rows = read(arguments.table, columns)
    wrong = check(rows, arguments.table, figures)
    if wrong:
        sys.exit(f"{wrong} figures that the pages do not bear out")
    picture = os.path.splitext(arguments.table)[0] + ".svg"
    if arguments.out:
        save(draw(rows), arguments.out, arguments.table)
        print(f"{len(rows)} lines of {arguments.table} in {arguments.out}")
        return
    if os.path.exists(picture):
        with open(picture, encoding="utf-8") as file:
            drawn = mark(arguments.table) in file.read()
        if not drawn:
            sys.exit(f"{arguments.table} has changed since its .svg was drawn: bench/plot_{name}.py -o docs/{name}.svg")
