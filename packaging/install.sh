#!/bin/sh
# Builds and installs with README's commands, and solves with the installed copy: what packaging/Containerfile runs, in
# any folder of any machine.
#
#   packaging/install.sh PREFIX
#
# CUDA: ON, OFF or AUTO (default: AUTO). ARCHITECTURES: of the GPUs. BUILD: the build tree. JOBS: of the build.
set -eu
cd "$(dirname "$0")/.."
prefix=$1
build=${BUILD:-build-install}

make deps
make BUILD="$build" ${JOBS:+JOBS=$JOBS} CMAKE_OPTIONS="-DSPARSEGPU_CUDA=${CUDA:-AUTO} -DSPARSEGPU_TESTS=OFF \
  -DSPARSEGPU_BENCH=OFF ${ARCHITECTURES:+'-DSPARSEGPU_CUDA_ARCHITECTURES=$ARCHITECTURES'}"
make install BUILD="$build" PREFIX="$prefix"

library=$(find "$prefix/lib" -name libsparsegpu.so)
mkdir -p "$prefix/bin"
install "$build/examples/solve_poisson" "$prefix/bin/"
got=$("$prefix/bin/solve_poisson" -dll_append "$library" -mat_type sparsegpu)
echo "$got"
case $got in *aijsparsegpu:*) ;; *) echo "$library was not used" >&2; exit 1 ;; esac
