#!/bin/sh
# sanitizer.sh TOOL PROGRAM FORMAT [ARGUMENT ...]: compute-sanitizer over our kernels; fails where the tool or the GPU is missing.
set -u
tool=$1 program=$2 format=$3
shift 3
command -v compute-sanitizer > /dev/null || { echo "compute-sanitizer is not on PATH: nothing was checked"; exit 1; }
# initcheck and memcheck see all of the process; the others only our kernels, cuSPARSE's have hazards of their own.
# KERNELS names fewer: to racecheck a value that is its own flag is a hazard in shared memory.
case $tool in racecheck | synccheck) filter="--kernel-name kernel_substring=${KERNELS:-sparsegpu}" ;; *) filter="" ;; esac
compute-sanitizer --tool "$tool" $filter --error-exitcode 9 "$program" -sparsegpu_backend cuda -mat_sparsegpu_format \
  "$format" "$@"
