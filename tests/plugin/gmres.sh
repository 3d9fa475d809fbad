#!/bin/sh
# PETSc's own programs that its tests run with gmres, with gmres and with sparsegpugmres. Arguments: those of PETSc's
# tests.
native=gmres ours=sparsegpugmres
. "$(dirname "$0")/same_solves.sh"
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
compared
