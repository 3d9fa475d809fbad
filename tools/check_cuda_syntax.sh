#!/bin/sh
# Parses and type-checks the CUDA sources for a PETSc, without generating code for a GPU: a fifth of a compilation's
# time. For PETSc builds whose library is not wanted, such as one of complex scalars.
#
#   PETSC_DIR=... PETSC_ARCH=... tools/check_cuda_syntax.sh [FILE.cu ...]
set -eu
cd "$(dirname "$0")/.."
export PKG_CONFIG_PATH="$PETSC_DIR/${PETSC_ARCH:+$PETSC_ARCH/}lib/pkgconfig"
PATH=$(dirname "$(readlink -f "$(command -v nvcc)")"):$PATH
flags=$( (pkg-config --cflags PETSc; mpicc --showme:compile 2> /dev/null || mpicc -compile_info) | tr ' ' '\n' |
  grep '^-I' | tr '\n' ' ')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# nvcc's own first two steps, as it lists them: the preprocessor and the front end, which checks device code, too
cat > "$work/one" << EOF
set -eu
mkdir "$work/\$\$"
nvcc -std=c++17 -arch=sm_90 --expt-relaxed-constexpr -DSPARSEGPU_HAVE_CUDA -Isrc $flags -c "\$1" -o "$work/\$\$/o" \
  --keep --keep-dir "$work/\$\$" --dryrun 2>&1 | sed -n 's/^#\\$ //p' |
  sed -n -e '/^gcc \|cudafe++/p' -e '/cudafe++/q' > "$work/\$\$/steps"
grep -q cudafe++ "$work/\$\$/steps" || { echo "\$1: nvcc has other steps than this script knows" >&2; exit 1; }
(set -a; . "$work/\$\$/steps") || { echo "\$1: see above" >&2; exit 1; }
rm -rf "$work/\$\$"
EOF
if [ $# -eq 0 ]; then # all, in groups that read their headers once
  cmake -DGROUPS="$work/groups" -P cmake/cuda_groups.cmake
  set -- "$work"/groups/*.cu
fi
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh "$work/one"
echo "$# CUDA sources or groups of them parsed"
