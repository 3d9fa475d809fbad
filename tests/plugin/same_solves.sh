# To be read by a script that sets `native` and `ours`, two types of KSP: same() runs one of PETSc's own programs, compiled
# as it is, with both. The same reasons, iterations within one, true residuals within a factor of two; compared() ends.
# SPARSEGPU_KSP_PROGRAMS: where the programs lie compiled, as tutorials_ex2; SPARSEGPU_KSP_OPTIONS: more for ours.
set -u
data=$(ls -d /usr/share/petsc/*/share/petsc/datafiles/matrices 2>/dev/null | tail -1)
[ -n "$SPARSEGPU_KSP_PROGRAMS" ] || { echo "PETSc's examples are not installed"; exit 25; }
case $SPARSEGPU_KSP_OPTIONS in *cuda*) nvidia-smi -L > /dev/null 2>&1 || { echo "skipped: no GPU"; exit 25; } ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 compared=0

# Lines "reason iterations" and "residual" of all solves, in their order.
solves() {
  sed -n -e 's/.*Linear.* solve converged due to \([A-Z_]*\) iterations \([0-9]*\).*/solve \1 \2/p' \
    -e 's/.*Linear.* solve did not converge due to \([A-Z_]*\) iterations \([0-9]*\).*/solve \1 \2/p' \
    -e 's/.*KSP final norm of residual \([^ ]*\).*/residual \1/p' "$1"
}
same() { # ranks, folder/program, its arguments
  ranks=$1 name=$2
  shift 2
  program=$SPARSEGPU_KSP_PROGRAMS/$(echo "$name" | tr / _)
  for type in "$native" "$ours"; do
    more=""
    [ "$type" = "$native" ] || more=$SPARSEGPU_KSP_OPTIONS
    (cd "$work" && "$SPARSEGPU_MPIEXEC" -n "$ranks" "$program" "$@" -ksp_type "$type" -redundant_ksp_type "$type" \
      -ksp_converged_reason -ksp_view_final_residual -dll_append "$SPARSEGPU_LIBRARY" $more) > "$work/$type.out" 2>&1 ||
      { echo "failed: $name $* -ksp_type $type"; tail -n 20 "$work/$type.out"; failed=1; return; }
    solves "$work/$type.out" > "$work/$type"
  done
  compared=$((compared + 1))
  paste -d ' ' "$work/$native" "$work/$ours" | awk '
    function small(r) { return r == "CONVERGED_RTOL" || r == "CONVERGED_ATOL" } # of an invariant space: either
    $1 == "solve" && NF == 6 {
      n++; d = $3 - $6; if (d > 1 || d < -1 || ($2 != $5 && !(small($2) && small($5)))) bad = 1; next }
    $1 == "residual" && NF == 4 { if ($4 > 2 * $2 + 1e-13) bad = 1; next }
    { bad = 1 }
    END { exit bad || !n }' ||
    { echo "differs: $name $*"; paste "$work/$native" "$work/$ours"; failed=1; }
}
compared() {
  echo "$compared runs compared"
  exit $failed
}
