#!/bin/sh
# Builds and installs the library, and solves with the installed copy: what packaging/Containerfile runs, in any folder
# of any machine.
#
#   packaging/install.sh PREFIX
#
# CUDA: ON, OFF or AUTO (default: AUTO). ARCHITECTURES: of the GPUs. BUILD: the build tree. JOBS: of the build.
set -eu
cd "$(dirname "$0")/.."
prefix=$1
build=${BUILD:-build-install}

sh tools/install_dependencies.sh library
cmake -S . -B "$build" -DSPARSEGPU_CUDA="${CUDA:-AUTO}" -DSPARSEGPU_TESTS=OFF -DSPARSEGPU_BENCH=OFF \
  -DSPARSEGPU_EXAMPLES=OFF ${ARCHITECTURES:+"-DSPARSEGPU_CUDA_ARCHITECTURES=$ARCHITECTURES"}
cmake --build "$build" -j "${JOBS:-$(nproc)}"
cmake --install "$build" --prefix "$prefix"

library=$(find "$prefix"/lib* -name libsparsegpu.so | head -1) # lib, lib64 or a folder of the machine's architecture
[ -n "$library" ] || { echo "No libsparsegpu.so in $prefix/lib*" >&2; exit 1; }
if [ -n "${PETSC_DIR:-}" ]; then
  export PKG_CONFIG_PATH="$PETSC_DIR/${PETSC_ARCH:-}/lib/pkgconfig:${PKG_CONFIG_PATH:-}"
fi
petsc=PETSc
pkg-config --exists $petsc || petsc=petsc
mkdir -p "$prefix/bin"
# shellcheck disable=SC2046 # pkg-config's answer is several words
mpicc examples/solve_poisson.c -o "$prefix/bin/solve_poisson" $(pkg-config --cflags --libs $petsc) \
  -Wl,-rpath,"$(pkg-config --variable=libdir $petsc)"
got=$("$prefix/bin/solve_poisson" -dll_append "$library" -mat_type sparsegpu)
echo "$got"
case $got in *aijsparsegpu:*) ;; *) echo "$library was not used" >&2; exit 1 ;; esac
