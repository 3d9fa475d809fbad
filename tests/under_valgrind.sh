#!/bin/sh
# Runs a program under valgrind, which fails on any error and on memory definitely lost. Exit status 25 (skipped) without it.
command -v valgrind > /dev/null || { echo "SKIP: there is no valgrind here"; exit 25; }
exec valgrind --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --num-callers=40 --keep-debuginfo=yes \
  --suppressions="$(dirname "$0")/valgrind.supp" -q "$@"
