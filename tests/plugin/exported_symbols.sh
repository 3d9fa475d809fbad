#!/bin/sh
# The library exports PETSc's entry point and the functions of sparsegpu.h, all of them of the version node, and no more.
#
#   exported_symbols.sh LIBRARY HEADER NODE...      (NODE: the versions that a symbol may have)
set -eu
library=$1 header=$2
shift 2
command -v nm > /dev/null || { echo "nm is not installed"; exit 25; }
nodes=$(printf '%s|' "$@" | sed 's/|$//')
wanted=$(mktemp) exported=$(mktemp)
trap 'rm -f "$wanted" "$exported"' EXIT

{
  echo PetscDLLibraryRegister_sparsegpu
  sed -n 's/^PETSC_EXTERN PetscErrorCode \([A-Za-z]*\)(.*/\1/p' "$header"
} | sort > "$wanted"
# Small letters are local symbols, which the linker lists but nobody can bind to; A is a version node itself.
nm -D --defined-only "$library" | awk '$2 ~ /[B-Z]/ { print $3 }' > "$exported.raw"
if grep -vE "@@?($nodes)\$" "$exported.raw"; then
  rm -f "$exported.raw"
  echo "These have no version of $nodes"
  exit 1
fi
sed 's/@.*//' "$exported.raw" | sort > "$exported"
rm -f "$exported.raw"
[ "$(wc -l < "$wanted")" -gt 10 ] || { echo "$header declares too few functions: what is read from it is wrong"; exit 1; }
diff "$wanted" "$exported" || { echo "< declared in sparsegpu.h, > exported: they differ"; exit 1; }
echo "$(wc -l < "$exported") symbols, of $nodes"
