#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy on the .cxx files of src that differ from BASE, and fails on a finding.
#
#   tools/clang_tidy.sh [BASE | --all]      BASE: a commit, default the parent of HEAD; --all: all files of src
#
# BUILD   the build tree whose compile_commands.json says how the files are compiled; default build-tidy, which is configured
#         without CUDA and in which nothing is built
# JOBS    files at a time, default the number of cores. A file takes three to five seconds.
#
# Files that this build does not compile (left out by its options) are named and passed over. Changes of headers alone are
# seen where a .cxx file of the same change includes them.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-HEAD~1} build=${BUILD:-build-tidy}
command -v clang-tidy > /dev/null || { echo "clang_tidy.sh: clang-tidy is missing: apt-get install clang-tidy" >&2; exit 1; }
[ -f "$build/compile_commands.json" ] || cmake -S . -B "$build" -DSPARSEGPU_CUDA=OFF > /dev/null

if [ "$base" = --all ]; then
  changed=$(git ls-files 'src/*.cxx')
else
  git rev-parse --quiet --verify "$base^{commit}" > /dev/null || { echo "clang_tidy.sh: no commit $base" >&2; exit 2; }
  changed=$(git diff --name-only --diff-filter=d "$base" -- 'src/*.cxx')
fi
files=()
for file in $changed; do
  if grep -q "\"file\": \"$PWD/$file\"" "$build/compile_commands.json"; then
    files+=("$file")
  else
    echo "$file: not compiled in $build, not checked"
  fi
done
[ ${#files[@]} -gt 0 ] || { echo "No file to check"; exit 0; }
echo "clang-tidy of ${#files[@]} files"
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "${JOBS:-$(nproc)}" clang-tidy -p "$build" --quiet 2>&1 |
  sed -E '/^[0-9]+ warnings?( and [0-9]+ errors?)? (generated|treated as errors)/d'
