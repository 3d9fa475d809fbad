#!/bin/sh
# The whole GPU check, on a machine with a GPU and no network: unpacks what tools/gpu_pack.sh made, runs every test, the
# sanitizer and the benchmarks; logs and JSON go to $OUT (default ./gpu-results), a summary comes last. Works from any
# folder and without a checkout: the archive holds this script, too.
#
#   gpu_check.sh [FILE]        (FILE: default .pack/sparsegpu-gpu.tar.xz of the checkout; without one, what is unpacked)
#
# STEPS="tests sanitizer bench trisolve factor tiles compare" chooses steps, and there is "set", all of bench/spmv_set.tsv, which takes
# long; JOBS tests run at a time (default 4). MPS=1: by NVIDIA's multi-process service, which processes share a GPU in
# without taking turns: JOBS=15 ends in a quarter of the time, but one that fails on the GPU takes others along.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
own=$(cd "$(dirname "$0")" && pwd)
[ ! -d "$own/build" ] || PREFIX=${PREFIX:-$own} # unpacked
prefix=${PREFIX:-/tmp/sparsegpu-gpu}
file=${1:-}
[ -n "$file" ] || [ ! -f "$here/.pack/sparsegpu-gpu.tar.xz" ] || file=$here/.pack/sparsegpu-gpu.tar.xz
out=${OUT:-./gpu-results}
steps=${STEPS:-tests sanitizer bench trisolve factor tiles compare}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
if [ -n "$file" ]; then
  tar -C / -xJf "$file" || exit 1
elif [ ! -d "$prefix/build" ]; then
  echo "Nothing is unpacked in $prefix: name the file that tools/gpu_pack.sh made"
  exit 1
fi
[ -z "$(ls "$prefix/matrices" 2> /dev/null)" ] || export SPARSEGPU_MATRICES="$prefix/matrices"

for folder in /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib; do
  [ -d "$folder" ] && LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:$folder
done
export LD_LIBRARY_PATH="$prefix/lib:${LD_LIBRARY_PATH:-}"
export PATH="$PATH:/usr/local/cuda/bin"
if ! command -v mpiexec > /dev/null; then # a machine without MPI: what was packed, where ctest looks for it
  ln -s "$prefix/mpi/bin/mpiexec" /usr/bin/mpiexec || echo "No mpiexec, and /usr/bin is not ours to link the packed one in"
  export PATH="$prefix/mpi/bin:$PATH" OPAL_PREFIX="$prefix/mpi" OPAL_LIBDIR="$prefix/lib" \
    OPAL_PKGLIBDIR="$prefix/mpi/plugins" OPAL_DATADIR="$prefix/mpi/share"
  export OMPI_MCA_mca_base_component_path="$prefix/mpi/plugins"
else # its own MPI, plug-ins and all, before the libraries packed for the other case
  rm -f "$prefix"/lib/libmpi* "$prefix"/lib/libopen-* "$prefix"/lib/libmca_* "$prefix"/lib/libpmix* \
    "$prefix"/lib/libhwloc* "$prefix"/lib/libevent*
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
  OMPI_MCA_btl_vader_single_copy_mechanism=none
export PETSC_OPTIONS="-use_gpu_aware_mpi 0 ${PETSC_OPTIONS:-}"

# Programs made of the plug-in's objects were packed as objects.
if [ -f "$prefix/link/programs" ]; then
  for folder in "$prefix/lib" $(echo "$LD_LIBRARY_PATH" | tr ':' ' '); do folders="${folders:-} -L$folder"; done
  export folders
  (cd "$prefix/link" && xargs -P "$(nproc)" -I{} sh -c '
    set -- {}
    program=../build/$1; shift
    [ -x "$program" ] || c++ -o "$program" -Wl,--whole-archive libinside.a -Wl,--no-whole-archive "$@" $folders \
      -Wl,--allow-shlib-undefined' < programs) > "$out/link.log" 2>&1 || { echo "Cannot link:"; tail -5 "$out/link.log"; exit 1; }
fi
nvidia-smi > "$out/nvidia-smi.log" 2>&1 || { echo "No GPU: nvidia-smi failed"; cat "$out/nvidia-smi.log"; exit 1; }
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
if [ "${MPS:-0}" = 1 ]; then
  export CUDA_MPS_PIPE_DIRECTORY="$out/mps" CUDA_MPS_LOG_DIRECTORY="$out/mps"
  mkdir -p "$out/mps" && nvidia-cuda-mps-control -d || exit 1
  trap 'echo quit | nvidia-cuda-mps-control' EXIT
fi
failed=""

step() { # name, command ...
  name=$1; shift
  case " $steps " in *" $name "*) ;; *) return ;; esac
  start=$(date +%s)
  "$@" > "$out/$name.log" 2>&1 || failed="$failed $name"
  echo "== $name: $(($(date +%s) - start)) s"
}
all_formats() {
  for n in 60000 5000000 27000000; do
    "$prefix/build/bench/spmv" -gen stencil5,stencil7,stencil27,elasticity,rmat,circuit,random,banded -gen_size $n \
      "$@" || return 1
  done
}
step tests ctest --test-dir "$prefix/build" -LE sanitizer --timeout 300 -j "${JOBS:-4}" --output-on-failure
step sanitizer ctest --test-dir "$prefix/build" -L sanitizer --timeout 240 --output-on-failure
step bench all_formats
step set "$prefix/build/bench/spmv" -set "$prefix/build/bench/spmv_set.tsv" -formats auto
all_factors() {
  for n in 60000 1000000 5000000; do
    "$prefix/build/bench/trisolve" -gen stencil5,stencil5:abmc,stencil7,stencil7:abmc,stencil27,elasticity,random,rmat \
      -gen_size $n || return 1
  done
}
step trisolve all_factors
step factor "$prefix/build/bench/factor" -gen stencil5,stencil7,stencil27 -gen_size 1000000 -levels 0,1,2 \
  -orderings natural,abmc -rhs 1
[ ! -f "$out/trisolve.log" ] || python3 "$prefix/build/bench/triangular.py" "$out"/trisolve.log "$out"/factor.log > "$out/triangular.md"
step tiles "$prefix/build/bench/tiles"
step compare "$prefix/build/examples/compare" -gen stencil5,stencil7,stencil27,elasticity,rmat,circuit,random \
  -gen_size 2000000 -json "$out/compare.json"

for log in tests sanitizer; do [ -f "$out/$log.log" ] &&
  grep -E 'tests passed|tests failed|\*\*\*Failed|SKIP|Not Run' "$out/$log.log" | tail -40; done
[ -f "$out/compare.log" ] && tail -60 "$out/compare.log"
if [ -n "$failed" ]; then echo "FAILED:$failed"; exit 1; fi
echo "GPU check passed"
