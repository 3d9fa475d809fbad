"""Compares the results that two runs of a program printed.

  compare_results.py PLAIN OURS PATTERN TOLERANCE ZERO SLACK

Of both files the lines that match the regular expression PATTERN are read, word by word. Numbers written with a point
or an exponent may differ by TOLERANCE, relative to the larger one, and are alike if both are below ZERO in size; other
numbers (iterations, sizes) may differ by SLACK; all else must be the same. No line at all is a failure.
"""
import re
import sys

NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


def results(path, pattern):
    """Lines that match, each as its text without numbers and the numbers."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip() for line in file if re.search(pattern, line)]
    return [(" ".join(NUMBER.sub("#", line).split()), NUMBER.findall(line)) for line in lines]


def alike(one, other, tolerance, zero, slack):
    """Whether two numbers, as text, are the same result."""
    if not re.search(r"[.eE]", one + other):
        return abs(int(one) - int(other)) <= slack
    one, other = abs(float(one) - float(other)), max(abs(float(one)), abs(float(other)))
    return other < zero or one <= tolerance * other


def main():
    plain, ours = (results(path, sys.argv[3]) for path in sys.argv[1:3])
    limits = float(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6])
    if not plain or len(plain) != len(ours):
        print(f"{len(plain)} lines of results without the plug-in, {len(ours)} with it")
        return 1
    failed = 0
    for (text, numbers), (other_text, others) in zip(plain, ours):
        if text != other_text or not all(alike(*pair, *limits) for pair in zip(numbers, others)):
            print(f"without: {text} {numbers}\nwith:    {other_text} {others}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
