#!/bin/sh
# PETSc's own programs with bcgs and with sparsegpubcgs. Arguments: those of PETSc's tests, or like them; so few
# iterations that rounding errors do not decide their number.
native=bcgs ours=sparsegpubcgs
. "$(dirname "$0")/same_solves.sh"
same 1 tutorials/ex1 -pc_type none -ksp_rtol 1e-8
same 2 tutorials/ex2 -m 5 -n 5 -ksp_rtol 1e-6
same 1 tutorials/ex2 -m 9 -n 9 -ksp_pc_side right
same 1 tutorials/ex2 -m 20 -n 20 -pc_type jacobi
same 1 tutorials/ex2 -m 50 -n 50 -pc_type ilu -ksp_pc_side right
same 3 tutorials/ex2 -m 15 -n 15 -pc_type none
same 2 tutorials/ex2 -m 30 -n 30 -pc_type asm
same 1 tutorials/ex2 -m 30 -n 30 -pc_type sor
same 1 tutorials/ex5
same 2 tutorials/ex5 -m 5 -pc_type redundant -pc_redundant_number 1 -redundant_pc_type jacobi
same 1 tutorials/ex9 -t 2 -pc_type jacobi -s2_ksp_type gmres -s2_pc_type jacobi
same 2 tutorials/ex12 -pc_type jacobi
same 2 tutorials/ex15 -ksp_rtol 1e-6 -user_defined_pc
same 1 tutorials/ex16 -pc_type jacobi
same 3 tutorials/ex23 -n 12
same 1 tutorials/ex25 -pc_type mg -da_refine 2
same 2 tutorials/ex28 -pc_type mg -pc_mg_type full -ksp_max_it 100
same 1 tutorials/ex29 -pc_type mg -da_refine 4 -ksp_rtol 1e-3
same 4 tutorials/ex45 -pc_type bjacobi -da_grid_x 9 -da_grid_y 9 -da_grid_z 9
same 1 tutorials/ex50 -da_grid_x 9 -da_grid_y 9 -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin
same 1 tests/ex3 -pc_type jacobi -ksp_rtol 1e-6 -m 6
compared
