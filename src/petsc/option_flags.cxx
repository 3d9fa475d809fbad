/// Finds the flags of options: the one byte of a matrix's data that the option changes, to 1 and back.
#include "petsc/option_flags.hpp"
#include <petsc/private/matimpl.h>
#include <cstring>
#include "petsc/compat.hpp"

namespace sparsegpu
{

namespace
{
constexpr size_t BYTES =
    128; ///< of the data that are looked at: less than the least that stands in front of the values

/// The first bytes of the data after the option has been set.
PetscErrorCode Snapshot(Mat A, MatOption option, PetscBool value, unsigned char bytes[])
{
  PetscFunctionBegin;
  PetscCall(MatSetOption(A, option, value));
  memcpy(bytes, A->data, BYTES);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *place: the byte of the data of a matrix of this type that is the flag; -1: not found.
PetscErrorCode Find(MatType type, MatOption option, int *place)
{
  Mat           A;
  unsigned char off[BYTES], on[BYTES], again[BYTES];
  int           differ = 0;

  PetscFunctionBegin;
  *place = -1;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, 3, 3, 3, 3));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSeqAIJSetPreallocation(A, 1, nullptr)); // the options of a parallel matrix are its blocks', too
  PetscCall(MatMPIAIJSetPreallocation(A, 1, nullptr, 0, nullptr));
  PetscCall(Snapshot(A, option, PETSC_FALSE, off));
  PetscCall(Snapshot(A, option, PETSC_TRUE, on));
  PetscCall(Snapshot(A, option, PETSC_FALSE, again));
  for (size_t k = 0; k < BYTES; k++) {
    if (off[k] == on[k] && off[k] == again[k]) continue;
    differ++;
    if (off[k] == 0 && on[k] == 1 && again[k] == 0) *place = static_cast<int>(k);
  }
  if (differ != 1) *place = -1;
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KeepsPattern(Mat A, bool *keeps)
{
  static int place = -2; // not looked for

  PetscFunctionBegin;
  if (place == -2) PetscCall(Find(MATSEQAIJ, MAT_KEEP_NONZERO_PATTERN, &place));
  *keeps = place >= 0 && static_cast<const unsigned char *>(A->data)[place] == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IgnoresOthersRows(Mat A, bool *ignores, bool *known)
{
  static int place = -2; // not looked for

  PetscFunctionBegin;
  if (place == -2) PetscCall(Find(MATMPIAIJ, MAT_IGNORE_OFF_PROC_ENTRIES, &place));
  *known   = place >= 0;
  *ignores = *known && static_cast<const unsigned char *>(A->data)[place] == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
