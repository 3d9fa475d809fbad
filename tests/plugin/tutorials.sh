#!/bin/sh
# PETSc's own tutorials ex2, ex10 and ex50, compiled as they are, under the plug-in, against the plain run and, for ex2
# and ex50, against PETSc's reference output.
set -u
source=$(ls -d /usr/share/petsc/*/share/petsc/examples/src/ksp/ksp/tutorials 2>/dev/null | tail -1)
data=$(ls -d /usr/share/petsc/*/share/petsc/datafiles/matrices 2>/dev/null | tail -1)
[ -n "$source" ] && [ -n "$data" ] || { echo "PETSc's examples are not installed"; exit 25; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for name in ex2 ex10 ex50; do
  mpicc -I"$PETSC_INCLUDE" "$source/$name.c" -o "$work/$name" -L"$PETSC_LIB" -Wl,-rpath,"$PETSC_LIB" $PETSC_LINK -lm ||
    exit 1
done
same() { # ranks program arguments ...: plain and with the plug-in
  ranks=$1; shift
  "$SPARSEGPU_MPIEXEC" -n $ranks "$@" > "$work/plain" 2>&1 || { echo "plain $*"; cat "$work/plain"; failed=1; return; }
  for way in "-mat_type sparsegpu -dm_mat_type sparsegpu" "-mat_seqaij_type seqaijsparsegpu"; do
    "$SPARSEGPU_MPIEXEC" -n $ranks "$@" -dll_append "$SPARSEGPU_LIBRARY" $way > "$work/ours" 2>&1 ||
      { echo "failed: $* $way"; cat "$work/ours"; failed=1; continue; }
    cmp -s "$work/plain" "$work/ours" || { echo "differs: $* $way"; diff "$work/plain" "$work/ours"; failed=1; }
  done
}
reference() { # file, ranks, program arguments: PETSc's own expected output
  file=$source/output/$1; ranks=$2; shift 2
  [ -f "$file" ] || return
  "$SPARSEGPU_MPIEXEC" -n $ranks "$@" -dll_append "$SPARSEGPU_LIBRARY" -mat_type sparsegpu -dm_mat_type sparsegpu > \
    "$work/ours" 2>&1
  cmp -s "$file" "$work/ours" || { echo "not the reference $file: $*"; diff "$file" "$work/ours"; failed=1; }
}
case $PETSC_LIB in *petsc64*) int=int64 ;; *) int=int32 ;; esac
case $PETSC_LIB in *complex*) matrix=nh-complex-$int-float64 ;; *) matrix=ns-real-$int-float64 ;; esac
for ranks in 1 2 3; do
  same $ranks "$work/ex2" -m 15 -n 17 -ksp_monitor_short -ksp_gmres_cgs_refinement_type refine_always
  same $ranks "$work/ex2" -m 15 -n 17 -pc_type gamg -ksp_converged_reason
  same $ranks "$work/ex50" -da_grid_x 9 -da_grid_y 9 -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin -ksp_monitor_short
done
same 1 "$work/ex10" -f "$data/$matrix" -ksp_type gmres -pc_type jacobi
reference ex2_1.out 1 "$work/ex2" -ksp_monitor_short -m 5 -n 5 -ksp_gmres_cgs_refinement_type refine_always
reference ex2_2.out 2 "$work/ex2" -ksp_monitor_short -m 5 -n 5 -ksp_gmres_cgs_refinement_type refine_always
reference ex50.out 1 "$work/ex50" -mat_view
exit $failed
