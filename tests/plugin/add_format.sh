#!/bin/sh
# A format needs its folder and a line of formats.def, and nothing else: adds that of examples/add_format to a copy of
# the tree, builds the copy without CUDA, and runs the format's own test and the conformance suite on it.
#
#   add_format.sh SOURCE WORK [OPTION ...]   (SOURCE: the checkout; WORK: a folder to copy to and to build in; more
#                                            options of cmake)
#
# JOBS: of the build (default: all cores).
set -eu
source=$(cd "$1" && pwd)
mkdir -p "$2" && work=$(cd "$2" && pwd)
tree=$work/tree
shift 2

rm -rf "$tree" && mkdir -p "$tree"
for part in CMakeLists.txt LICENSE README.md cmake src tests examples tools; do cp -R "$source/$part" "$tree/"; done
cp -R "$source/examples/add_format/jds" "$tree/src/mat/formats/"
echo 'FORMAT(jds)' >> "$tree/src/mat/formats/formats.def"

cmake -S "$tree" -B "$work/build" -DSPARSEGPU_CUDA=OFF -DSPARSEGPU_BENCH=OFF -DSPARSEGPU_EXAMPLES=OFF \
  "$@" > "$work/configure.log"
if ! cmake --build "$work/build" -j "${JOBS:-$(nproc)}" --target sparsegpu format_jds conformance type_by_option \
  > "$work/build.log" 2>&1; then
  tail -30 "$work/build.log"
  exit 1
fi
ctest --test-dir "$work/build" --output-on-failure -R '^(format|conformance)_jds' -E 'cuda|device'
"$work/build/tests/bin/type_by_option" -test prefix_mat_type -help | grep mat_sparsegpu_jds_longest > /dev/null ||
  { echo "-help does not list the option of the new format"; exit 1; }
