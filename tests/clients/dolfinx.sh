#!/bin/sh
# The demos of dolfinx: Poisson with a direct solver, elasticity with GAMG and rigid body modes, Stokes with nested and
# with blocked matrices, the Cahn-Hilliard equation by Newton's method.
. "$(dirname "$0")/clients.sh"
demos=/usr/share/dolfinx/demo-python
need "$python -c 'import dolfinx'" python3-dolfinx-real
need "test -f $demos/demo_poisson.py" dolfinx-doc
demo() { # ranks, demo, expressions ...
  ranks=$1 program=$demos/demo_$2.py
  shift 2
  same "$ranks" $python "$here/run_demo.py" "$program" "$@"
}
export CI=1 # three time steps
ours 1 $python "$here/run_demo.py" $demos/demo_poisson.py
for ranks in 1 2 3; do
  demo $ranks poisson 'uh.x.norm()'
  demo $ranks elasticity 'uh.x.norm()' 'more_than_with_aij(solver)'
done
pattern='^result |Step.*num iterations'
demo 1 cahn-hilliard 'u.x.norm()' # random numbers: on more ranks each run has others
pattern='^result'
tolerance=1e-7 # of a residual of 1e-9
demo 1 stokes norm_u_0 norm_p_0 norm_u_2 norm_p_2 norm_u_3 norm_p_3 # on two ranks SuperLU_DIST takes 20 s here
compared
