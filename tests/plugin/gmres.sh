#!/bin/sh
# PETSc's own programs that its tests run with gmres, compiled as they are, with gmres and with sparsegpugmres: the same
# reasons, iterations within one, true residuals within a factor of two. Arguments: those of PETSc's tests.
# SPARSEGPU_KSP_PROGRAMS: where they lie compiled, as tutorials_ex2; SPARSEGPU_KSP_OPTIONS: more for sparsegpugmres.
set -u
SPARSEGPU_KSP_PROGRAMS=${SPARSEGPU_KSP_PROGRAMS:-} SPARSEGPU_KSP_OPTIONS=${SPARSEGPU_KSP_OPTIONS:-}
examples=$(ls -d "$PETSC_LIB"/../share/petsc/examples/src/ksp/ksp /usr/share/petsc/*/share/petsc/examples/src/ksp/ksp \
  2>/dev/null | head -1)
data=$(ls -d /usr/share/petsc/*/share/petsc/datafiles/matrices 2>/dev/null | tail -1)
[ -n "$examples$SPARSEGPU_KSP_PROGRAMS" ] || { echo "PETSc's examples are not installed"; exit 25; }
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
  program=${SPARSEGPU_KSP_PROGRAMS:-$work}/$(echo "$name" | tr / _)
  [ -x "$program" ] || mpicc -I"$PETSC_INCLUDE" "$examples/$name.c" -o "$program" -L"$PETSC_LIB" \
    -Wl,-rpath,"$PETSC_LIB" $PETSC_LINK -lm 2> "$work/log" || { cat "$work/log"; exit 1; }
  for type in gmres sparsegpugmres; do
    more=""
    [ $type = gmres ] || more=$SPARSEGPU_KSP_OPTIONS
    (cd "$work" && "$SPARSEGPU_MPIEXEC" -n "$ranks" "$program" "$@" -ksp_type $type -redundant_ksp_type $type \
      -ksp_converged_reason -ksp_view_final_residual -dll_append "$SPARSEGPU_LIBRARY" $more) > "$work/$type.out" 2>&1 ||
      { echo "failed: $name $* -ksp_type $type"; tail -n 20 "$work/$type.out"; failed=1; return; }
    solves "$work/$type.out" > "$work/$type"
  done
  compared=$((compared + 1))
  paste -d ' ' "$work/gmres" "$work/sparsegpugmres" | awk '
    function small(r) { return r == "CONVERGED_RTOL" || r == "CONVERGED_ATOL" } # of an invariant space: either
    $1 == "solve" && NF == 6 {
      n++; d = $3 - $6; if (d > 1 || d < -1 || ($2 != $5 && !(small($2) && small($5)))) bad = 1; next }
    $1 == "residual" && NF == 4 { if ($4 > 2 * $2 + 1e-13) bad = 1; next }
    { bad = 1 }
    END { exit bad || !n }' ||
    { echo "differs: $name $*"; paste "$work/gmres" "$work/sparsegpugmres"; failed=1; }
}
same 1 tutorials/ex1 -pc_type none -ksp_rtol 1e-8
same 2 tutorials/ex2 -m 5 -n 5 -ksp_gmres_cgs_refinement_type refine_always
same 1 tutorials/ex2 -m 9 -n 9 -ksp_gmres_cgs_refinement_type refine_ifneeded
same 1 tutorials/ex2 -m 50 -n 50 -pc_type jacobi -ksp_gmres_restart 7
same 3 tutorials/ex2 -m 50 -n 50 -pc_type none -ksp_gmres_restart 200 -ksp_rtol 1e-9
same 1 tutorials/ex2 -m 30 -n 30 -ksp_pc_side right -pc_type sor
same 2 tutorials/ex2 -m 30 -n 30 -ksp_gmres_modifiedgramschmidt -pc_type asm
same 1 tutorials/ex5
# The solve within has arrays placed into its vectors. It is ours, too: on a GPU, VecMAXPY() of PETSc 3.24 in its gmres
# takes coefficients from unset memory where a process has fewer rows (6 without -m) than there are vectors, up to 8.
same 2 tutorials/ex5 -m 5 -pc_type redundant -pc_redundant_number 1 -redundant_pc_type jacobi
same 1 tutorials/ex9 -t 2 -pc_type jacobi -ksp_gmres_cgs_refinement_type refine_always -s2_ksp_type bcgs \
  -s2_pc_type jacobi
same 2 tutorials/ex12 -pc_type jacobi
same 2 tutorials/ex15 -ksp_rtol 1e-6 -user_defined_pc
same 1 tutorials/ex16 -pc_type jacobi
same 3 tutorials/ex23 -ksp_gmres_cgs_refinement_type refine_always
same 1 tutorials/ex25 -pc_type mg -ksp_type fgmres -da_refine 2
same 2 tutorials/ex28 -pc_type mg -pc_mg_type full -ksp_max_it 100
same 1 tutorials/ex29 -pc_type mg -pc_mg_type full -da_refine 4 -ksp_rtol 1e-3
same 4 tutorials/ex45 -pc_type bjacobi -da_grid_x 9 -da_grid_y 9 -da_grid_z 9
same 1 tutorials/ex50 -da_grid_x 9 -da_grid_y 9 -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin
same 1 tests/ex3 -pc_type jacobi -ksp_rtol 1e-6 -m 6
case $PETSC_LIB in *petsc64*) int=int64 ;; *) int=int32 ;; esac
case $PETSC_LIB in *complex*) matrix=nh-complex-$int-float64 ;; *) matrix=ns-real-$int-float64 ;; esac
[ -z "$data" ] || same 1 tutorials/ex10 -f "$data/$matrix" -pc_type jacobi
echo "$compared runs compared"
exit $failed
