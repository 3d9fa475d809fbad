#!/bin/sh
# The demos of slepc4py: standard, generalized, quadratic and nonlinear eigenproblems, a singular value decomposition,
# the exponential of a matrix, LOBPCG.
. "$(dirname "$0")/clients.sh"
demos=/usr/share/doc/python-slepc4py-doc/examples/demo
need "$python -c 'import slepc4py'" python3-slepc4py-real
need "test -f $demos/ex1.py" python-slepc4py-doc
pattern='[0-9]'
tolerance=1e-6 # of what is printed
zero=1e-6      # errors
ours 1 $python $demos/ex1.py
for name in ex1 ex2 ex3 ex4 ex5 ex6 ex8 ex9; do
  same 1 $python $demos/$name.py
done
for ranks in 2 3; do
  for name in ex1 ex2 ex4 ex5 ex6 ex8 ex9; do # ex3 is for one
    same $ranks $python $demos/$name.py
  done
done
same 1 $python "$here/run_demo.py" $demos/ex10.py # takes random numbers
compared
