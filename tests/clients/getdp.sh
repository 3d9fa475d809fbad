#!/bin/sh
# GetDP's demo: a magnet, linear and with a nonlinear material, by MUMPS as GetDP does by itself and by GMRES with ILU.
# GetDP crashes with any -mat_type but aij, PETSc's own included, so each AIJ matrix is made ours by -mat_seqaij_type.
. "$(dirname "$0")/clients.sh"
demos=/usr/share/doc/getdp/examples
need 'command -v getdp' getdp
need "test -f $demos/demos/magnet.pro" getdp
type='-mat_seqaij_type seqaijsparsegpu'
cp -r $demos/demos $demos/templates . && cd demos || exit 1
magnet() { # 1 for the nonlinear material
  getdp magnet.pro -setnumber Flag_NL "$1" -solve Magnetostatics_a -pos a > log 2>&1 || { cat log; return 1; }
  grep '^Residual' log # of Newton's method
  sed 's/^/field /' b_a.txt
}
# GetDP takes PETSc's options from PETSC_OPTIONS; it is a sequential program.
run() { # output, PETSc's options, ranks, number
  (export PETSC_OPTIONS="$plain $options $2"; magnet "$4") > "$work/$1" 2>&1
}
pattern='^field '
tolerance=1e-6 # in Newton's method small differences grow
zero=1e-9
ours 1 0
for options in '' '-ksp_type gmres -pc_type ilu -pc_factor_levels 2 -ksp_rtol 1e-10'; do
  same 1 0
  same 1 1
done
compared
