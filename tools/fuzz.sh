#!/bin/sh
# Fuzzes the matrix readers and the options: builds tests/fuzz with clang, AddressSanitizer and UBSan, then runs each
# fuzzer for so many minutes, all side by side. Inputs that add coverage are kept in BUILD/fuzz/NAME for the next run;
# one that crashes, hangs for 20 s or takes 3 GB is a file BUILD/fuzz/NAME-crash-..., -timeout-... or -oom-...: mend the
# code, and put it into tests/fuzz/corpus/NAME.
#
#   tools/fuzz.sh MINUTES [BUILD]     BUILD: build-fuzz; FUZZERS="readers options"; JOBS=processes of each fuzzer, 1
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
minutes=$1
build=${2:-build-fuzz}
fuzzers=${FUZZERS:-readers options}
command -v clang++ > /dev/null || { echo "fuzz.sh: clang++ is missing: apt-get install clang"; exit 1; }

[ -f "$build/CMakeCache.txt" ] || cmake -S . -B "$build" -DSPARSEGPU_FUZZ=ON -DSPARSEGPU_CUDA=OFF \
  -DSPARSEGPU_BENCH=OFF -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ > /dev/null
# shellcheck disable=SC2046,SC2086
cmake --build "$build" -j "${BUILD_JOBS:-$(nproc)}" --target $(printf 'fuzz_%s ' $fuzzers) > /dev/null

# PETSc and MPI have leaks of their own; a refused allocation is a PETSc error, not a crash
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=32 UBSAN_OPTIONS=print_stacktrace=1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
top=$(pwd)
processes=""
for name in $fuzzers; do
  for job in $(seq "${JOBS:-1}"); do
    mkdir -p "$build/fuzz/$name"
    (
      cd "$build/fuzz"
      exec "../tests/bin/fuzz_$name" -max_total_time=$((minutes * 60)) -timeout=20 -rss_limit_mb=3000 -max_len=2048 \
        -print_final_stats=1 -artifact_prefix="$name-" "$name" "$top/tests/fuzz/corpus/$name" > "$name-$job.log" 2>&1
    ) &
    processes="$processes $!"
  done
done
status=0
for process in $processes; do wait "$process" || status=1; done
for name in $fuzzers; do
  for job in $(seq "${JOBS:-1}"); do
    log=$build/fuzz/$name-$job.log
    echo "$name, process $job:" "$(grep -E '^stat::number_of_executed_units|^SUMMARY' "$log" | tr '\n' ' ')" \
      "$(grep -oE 'cov: [0-9]+' "$log" | tail -1)"
  done
done
[ $status = 0 ] || echo "Found something: see $build/fuzz/*.log"
exit $status
