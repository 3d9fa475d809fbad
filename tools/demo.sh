#!/bin/sh
# The main job on real and on large input: checks every format on the small real matrices of PETSc's examples, then
# times them on generated systems and on the file named, and draws the chart.
#
#   tools/demo.sh BUILD [FILE]
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-build}
file=${2:-}
compare=$build/examples/compare

folder=$(ls -d /usr/share/petsc/*/share/petsc/datafiles/matrices 2>/dev/null | tail -1 || true)
if [ -n "$folder" ]; then
  files=""
  for name in LFAT5.mtx amesos2_test_mat0.mtx ns-real-int32-float64 spd-real-int32-float64; do
    [ -f "$folder/$name" ] && files="$files,$folder/$name"
  done
  "$compare" -f "${files#,}" -check_only
else
  echo "No real matrices checked: PETSc's example data files are not installed"
fi
"$compare" -gen "${GEN:-stencil5,stencil7,stencil27,elasticity,rmat,circuit}" -gen_size "${GEN_SIZE:-1000000}" \
  ${file:+-f "$file"} -json "$build/demo.json"
/usr/bin/python3 "$here/bench/plot.py" "$build/demo.json" -o "$build/demo.png"
echo "Chart: $build/demo.png"
