"""Runs the commands in the head comment of an example and compares what they print with what the comment says.

  check_example.py SOURCE FOLDER [-update]

FOLDER has the compiled programs. A command is a line that begins with "$ ", continued after a backslash; lines below
it, up to the next command or other text, are its output. Commands without output, those for a GPU, are not run.
Environment: SPARSEGPU_LIBRARY, SPARSEGPU_MPIEXEC. Exit status 25: a Python module that the example imports is missing.
"""
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
from compare_results import NUMBER, alike  # noqa: E402

PYTHON = "/usr/bin/python3"
TOLERANCE, SLACK = 2e-3, 2  # of printed digits; of iterations: roundings differ between processors


def commands(text):
    """The commands of a comment and their outputs, each as (command, [lines])."""
    found, joined = [], ""
    for line in text.splitlines():
        line = re.sub(r"^ ?\*? {0,3}", "", line.rstrip()) if not joined else line.strip(" *")
        if joined or line.startswith("$ "):
            joined += line
            if joined.endswith("\\"):
                joined = joined[:-1]
                continue
            found.append((joined[2:], []))
            joined = ""
        elif found and line and not line.startswith(("On a GPU", "With", "*/")) and not found[-1][0] == "":
            found[-1][1].append(line)
        elif found:
            found.append(("", []))  # text ends the output
    return [entry for entry in found if entry[0] and entry[1]]


def run(command, source, folder):
    """What a command prints, with the plug-in, the programs and mpiexec where they are here."""
    command = command.replace("libsparsegpu.so", os.environ["SPARSEGPU_LIBRARY"])
    words = [os.path.join(folder, word[2:]) if word.startswith("./") else word for word in shlex.split(command)]
    words = [source if word == os.path.basename(source) else word for word in words]
    words = [{"mpiexec": os.environ.get("SPARSEGPU_MPIEXEC", "mpiexec"), "python3": PYTHON}.get(w, w) for w in words]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-4000:])
    return done.returncode, done.stdout.strip().splitlines()


def same(expected, got):
    """Whether two outputs have the same text and alike numbers."""
    if len(expected) != len(got):
        return False
    for line, other in zip(expected, got):
        if NUMBER.sub("#", line) != NUMBER.sub("#", other):
            return False
        if not all(alike(one, two, TOLERANCE, 0, SLACK) for one, two in zip(NUMBER.findall(line),
        NUMBER.findall(other))):     return False
    return True


def main():
    source, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    for module in set(re.findall(r"^(?:import|from) (petsc4py|dolfinx|slepc4py)", text, re.M)):
        if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode:
            print(f"skipped: {module} is not installed")
            return 25
    head = text.split('"""')[1] if source.endswith(".py") else text.split("*/")[0]
    failed, all_commands = 0, commands(head)
    for command, expected in all_commands:
        status, got = run(command, source, folder)
        if status or not same(expected, got):
            print(f"$ {command}\nexit status {status}, printed: {got}\nexpected: {expected}")
            failed = 1
            if sys.argv[3:] == ["-update"] and not status and len(got) == len(expected):
                for line, other in zip(expected, got):
                    text = text.replace(line, other, 1)
    if sys.argv[3:] == ["-update"]:
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
    print(f"{len(all_commands)} commands run")
    return failed or not all_commands


if __name__ == "__main__":
    sys.exit(main())
