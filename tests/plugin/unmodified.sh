#!/bin/sh
# An unmodified program gives aij's iterations with every format, loaded by
# -dll_append and by PETSC_OPTIONS, on 1 to 4 ranks.
set -u
program=$1
failed=0
plain=${PETSC_OPTIONS:-}
for ranks in 1 2 4; do
  expected=$("$SPARSEGPU_MPIEXEC" -n $ranks "$program" -m 40 -n 30 -mat_type aij) || exit 1
  for format in auto csr merge dia ell coo hyb sccsr vab; do
    got=$("$SPARSEGPU_MPIEXEC" -n $ranks "$program" -m 40 -n 30 -dll_append "$SPARSEGPU_LIBRARY" -mat_type sparsegpu \
      -mat_sparsegpu_format $format)
    [ "${got#*:}" = "${expected#*:}" ] || { echo "$format on $ranks ranks: '$got', not '$expected'"; failed=1; }
  done
  export PETSC_OPTIONS="$plain -dll_append $SPARSEGPU_LIBRARY -mat_seqaij_type seqaijsparsegpu"
  got=$("$SPARSEGPU_MPIEXEC" -n $ranks "$program" -m 40 -n 30)
  [ "${got#*:}" = "${expected#*:}" ] || { echo "-mat_seqaij_type on $ranks ranks: '$got', not '$expected'"; failed=1; }
  export PETSC_OPTIONS="$plain"
done
help=$("$program" -m 4 -n 4 -dll_append "$SPARSEGPU_LIBRARY" -mat_type sparsegpu -help 2>&1)
for option in -mat_sparsegpu_format -sparsegpu_backend -mat_sparsegpu_merge_workers; do
  case $help in *$option*) ;; *) echo "-help does not list $option"; failed=1 ;; esac
done
if message=$("$program" -dll_append "$SPARSEGPU_LIBRARY" -mat_type sparsegpu -mat_sparsegpu_format nonsense 2>&1); then
  echo "An unknown format is no error"; failed=1
fi
case $message in *'"nonsense"'*sccsr*) ;; *) echo "An unknown format's message: $message"; failed=1 ;; esac
exit $failed
