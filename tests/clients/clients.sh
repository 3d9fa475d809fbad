# To be read by the test of one client: a program of Debian's packages, as it is, gives the results that it gives
# without the plug-in. The script calls need() for what it runs, sets how results are compared, and calls same() for
# each run; compared() ends it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
python=/usr/bin/python3
pattern='^result '     # lines of results
tolerance=1e-9         # relative, of numbers with a point: far above rounding, below what solvers leave
zero=1e-12             # smaller numbers than this are alike
slack=0                # of whole numbers
type='-mat_type sparsegpu'
options=''             # of PETSc, for all runs
formats='auto csr'
failed=0 runs=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
plain=${PETSC_OPTIONS:-}
# Kernels that programs compile are kept from run to run, in the build folder.
export XDG_CACHE_HOME="$here/cache" DIJITSO_CACHE_DIR="$here/cache/dijitso" FENICS_CACHE_DIR="$here/cache/fenics"
export MPLBACKEND=Agg

need() { # a condition, the package that makes it true
  sh -c "$1" > /dev/null 2>&1 || { echo "skipped: $2 is not installed (tools/install_clients.sh)"; exit 25; }
}
filter() { cat; } # what a script makes of the output before it is compared
run() { # output, PETSc's options, ranks, command ...
  output=$1 more=$2 processes=$3
  shift 3
  PETSC_OPTIONS="$plain $options $more" "$SPARSEGPU_MPIEXEC" -n "$processes" "$@" > "$work/raw" 2>&1
  status=$?
  filter < "$work/raw" > "$work/$output"
  return $status
}
same() { # ranks, command ...
  run plain "" "$@" || { echo "fails without the plug-in: $*"; tail -n 20 "$work/plain"; failed=1; return; }
  for format in $formats; do
    with="-dll_append $SPARSEGPU_LIBRARY $type -mat_sparsegpu_format $format"
    run ours "$with" "$@" || { echo "fails with $with: $*"; tail -n 30 "$work/ours"; failed=1; continue; }
    runs=$((runs + 1))
    $python "$here/compare_results.py" "$work/plain" "$work/ours" "$pattern" "$tolerance" "$zero" "$slack" ||
      { echo "differs with $with: $*"; failed=1; }
  done
}
# The program's matrices are ours: a format that does not exist stops it.
ours() { # ranks, command ...
  if run nonsense "-dll_append $SPARSEGPU_LIBRARY $type -mat_sparsegpu_format nonsense" "$@"; then
    echo "no matrix of $* is ours"
    failed=1
  fi
}
compared() {
  echo "$runs runs compared"
  [ $runs -gt 0 ] || exit 1
  exit $failed
}
