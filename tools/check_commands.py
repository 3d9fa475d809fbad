#!/usr/bin/env python3
"""Runs the commands of README.md and docs/, those of blocks that begin with ```sh, as they are printed.

  tools/check_commands.py BUILD

They run in a folder of their own in which `build` is BUILD, `./app` is the example program that knows nothing of this library, and the rest is this
checkout; blocks of one page share a shell. Lines that begin with `make` are left out: .ci/run and `make demo` are those.
"""
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```sh\n(.*?)^```", re.S | re.M)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    root = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    pages = ["README.md"] + sorted(os.path.join("docs", f) for f in os.listdir(os.path.join(root, "docs")) if f.endswith(".md"))
    ran = failed = 0
    for page in pages:
        with open(os.path.join(root, page), encoding="utf-8") as f:
            blocks = BLOCK.findall(f.read())
        lines = [line for block in blocks for line in block.splitlines() if line.strip() and not line.startswith("make")]
        if not lines:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(root):
                if not name.startswith((".", "build")):
                    os.symlink(os.path.join(root, name), os.path.join(folder, name))
            os.symlink(build, os.path.join(folder, "build"))
            os.symlink(os.path.join(build, "examples", "solve_poisson"), os.path.join(folder, "app"))
            environment = dict(os.environ, PETSC_OPTIONS="", OMP_NUM_THREADS="1")
            run = subprocess.run(["bash", "-exc", "\n".join(lines)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        ran += len(lines)
        if run.returncode:
            failed += 1
            print(f"{page}: exit {run.returncode}\n{run.stdout.decode()[-3000:]}")
    print(f"{ran} commands, {failed} pages failed")
    return 1 if failed or not ran else 0


sys.exit(main())
