#!/usr/bin/env python3
"""Runs the commands of README.md, CONTRIBUTING.md and docs/, those of blocks that begin with ```sh, as they are printed.

  tools/check_commands.py BUILD

They run in a folder of their own in which `build` and `build-install` are BUILD, `./app` is the example program that knows nothing of this
library, `my.mtx` is a small symmetric matrix, and the rest is this checkout; HOME is empty. Blocks of one page share a shell. A block after
the line `<!-- not run: REASON -->`, which no reader sees, is left out. Commands outside such blocks, in indented ones, are errors.
"""
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:^<!-- not run: ([^\n]+) -->\n)?^```sh\n(.*?)^```", re.S | re.M)
FENCED = re.compile(r"^```.*?^```", re.S | re.M)
INDENTED = re.compile(r"(?<=\n\n) {4}\S.*")
SIDE = 20  # points of the grid whose five-point Laplacian my.mtx is


def write_matrix(path):
    entries = [(row, row, 4) for row in range(SIDE * SIDE)]
    entries += [(row, row - 1, -1) for row in range(SIDE * SIDE) if row % SIDE]
    entries += [(row, row - SIDE, -1) for row in range(SIDE, SIDE * SIDE)]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"%%MatrixMarket matrix coordinate real symmetric\n{SIDE * SIDE} {SIDE * SIDE} {len(entries)}\n")
        file.writelines(f"{row + 1} {column + 1} {value}\n" for row, column, value in entries)


def run(lines, root, build):
    """The commands in one shell: (exit status, what they print)."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        for name in os.listdir(root):
            if not name.startswith((".", "build")):
                os.symlink(os.path.join(root, name), os.path.join(folder, name))
        for name in ("build", "build-install"):
            os.symlink(build, os.path.join(folder, name))
        os.symlink(os.path.join(build, "examples", "solve_poisson"), os.path.join(folder, "app"))
        write_matrix(os.path.join(folder, "my.mtx"))
        environment = dict(os.environ, PETSC_OPTIONS="", OMP_NUM_THREADS="1", HOME=home)
        done = subprocess.run(["bash", "-exc", "\n".join(lines)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    return done.returncode, done.stdout.decode()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    root = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    pages = ["README.md", "CONTRIBUTING.md"] + sorted(os.path.join("docs", f) for f in os.listdir(os.path.join(root, "docs")) if f.endswith(".md"))
    ran = left_out = failed = 0
    for page in pages:
        with open(os.path.join(root, page), encoding="utf-8") as f:
            text = f.read()
        lines = []
        for reason, block in BLOCK.findall(text):
            commands = [line for line in block.splitlines() if line.strip()]
            left_out += len(commands) if reason else 0
            lines += [] if reason else commands
        hidden = INDENTED.findall(FENCED.sub("", text))
        if hidden:
            failed += 1
            print(f"{page}: commands belong in a block that begins with ```sh: {hidden[0]}")
        if not lines:
            continue
        status, printed = run(lines, root, build)
        ran += len(lines)
        if status:
            failed += 1
            print(f"{page}: exit {status}\n{printed[-3000:]}")
    print(f"{ran} commands ran, {left_out} were left out, {failed} pages failed")
    return 1 if failed or not ran else 0


sys.exit(main())
