#!/bin/sh
# The tutorial programs of deal.II that use PETSc, compiled as they are: step 17 (elasticity, CG with block Jacobi), 18
# (quasi-static elasticity, time steps), 40 (Poisson, CG with BoomerAMG, adaptive). deal.II sets the type of its
# matrices, so each AIJ matrix is made ours by -mat_seqaij_type. Programs are built once, in the build folder: 15 s
# each.
. "$(dirname "$0")/clients.sh"
examples=/usr/share/doc/libdeal.ii-doc/examples
need "test -d /usr/include/deal.II" libdeal.ii-dev
need "test -d $examples/step-40" libdeal.ii-doc
type='-mat_seqaij_type seqaijsparsegpu'
# Neighbouring rows of one pattern, as those of elasticity, AIJ adds up in another order than rows; step 18 takes 145
# iterations in its last step without that and 146 with it.
options='-mat_no_inode'
tolerance=1e-5 # of printed digits
step() { # number, builds it
  program=$here/dealii/step-$1/step-$1
  [ -x "$program" ] && return
  { cmake -S "$examples/step-$1" -B "$here/dealii/step-$1" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$here/dealii/step-$1"; } > log 2>&1 || { cat log; exit 1; }
}
for number in "$@"; do
  step "$number"
  case $number in
  17) pattern='^ +Number of|converged in|iterations' ranks='1 2 3' ;;
  18) pattern='Number of|iterations|Norm|converged' ranks='1 2 3' ;;
  40) pattern='Number of|Solved in' ranks='1 2 3' ;;
  *) echo "no step $number here"; exit 1 ;;
  esac
  ours 1 "$program"
  for n in $ranks; do same "$n" "$program"; done
done
compared
