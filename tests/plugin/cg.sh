#!/bin/sh
# PETSc's own programs with symmetric systems, with cg and with sparsegpucg. Arguments: those of PETSc's tests, or like
# them.
native=cg ours=sparsegpucg
. "$(dirname "$0")/same_solves.sh"
same 1 tutorials/ex1 -pc_type none -ksp_rtol 1e-8
same 2 tutorials/ex2 -m 5 -n 5 -ksp_rtol 1e-6
same 1 tutorials/ex2 -m 9 -n 9 -ksp_norm_type natural
same 1 tutorials/ex2 -m 50 -n 50 -pc_type jacobi
same 1 tutorials/ex2 -m 50 -n 50 -pc_type icc -ksp_norm_type unpreconditioned
same 3 tutorials/ex2 -m 50 -n 50 -pc_type none -ksp_rtol 1e-9
same 2 tutorials/ex2 -m 30 -n 30 -pc_type asm -pc_asm_type basic
same 2 tutorials/ex5 -m 5 -pc_type redundant -pc_redundant_number 1 -redundant_pc_type jacobi -ksp_max_it 12
same 2 tutorials/ex12 -pc_type jacobi
same 1 tutorials/ex16 -pc_type jacobi
same 3 tutorials/ex23 -ksp_rtol 1e-7
same 1 tutorials/ex23 -n 100 -pc_type none -ksp_norm_type none -ksp_max_it 20
same 1 tutorials/ex25 -pc_type mg -da_refine 2 -mg_levels_pc_type jacobi
same 1 tutorials/ex29 -pc_type mg -da_refine 4 -ksp_rtol 1e-3 -mg_levels_pc_type jacobi
same 4 tutorials/ex45 -pc_type bjacobi -da_grid_x 9 -da_grid_y 9 -da_grid_z 9
same 1 tutorials/ex50 -da_grid_x 9 -da_grid_y 9 -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin -mg_levels_pc_type jacobi
same 1 tests/ex3 -pc_type jacobi -ksp_rtol 1e-6 -m 6
compared
