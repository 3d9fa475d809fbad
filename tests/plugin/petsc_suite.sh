#!/usr/bin/env bash
# Runs PETSc's own tests, or SLEPc's, as the example packages ship them, with every AIJ matrix turned into one of ours.
#
#   petsc_suite.sh [-m MODE] [-w WAY] [-l LIBRARY] [-p PETSC_DIR] [-d FOLDER] [-j JOBS] [-t SECONDS] [-x EXCUSED]
#                  [-s SLEPC_DIR] PATTERN...
#
#   MODE     sparsegpu (default): our type, from LIBRARY; aijperm: PETSc's own derived type, the yardstick of what a
#            derived type may fail; aij: no option at all
#   WAY      seqaij_type (default): -mat_seqaij_type, which turns every AIJ matrix into one of ours; mat_type: -mat_type
#            for tests whose options name no type, and in place of aij, seqaij and mpiaij where they do. Many programs
#            need another type: run MODE aij first, what fails with it in this WAY counts as excused
#   LIBRARY  libsparsegpu.so
#   FOLDER   where test programs are built and run (default ./.petsc-tests); kept, so a second run builds nothing
#   SECONDS  time limit of one test program (default 120)
#   SLEPC_DIR  where SLEPc is: its tests, in place of PETSc's
#   EXCUSED  tests that may fail, one a line: name, blanks, the reason (default petsc_suite_excused.txt, here)
#   PATTERN  names of tests with at most one *, e.g. 'mat_tests-*' 'ksp_ksp_tutorials-ex2_*'
#
# Leaves FOLDER/MODE.tap (all output) and FOLDER/MODE.failed (names), with -mat_type after MODE where WAY is that, and
# says what failed; exit status 0 if in mode sparsegpu nothing failed that is not excused, 1 otherwise.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mode=sparsegpu way=seqaij_type library='' folder=$PWD/.petsc-tests jobs=2 limit=120
excused=$here/petsc_suite_excused.txt
petsc_dir=${PETSC_DIR:-} slepc_dir=''

fail() { echo "petsc_suite.sh: $*" >&2; exit 2; }
while getopts m:w:l:p:d:j:t:x:s: option; do
  case $option in
    m) mode=$OPTARG ;;
    w) way=$OPTARG ;;
    l) library=$(realpath "$OPTARG") ;;
    p) petsc_dir=$(realpath "$OPTARG") ;;
    d) folder=$OPTARG ;;
    j) jobs=$OPTARG ;;
    t) limit=$OPTARG ;;
    x) excused=$OPTARG ;;
    s) slepc_dir=$OPTARG ;;
    *) fail "see the top of this file" ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || fail "name the tests to run, e.g. 'mat_tests-*'"
# shellcheck disable=SC2012 # the newest of Debian's installed versions
[ -n "$petsc_dir" ] || petsc_dir=$(ls -d /usr/lib/petscdir/petsc3.*/*-real 2>/dev/null | tail -n 1)
makefile=$petsc_dir/share/petsc/examples/gmakefile.test
of_slepc=''
if [ -n "$slepc_dir" ]; then
  # shellcheck disable=SC2012
  makefile=$(ls /usr/share/slepc/3.*/share/slepc/examples/gmakefile.test 2>/dev/null | tail -n 1)
  [ -d "$slepc_dir/include" ] || { echo "skipped: no SLEPc in $slepc_dir: it is in libslepc-real3.18-dev"; exit 25; }
  [ -f "$makefile" ] || { echo "skipped: SLEPc's tests are in libslepc3.18-dev-examples"; exit 25; }
  of_slepc=SLEPC_DIR=$slepc_dir
fi
[ -f "$makefile" ] || { echo "SKIP: no $makefile: PETSc's tests are in libpetsc3.18-dev-examples"; exit 25; }

case $mode in
  sparsegpu)
    [ -f "$library" ] || fail "-l LIBRARY: no file '$library'"
    options="-dll_append $library" type=aijsparsegpu ;;
  aijperm) options="" type=aijperm ;;
  aij) options="" type=aij ;;
  *) fail "mode '$mode' is none of aij, aijperm, sparsegpu" ;;
esac
case $way in
  seqaij_type) [ "$mode" = aij ] || options="$options -mat_seqaij_type seq$type" ;;
  mat_type) ;;
  *) fail "way '$way' is neither seqaij_type nor mat_type" ;;
esac

mkdir -p "$folder" || fail "cannot make $folder"
folder=$(cd "$folder" && pwd)
exec 9>"$folder/lock"
flock -n 9 || fail "another run uses $folder"
# OpenMPI in a container or with fewer cores than ranks; no core binding, as several programs run side by side.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none \
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
export LC_ALL=C OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# Comparisons with reference output see the type under AIJ's name, and not the lines that our views add.
# mat/tests/ex23 makes some of its tests only for a type called seqaij: their titles are left out.
cat >"$folder/petscdiff" <<EOF
#!/usr/bin/env bash
plain() { # file
  sed -E -e '/^ *sparsegpu[ :]/d' \\
    -e '/^Test (MatConvert_IS_XAIJ special case|MatPtAP\$|MatISFixLocalEmpty\$)/d' \\
    -e 's/aij(sparsegpu|perm)/aij/g' "\$1" >"\$2"
}
result=\${!#}
plain "\${@: -2:1}" "\$result.expected" && plain "\$result" "\$result.plain" || exit 2
exec "$petsc_dir/lib/petsc/bin/petscdiff" "\${@:1:\$#-2}" "\$result.expected" "\$result.plain"
EOF
chmod +x "$folder/petscdiff"
export PETSCDIFF=$folder/petscdiff
pattern=${*//\*/%} # make's own wild card
suite() { # make's arguments
  cd "$folder" && PETSC_OPTIONS="$options" nice make -f "$makefile" PETSC_DIR="$petsc_dir" PETSC_ARCH= $of_slepc \
    TESTDIR="$tests" TIMEOUT="$limit" "$@" test
}
tests=$folder/tests suffix=''
if [ "$way" = mat_type ]; then
  # Scripts of its own with the types replaced, the programs shared.
  (suite -k -j "$jobs" gmakesearch="$pattern" TESTFLAGS=-p) >"$folder/build.log" 2>&1 </dev/null
  tests=$folder/tests-$mode
  rm -rf "$tests"
  cp -al "$folder/tests" "$tests" || fail "cannot make $tests"
  value="s/( |:-)(seq|mpi|)aij([ }'\"]|\$)/\\1\\2$type\\3/g"
  find "$tests" -name 'run*.sh' -exec sed -E -i -e "s|$folder/tests|$tests|g" \
    -e "/^args=|_in=|[$][{]args[}]/{$value;$value}" {} +
  grep -rL mat_type "$tests" --include='run*.sh' | xargs sed -i "s/^args='-petsc_ci/& -mat_type $type/"
  suffix=-mat_type
fi
mode=$mode$suffix
rm -f "$folder/$mode.failed"
status=0
(suite -k -j "$jobs" gmakesearch="$pattern") >"$folder/$mode.tap" 2>&1 </dev/null || status=$?

tap=$tests/test__tap.log # the name is gmakefile.test's
passed=$(grep '^ *ok ' "$tap" | grep -vc '# SKIP')
sed -n 's/^ *not ok \([^ ]*\).*/\1/p' "$tap" | sort -u >"$folder/$mode.failed"
if [ "$passed" -eq 0 ]; then
  tail -n 20 "$folder/$mode.tap"
  fail "no test of '$*' ran (make's exit status $status)"
fi
echo "$mode: $passed lines passed, $(wc -l <"$folder/$mode.failed") failed ($folder/$mode.tap)"
if [ "$type" != aijsparsegpu ]; then
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
set -f
unexcused='' excused_here=0
while read -r name; do
  if excuse "$name" || grep -qxF -- "${name//aijsparsegpu/aij}" "$folder/aij$suffix.failed" 2>/dev/null; then
    excused_here=$((excused_here + 1))
  else
    unexcused="$unexcused $name"
  fi
done <"$folder/$mode.failed"
echo "excused: $excused_here"
[ -z "$unexcused" ] && exit 0
for name in $unexcused; do
  echo "NOT EXCUSED: $name"
  awk -v name="$name" '$1 == "not" && $3 == name {on = 1; print; next} on && !/^#/ {exit} on {print}' \
    "$folder/$mode.tap" | head -n 25
done
exit 1
