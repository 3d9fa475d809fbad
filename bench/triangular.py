#!/usr/bin/env python3
"""The tables of triangular solves and factorizations, from the JSON lines of bench/trisolve and bench/factor.

    triangular.py RESULT.jsonl ...

Prints Markdown: what the whole comes to against what is aimed at, then a row for each matrix. Ratios are the baseline's time
over ours: above 1 is faster than the baseline. Lines that a time limit cut are passed over, and counted.
"""
import json
import math
import sys

NARROW = 64  # rows of a level below which a solve is bound by the way from level to level


def read(paths):
    """Lines of trisolve, of factor, the measured limits, and how many lines were cut or tell of a failure."""
    solves, factors, limits, bad = [], [], {}, 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                lines = [line for line in file if line.startswith("{")]  # not PETSc's own words
        except OSError as error:
            sys.exit(f"triangular.py: {error}")
        for text in lines:
            try:
                line = json.loads(text)
            except ValueError:
                bad += 1
                continue
            if "failed" in line:
                bad += 1
            if "copy_gbs" in line:
                limits = line
            elif "what" in line:
                factors.append(line)
            elif "solve_ms" in line:
                solves.append(line)
    return solves, factors, limits, bad


def of(lines, key):
    """The ratios `key` that were measured; a baseline that failed has a negative time."""
    return [line[key] for line in lines if line.get(key, -1) > 0]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def summary(ratios, least=None, worst=None):
    """Mean and worst, and whether both reach what is aimed at."""
    if not ratios:
        return "not measured", ""
    reached = (least is None or mean(ratios) >= least) and (worst is None or min(ratios) >= worst)
    return f"{mean(ratios):.2f}, {min(ratios):.2f} worst, of {len(ratios)}", "yes" if reached else "no"


def at_most(values, bound):
    if not values:
        return "not measured", ""
    within = sum(value <= bound for value in values)
    return f"{max(values):.2f} at most, {within} of {len(values)} within", "yes" if within == len(values) else "no"


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def named(line):
    fill = f", ILU({line['fill']})" if line.get("fill") else ""
    return line["matrix"].split(".mtx")[0].replace(":", ", ") + fill


def targets(solves, factors):
    exact = [line for line in solves if "vs_cusparse" in line]
    narrow = [line for line in exact if 0 < line["rows_per_level"] < NARROW]
    ilu0 = [line for line in exact if line["fill"] == 0]
    filled = [line for line in factors if line["what"].startswith("sparsegpu")
              and (not line["factor"].endswith("(0)") or line["ordering"] != "natural")]
    cpu = [line for line in factors if line["what"] == "sparsegpu_cpu"]
    rows = [
        ("L + U against SpSV", "3, 1 worst", *summary(of(exact, "vs_cusparse"), 3, 1)),
        (f"the same, fewer than {NARROW} rows a level", "3 worst", *summary(of(narrow, "vs_cusparse"), None, 3)),
        ("L alone", "", *summary(of(exact, "lower_vs_cusparse"))),
        ("U alone", "", *summary(of(exact, "upper_vs_cusparse"))),
        ("transposed", "", *summary(of(solves, "vs_cusparse_transposed"))),
        ("4 right-hand sides against SpSM", "", *summary(of(solves, "vs_cusparse_4"))),
        ("16 right-hand sides against SpSM", "", *summary(of(solves, "vs_cusparse_16"))),
        ("analysis against SpSV's", "10 worst", *summary(of(exact, "analysis_vs_cusparse"), None, 10)),
        ("analysis in solves", "5", *at_most(of(exact, "analysis_in_solves"), 5)),
        ("new values in solves", "1", *at_most(of(exact, "new_values_in_solves"), 1)),
        ("ILU(0), symbolic and numeric, against csrilu02", "5 worst", *summary(of(ilu0, "vs_csrilu02"), None, 5)),
        ("the same with our analysis", "", *summary(of(ilu0, "vs_csrilu02_with_analysis"))),
    ]
    for applies in (1, 10, 50, 200):
        rows.append((f"analysis and {applies} solves against SpSV", "", *summary(of(exact, f"total_{applies}_vs"))))
    rows += [
        ("set-up of ILU(1), ILU(2), ordered ILU against aijcusparse", "10 worst",
         *summary(of([line for line in filled if line["what"] == "sparsegpu"], "set_up_vs_aijcusparse"), None, 10)),
        ("solve of the CPU backend against PETSc's", "0.9 worst", *summary(of(cpu, "solve_vs_petsc"), None, 0.9)),
        ("least time of a solve that memory and levels allow over the time of ours", "",
         *summary(of(exact, "efficiency"))),
    ]
    for row in rows:
        yield row if row[1] else row[:3] + ("",)


def solve_rows(solves):
    for line in solves:
        yield (named(line), f"{line['factor_nnz']:,}", line["levels"], f"{line['rows_per_level']:.0f}",
               f"{line['cusparse_ms']:.3f} / {line['solve_ms']:.3f}", f"**{line['vs_cusparse']:.2f}**",
               f"{line.get('lower_vs_cusparse', 0):.2f}, {line.get('upper_vs_cusparse', 0):.2f}",
               line.get("vs_cusparse_transposed", "-"), f"{line.get('vs_cusparse_4', '-')}, {line.get('vs_cusparse_16', '-')}",
               f"{line.get('cusparse_analysis_ms', -1):.2f} / {line['analysis_ms']:.2f}",
               f"{line.get('analysis_in_solves', 0):.1f}, {line.get('new_values_in_solves', 0):.2f}",
               line.get("efficiency", "-"),
               f"{line.get('csrilu02_symbolic_ms', 0) + line.get('csrilu02_numeric_ms', 0):.2f} / "
               f"{line['symbolic_ms'] + line['numeric_ms']:.2f}" if "vs_csrilu02" in line else "-",
               line.get("vs_csrilu02", "-"), f"{line.get('cusparse_mb', 0):.0f} / {line.get('mb', 0):.0f}")


def factor_rows(factors):
    for line in factors:
        ratio = next((f"{line[f'set_up_vs_{baseline}']}, {line[f'refactor_vs_{baseline}']}, {line[f'solve_vs_{baseline}']}"
                      for baseline in ("aijcusparse", "petsc") if f"solve_vs_{baseline}" in line), "-")
        yield (line["matrix"].split(".mtx")[0], line["factor"], line["ordering"], line["what"],
               f"{line['order_ms']:.1f}, {line['symbolic_ms']:.1f}, {line['numeric_ms']:.1f}", f"{line['refactor_ms']:.2f}",
               f"{line['solve_ms']:.3f}", ", ".join(f"{line.get(key, -1):.3f}" for key in
                                                    ("solve_transposed_ms", "solve_4_ms", "solve_16_ms")),
               f"{line['total_200_ms']:.0f}", ratio)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    solves, factors, limits, bad = read(sys.argv[1:])
    if not solves and not factors:
        sys.exit("triangular.py: no lines of bench/trisolve or bench/factor")
    if limits:
        print(f"Copies move {limits['copy_gbs']} GB/s; a value is seen elsewhere after {limits['hop_us']} us.\n")
    if bad:
        print(f"{bad} lines were cut or tell of a failure.\n")
    table(("what", "aim", "ratio: geometric mean, worst", "reached"), targets(solves, factors))
    if solves:
        table(("factors", "nonzeros", "levels", "rows a level", "solve, ms", "ratio", "L, U alone", "transposed",
               "4, 16 right-hand sides", "analysis, ms", "analysis, new values, in solves", "efficiency", "ILU(0), ms",
               "ratio", "MB"), solve_rows(solves))
    if factors:
        table(("matrix", "factor", "order", "what", "order, symbolic, numeric, ms", "refactor, ms", "solve, ms",
               "transposed, 4, 16, ms", "with 200 solves, ms", "set-up, refactor, solve: ratio"), factor_rows(factors))


if __name__ == "__main__":
    main()
