#!/bin/sh
# The demos of dolfin (legacy FEniCS): Poisson, its singular and its nonlinear kind, elasticity with GAMG and rigid body
# modes, eigenvalues through SLEPc. Options select the type of its matrices, as dolfin sets none.
. "$(dirname "$0")/clients.sh"
demos=/usr/share/dolfin/demo-python
need "$python -c 'import dolfin, matplotlib'" 'python3-dolfin or python3-matplotlib'
need "test -d $demos/documented" dolfin-doc
demo() { # ranks, demo, expressions ...
  ranks=$1 program=$(ls $demos/*/"$2"/demo_*.py)
  shift 2
  same "$ranks" $python "$here/run_demo.py" "$program" "$@"
}
# Demos find their meshes in the folder where they run, or in the one above.
mkdir run && cp $demos/undocumented/pulley.xdmf . && cp $demos/documented/*.xml.gz run && cd run || exit 1
ours 1 $python "$here/run_demo.py" $demos/documented/poisson/demo_poisson.py
for ranks in 1 2 3; do
  tolerance=1e-9
  demo $ranks poisson 'u.vector().norm("l2")'
  pattern='^result |Newton solver finished'
  demo $ranks nonlinear-poisson 'u.vector().norm("l2")'
  pattern='^result '
  tolerance=1e-5 # dolfin's Krylov solvers stop at a relative residual of 1e-6
  demo $ranks singular-poisson 'u.vector().norm("l2")'
done
demo 1 elasticity 'u.vector().norm("l2")'
tolerance=1e-8
demo 1 eigenvalue r
compared
