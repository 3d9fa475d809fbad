#!/bin/sh
# SUNDIALS' examples with PETSc vectors whose Jacobians are AIJ matrices: ARKODE on a Brusselator in one dimension, IDA
# on the heat equation with SNES. Both ask their DM for type aij by name, so each AIJ matrix is made ours by
# -mat_seqaij_type.
. "$(dirname "$0")/clients.sh"
examples=/usr/share/doc/libsundials-dev/examples
need "test -f /usr/include/sundials/sundials_config.h" libsundials-dev
need "test -f $examples/arkode/C_petsc/ark_petsc_ex25.c" libsundials-dev
type='-mat_seqaij_type seqaijsparsegpu'
compile() { # program, source without suffix, libraries
  mpicc -O1 -w -I"$PETSC_INCLUDE" -I"$examples" "$examples/$2.c" -o "$1" $3 -lsundials_nvecpetsc \
    -lsundials_sunnonlinsolpetscsnes -L"$PETSC_LIB" -Wl,-rpath,"$PETSC_LIB" $PETSC_LINK -lm 2> log ||
    { cat log; exit 1; }
}
compile brusselator arkode/C_petsc/ark_petsc_ex25 -lsundials_arkode
compile heat ida/petsc/idaHeat2D_petsc_snes -lsundials_ida
options='-ksp_converged_reason'
pattern='TS dt|Converged|iterations'
tolerance=1e-4 # of printed digits; what the last one says of a step is round-off
filter() { sort; } # the solver's lines and the program's come through two buffers
ours 1 ./brusselator
same 1 ./brusselator
options='' # lines of several ranks may mix
same 2 ./brusselator
same 3 ./brusselator
pattern='^ *[0-9.]+ +[0-9.]+e|failures'
slack=2 # of linear iterations in some hundred: the norms are down to 1e-20
filter() { awk 'NF == 8 { $5 = "" } { print " " $0 }'; } # that number is not set by SUNDIALS' interface to SNES
# The program is made for 2 x 2 ranks.
ours 4 ./heat -jac
same 4 ./heat -jac
compared
