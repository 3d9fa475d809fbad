#!/usr/bin/env bash
# Runs PETSc's own tests, as its example package ships them, with every AIJ matrix turned into one of ours.
#
#   petsc_suite.sh [-m MODE] [-l LIBRARY] [-p PETSC_DIR] [-d FOLDER] [-j JOBS] [-t SECONDS] [-x EXCUSED] PATTERN...
#
#   MODE     sparsegpu (default): -mat_seqaij_type seqaijsparsegpu from LIBRARY; aijperm: PETSc's own derived type, the
#            yardstick of what a derived type may fail; aij: no option at all
#   LIBRARY  libsparsegpu.so
#   FOLDER   where test programs are built and run (default ./.petsc-tests); kept, so a second run builds nothing
#   SECONDS  time limit of one test program (default 120)
#   EXCUSED  tests that may fail, one a line: name, blanks, the reason (default petsc_suite_excused.txt, here)
#   PATTERN  names of tests with at most one *, e.g. 'mat_tests-*' 'ksp_ksp_tutorials-ex2_*'
#
# Leaves FOLDER/MODE.tap (all output), FOLDER/MODE.failed (names) and says what failed; exit status 0 if in mode
# sparsegpu nothing failed that is not excused, 1 otherwise.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mode=sparsegpu library='' folder=$PWD/.petsc-tests jobs=2 limit=120 excused=$here/petsc_suite_excused.txt
petsc_dir=${PETSC_DIR:-}

fail() { echo "petsc_suite.sh: $*" >&2; exit 2; }
while getopts m:l:p:d:j:t:x: option; do
  case $option in
    m) mode=$OPTARG ;;
    l) library=$(realpath "$OPTARG") ;;
    p) petsc_dir=$(realpath "$OPTARG") ;;
    d) folder=$OPTARG ;;
    j) jobs=$OPTARG ;;
    t) limit=$OPTARG ;;
    x) excused=$OPTARG ;;
    *) fail "see the top of this file" ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || fail "name the tests to run, e.g. 'mat_tests-*'"
# shellcheck disable=SC2012 # the newest of Debian's installed versions
[ -n "$petsc_dir" ] || petsc_dir=$(ls -d /usr/lib/petscdir/petsc3.*/*-real 2>/dev/null | tail -n 1)
makefile=$petsc_dir/share/petsc/examples/gmakefile.test
[ -f "$makefile" ] || { echo "SKIP: no $makefile: PETSc's tests are in libpetsc3.18-dev-examples"; exit 25; }

case $mode in
  sparsegpu)
    [ -f "$library" ] || fail "-l LIBRARY: no file '$library'"
    options="-dll_append $library -mat_seqaij_type seqaijsparsegpu" ;;
  aijperm) options="-mat_seqaij_type seqaijperm" ;;
  aij) options="" ;;
  *) fail "mode '$mode' is none of aij, aijperm, sparsegpu" ;;
esac

mkdir -p "$folder" || fail "cannot make $folder"
folder=$(cd "$folder" && pwd)
exec 9>"$folder/lock"
flock -n 9 || fail "another run uses $folder"
# OpenMPI in a container or with fewer cores than ranks; no core binding, as several programs run side by side.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none \
  OMPI_MCA_mpi_yield_when_idle=1
export LC_ALL=C OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
rm -f "$folder/$mode.failed"
pattern=${*//\*/%} # make's own wild card
status=0
(
  cd "$folder" && PETSC_OPTIONS="$options" nice make -k -j "$jobs" -f "$makefile" PETSC_DIR="$petsc_dir" PETSC_ARCH= \
    TESTDIR="$folder/tests" TIMEOUT="$limit" gmakesearch="$pattern" test
) >"$folder/$mode.tap" 2>&1 </dev/null || status=$?

tap=$folder/tests/test__tap.log # the name is gmakefile.test's
passed=$(grep '^ *ok ' "$tap" | grep -vc '# SKIP')
sed -n 's/^ *not ok \([^ ]*\).*/\1/p' "$tap" | sort -u >"$folder/$mode.failed"
if [ "$passed" -eq 0 ]; then
  tail -n 20 "$folder/$mode.tap"
  fail "no test of '$*' ran (make's exit status $status)"
fi
echo "$mode: $passed lines passed, $(wc -l <"$folder/$mode.failed") failed ($folder/$mode.tap)"
if [ "$mode" != sparsegpu ]; then
  cat "$folder/$mode.failed"
  exit 0
fi
excuse() { # is $1 on the list?
  local pattern
  for pattern in $patterns; do
    # shellcheck disable=SC2053 # a pattern it is
    [[ $1 == $pattern ]] && return 0
  done
  return 1
}
patterns=$(grep -v '^#' "$excused" | awk 'NF {print $1}')
# Of the failed comparisons with reference output, those that differ only by our type's name and the lines we add to a view.
named() { # TAP files ...
  awk '
  function close_test(  l) {
    if (name != "") {
      for (l in count) if (count[l]) other = 1
      if (!other && lines) print name
    }
    name = ""
  }
  $1 == "not" && $2 == "ok" {
    close_test()
    if ($3 ~ /^diff-/) { name = $3; split("", count); other = lines = 0 }
    next
  }
  !/^#/ { close_test(); next }
  name != "" && /^#\t[<>] / {
    side = substr($0, 3, 1); text = substr($0, 5); lines++
    if (text ~ /sparsegpu: / || text ~ /(sparsegpu|block:) (format|stored|kept for changes of values|details|transposed products|conversion):/) next
    gsub(/sparsegpu/, "", text)
    count[text] += side == "<" ? 1 : -1
  }
  END { close_test() }' "$@" | sort -u
}
named "$tap" "$folder/$mode.tap" >"$folder/$mode.named"
# Tests that run side by side mix their output, so that a comparison may not be recognised: those again, one by one.
for name in $(comm -23 "$folder/$mode.failed" "$folder/$mode.named" | grep '^diff-'); do
  excuse "$name" && continue
  (
    cd "$folder" && PETSC_OPTIONS="$options" make -f "$makefile" PETSC_DIR="$petsc_dir" PETSC_ARCH= TESTDIR="$folder/tests" \
      TIMEOUT="$limit" gmakesearch="${name#diff-}" test
  ) >"$folder/one.tap" 2>&1 </dev/null
  named "$folder/one.tap" "$tap" >>"$folder/$mode.named"
done
sort -u -o "$folder/$mode.named" "$folder/$mode.named"
set -f
unexcused='' excused_here=0
for name in $(comm -23 "$folder/$mode.failed" "$folder/$mode.named"); do
  if excuse "$name"; then excused_here=$((excused_here + 1)); else unexcused="$unexcused $name"; fi
done
echo "differing by the type's name alone: $(wc -l <"$folder/$mode.named"), excused: $excused_here"
[ -z "$unexcused" ] && exit 0
for name in $unexcused; do
  echo "NOT EXCUSED: $name"
  awk -v name="$name" '$1 == "not" && $3 == name {on = 1; print; next} on && !/^#/ {exit} on {print}' \
    "$folder/$mode.tap" | head -n 25
done
exit 1
