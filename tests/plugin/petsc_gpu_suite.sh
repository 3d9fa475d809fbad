#!/usr/bin/env bash
# Runs PETSc's own cuSPARSE tests, as tools/petsc_gpu_pack.sh packed them: each as it is ("theirs"), and with our matrix
# type and solvers in place of cuSPARSE's ("ours"). Separates what fails with ours alone from what fails anyway.
#
#   tar -C / -xJf sparsegpu-gpu.tar.xz && tar -C / -xJf petsc-suite.tar.xz
#   /tmp/sparsegpu-gpu/petsc-suite/run.sh [-j JOBS] [-t SECONDS] [-e SECONDS] [-l LIBRARY] [-m MODES] [-n] [PATTERN...]
#
#   JOBS     tests at a time (default 8)
#   -t       time limit of one program (default 60 s); some tests multiply theirs by a factor of their own
#   -e       start no further test after so many seconds (default: never); the rest is counted as not run
#   LIBRARY  libsparsegpu.so (default: where tools/gpu_pack.sh puts it)
#   MODES    "ours theirs" (default), or one of the two
#   -n       without a GPU: host vectors in place of CUDA's, AIJ and PETSc's solvers in place of cuSPARSE's. Shows that
#            programs, scripts and plug-in fit together; comparisons of type names fail
#   PATTERN  shell patterns of test names, e.g. 'mat/tests/runex5_*' (default: all)
#
# Leaves in $OUT (default ./petsc-suite-results): summary.tap, one line a check; failures.log, the output of what fails
# with ours alone; logs.tar.gz, all output. Exit status 0 if nothing fails with ours alone and all was run.
set -u
suite=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(dirname "$suite")
jobs=8 limit=60 end=1000000 library=$prefix/build/libsparsegpu.so modes='ours theirs' dry=''
while getopts j:t:e:l:m:n option; do
  case $option in
    j) jobs=$OPTARG ;;
    t) limit=$OPTARG ;;
    e) end=$OPTARG ;;
    l) library=$(realpath "$OPTARG") ;;
    m) modes=$OPTARG ;;
    n) dry=yes ;;
    *) echo "petsc_gpu_suite.sh: see the top of this file" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ -d "$suite/scripts" ] || { echo "petsc_gpu_suite.sh: run it where its archive unpacks" >&2; exit 2; }
[ -f "$library" ] || { echo "petsc_gpu_suite.sh: no $library" >&2; exit 2; }
out=${OUT:-./petsc-suite-results}
mkdir -p "$out" && out=$(cd "$out" && pwd)
[ -n "$dry" ] || nvidia-smi -L || { echo "petsc_gpu_suite.sh: no GPU" >&2; exit 2; }

# The environment of tools/gpu_check.sh: PETSc's libraries, and OpenMPI where the machine has none.
for folder in /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib; do
  [ -d "$folder" ] && LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
done
export LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if [ "$(readlink -f "$(command -v mpiexec || echo "$prefix/mpi/bin/mpiexec")")" = "$prefix/mpi/bin/mpiexec" ]; then
  export PATH="$prefix/mpi/bin:$PATH" OPAL_PREFIX="$prefix/mpi" OPAL_LIBDIR="$prefix/lib" \
    OPAL_PKGLIBDIR="$prefix/mpi/plugins" OPAL_DATADIR="$prefix/mpi/share"
  export OMPI_MCA_mca_base_component_path="$prefix/mpi/plugins"
elif [ -z "$dry" ]; then # its own MPI before the libraries packed for the other case
  rm -f "$prefix"/lib/libmpi* "$prefix"/lib/libopen-* "$prefix"/lib/libmca_* "$prefix"/lib/libpmix* \
    "$prefix"/lib/libhwloc* "$prefix"/lib/libevent*
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
  OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none \
  OMPI_MCA_mpi_yield_when_idle=1
export LC_ALL=C OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PETSCMPIEXEC=$(command -v mpiexec) || { echo "petsc_gpu_suite.sh: no mpiexec" >&2; exit 2; }
export PETSCMPIEXEC

# A comparison sees our output under cuSPARSE's names and without what our views add, nor the names of functions that
# PETSc's own factors copy from our matrices and do not take back (-checkfunctionlist tells them).
cat > "$suite/petscdiff-ours" <<EOF
#!/usr/bin/env bash
result=\${!#}
sed -E -e '/^ *(sparsegpu:? .*|[0-9]+ levels of L .*|triangular solves: .*)$/d' \
  -e '/^\[[0-9]+\] function name: MatConvert_seqaij_(seqaij)?sparsegpu_C$/d' \
  -e '/^\[[0-9]+\] function name: MatProductSetFromOptions_anytype_C$/d' \
  -e 's/sparsegpu/cusparse/g' -e 's/SPARSEGPU/CUSPARSE/g' "\$result" > "\$result.names"
exec "$suite/petsc/lib/petsc/bin/petscdiff" "\${@:1:\$#-1}" "\$result.names"
EOF
chmod +x "$suite/petscdiff-ours"

# Values of options, not names of files, tests and options: the types stand alone, after a blank, ',', ':-' or a quote.
type='s/(^|[^A-Za-z0-9_.\/])(seq|mpi|)aijcusparse($|[^A-Za-z0-9_.])/'
solver='s/(^|[^A-Za-z0-9_.\/])cusparse($|[^A-Za-z0-9_.])/'
translate() { # mode: the scripts of that mode from those packed
  local mode=$1 edit
  case $mode$dry in
    ours*) edit="${type}\1@\2aijsparsegpu\3/;${type}\1@\2aijsparsegpu\3/;s/@(seq|mpi)/\1/g;s/@aijsparsegpu/sparsegpu/g
      ${solver}\1sparsegpu\2/g;s/-mat_cusparse_[a-z_]+ +[a-z0-9]+//g
      s/-[A-Za-z_]*(matmatmult|matptap|matrart|product_algorithm)_backend_cpu//g" ;;
    theirsyes) edit="${type}\1\2aij\3/;${type}\1\2aij\3/;${solver}\1petsc\2/g" ;;
    theirs) edit='' ;;
    *) echo "petsc_gpu_suite.sh: mode '$mode' is neither ours nor theirs" >&2; exit 2 ;;
  esac
  [ -z "$dry" ] || edit="$edit
    s/-[a-z_]*vec_type +(seq|mpi)?cuda//g;s/densecuda/dense/g;s/-[xb]gpu//g"
  rm -rf "${suite:?}/$mode" && mkdir "$suite/$mode" || exit 2
  cp -r "$suite/scripts/." "$suite/$mode/" && cp -r "$suite/programs/." "$suite/$mode/" || exit 2
  [ "$mode" = theirs ] || [ ! -d "$suite/programs-ours" ] || cp -r "$suite/programs-ours/." "$suite/$mode/" || exit 2
  find "$suite/$mode" -name 'run*.sh' -exec sed -E -i -e "s|$suite/MODE|$suite/$mode|g" \
    -e "/^filter|diff_exe/!{$edit
    }" {} + || exit 2
}
for mode in $modes; do translate "$mode"; done

run_one() { # mode, script below the mode's folder
  local log=$suite/$1/$2.log
  if [ "$(date +%s)" -ge "$last_start" ]; then
    echo "not ok $2 # not run" > "$log"
    return 0
  fi
  cd "$suite/$1" || return 0
  if [ "$1" = ours ]; then
    export PETSCDIFF=$suite/petscdiff-ours PETSC_OPTIONS="-dll_append $library ${PETSC_OPTIONS:-}"
  fi
  timeout -k 10 $((limit * 20)) "./$2" -t "$limit" > "$log" 2>&1 < /dev/null
  [ $? -ne 124 ] || echo "not ok $2 # stopped after $((limit * 20)) s" >> "$log"
  grep -qE '^ *(not )?ok ' "$log" || echo "not ok $2 # the script ended without a result" >> "$log"
}
export -f run_one
start=$(date +%s)
last_start=$((start + end))
export suite library limit last_start
(cd "$suite/scripts" && find . -name 'run*.sh' | sed 's|^\./||' | sort) > "$suite/all"
[ $# -gt 0 ] || set -- '*'
while read -r script; do
  for pattern in "$@"; do
    # shellcheck disable=SC2053 # a pattern it is
    [[ ${script%.sh} == $pattern ]] || continue
    for mode in $modes; do echo "$mode $script"; done
    break
  done
done < "$suite/all" > "$suite/tasks"
# shellcheck disable=SC2016 # expanded by that shell
xargs -P "$jobs" -L 1 bash -c 'run_one "$0" "$1"' < "$suite/tasks"

# One line a check, "state|label|comment|log|label in the log"; labels of ours go by cuSPARSE's names. A check that ran
# several times (a loop over options that does not show in its label) failed if it failed once.
# shellcheck disable=SC2016 # awk expands
collect() { # mode
  cd "$suite/$1" && find . -name 'run*.sh.log' | sort | xargs awk -v mode="$1" '
    $1 == "ok" || $1 == "not" && $2 == "ok" {
      state = $1 == "ok" ? "ok" : "not ok"; said = label = $1 == "ok" ? $2 : $3
      why = index($0, " # ") ? substr($0, index($0, " # ") + 3) : ""
      if (why ~ /^SKIP Command failed/) next
      if (why ~ /^SKIP/) state = "skip"
      if (mode == "ours") {
        sub(/[^a-z]sparsegpu/, "&@", label); sub(/sparsegpu@/, "aijcusparse", label)
        gsub(/sparsegpu/, "cusparse", label)
      }
      if (!(label in all) || state == "not ok") all[label] = state "|" label "|" why "|" FILENAME "|" said
    }
    END { for (label in all) print all[label] }' | sort -t'|' -k2,2
}
for mode in ours theirs; do
  case " $modes " in *" $mode "*) (collect "$mode") ;; esac > "$suite/$mode.checks"
done
[ "$modes" != theirs ] || cp "$suite/theirs.checks" "$suite/ours.checks"
awk -F'|' -v OFS='|' '
  FILENAME ~ /theirs\.checks$/ { theirs[$2] = $1; next }
  {
    if ($1 == "skip") kind = "skip"
    else if ($3 == "not run") kind = "not run"
    else if ($1 == "ok") kind = theirs[$2] == "not ok" ? "ok where theirs fails" : "ok"
    else if (!($2 in theirs) && $2 ~ /^diff-/ && theirs[substr($2, 6)] == "not ok") kind = "not ok, theirs neither"
    else kind = theirs[$2] == "not ok" ? "not ok, theirs neither" : "not ok"
    print kind, $2, $3, $4, $5
  }' "$suite/theirs.checks" "$suite/ours.checks" > "$suite/judged"
awk -F'|' '{ print ($1 ~ /^not/ ? "not ok " : "ok ") $2 ($1 != "ok" && $1 != "not ok" ? " # " $1 : "") \
  ($3 != "" ? " # " $3 : "") }' "$suite/judged" > "$out/summary.tap"
grep -E '^(not ok|not run)\|' "$suite/judged" | while IFS='|' read -r _ label why log said; do
  echo "==== $label ${why:+# $why} ($log)"
  awk -v name="$said" '$1 == "not" && $3 == name { on = 1; print; next } on && !/^#/ { exit } on { print }' \
    "$suite/ours/$log" 2>/dev/null | head -n 100
done > "$out/failures.log"
(cd "$suite" && find ours theirs \( -name '*.log' -o -name '*.tmp' -o -name '*.err' \) 2>/dev/null |
  tar -czf "$out/logs.tar.gz" -T -)
grep -E '^not ok [^ ]+( # (Error|Exceeded|stopped|the script).*)?$' "$out/summary.tap" | head -n 150
echo "$(wc -l < "$suite/all") tests, $(($(date +%s) - start)) s; checks:"
cut -d'|' -f1 "$suite/judged" | sort | uniq -c
! grep -qE '^(not ok|not run)\|' "$suite/judged"
