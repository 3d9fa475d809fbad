/// Operations that change values, and by way of options or missing diagonal entries sometimes the pattern.
#include "model.hpp"

#include <petsc/private/petscimpl.h>

namespace sequences
{

namespace
{
bool Always(const Side &, const Facts &)
{
  return true;
}
/// In parallel PETSc decides rank by rank whether entries are missing, and then waits for all to assemble.
bool CanSetDiagonal(const Side &, const Facts &f)
{
  return f.full_diagonal || (f.congruent && f.size == 1);
}

/// Some of the entries that are there. With ADD_VALUES another rank than the owner may be the one that adds.
PetscErrorCode SetValues(Side &s, const Facts &f, Draw d, std::string *words)
{
  const InsertMode mode  = d.OneIn(2) ? INSERT_VALUES : ADD_VALUES;
  const PetscInt   every = 1 + d.Below(4);
  const bool       away  = mode == ADD_VALUES && d.OneIn(2);

  PetscFunctionBeginUser;
  *words = std::string("MatSetValues in the pattern, ") + (mode == ADD_VALUES ? "ADD_VALUES" : "INSERT_VALUES") +
           (away ? ", some in other ranks' rows" : "");
  // A conversion from dense leaves the promise behind that there are none.
  PetscCall(MatSetOption(s.slot[MAIN], MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE));
  for (PetscInt i = 0; i < f.p.rows; ++i)
    for (PetscInt j : f.row[(size_t)i]) {
      const PetscScalar v     = d.Value();
      const bool        set   = d.OneIn(every);
      const PetscMPIInt actor = (f.Owner(i) + (away && d.OneIn(3))) % f.size;
      if (set && actor == f.rank) PetscCall(MatSetValue(s.slot[MAIN], i, j, v, mode));
    }
  PetscCall(MatAssemblyBegin(s.slot[MAIN], MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s.slot[MAIN], MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NewNonzeros(Side &s, const Facts &f, Draw d, std::string *words)
{
  const PetscInt count = 1 + d.Below(d.OneIn(2) ? 3 : f.p.rows);

  PetscFunctionBeginUser;
  *words = "MatSetValues of " + std::to_string(count) + " new nonzeros";
  PetscCall(AllowNewNonzeros(s.slot[MAIN]));
  for (PetscInt k = 0; k < count && f.p.cols > 0; ++k) {
    const PetscInt    i = d.Below(f.p.rows), j = d.Below(f.p.cols);
    const PetscScalar v = d.Value();
    if (f.Owns(i)) PetscCall(MatSetValue(s.slot[MAIN], i, j, v, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(s.slot[MAIN], MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s.slot[MAIN], MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Scale(Side &s, const Facts &, Draw d, std::string *words)
{
  const PetscScalar factor = d.Power();

  PetscFunctionBeginUser;
  *words = "MatScale by " + std::to_string((double)PetscRealPart(factor));
  PetscCall(MatScale(s.slot[MAIN], factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the diagonal lacks entries AIJ rebuilds its rows, without the zeros under MAT_IGNORE_ZERO_ENTRIES.
/// Before 3.21 PETSc does so only until its own first MatShift() of the matrix, which notes a full diagonal for good,
/// whatever pattern comes later; a shift where the values are away is not AIJ's and notes nothing.
PetscErrorCode Shift(Side &s, const Facts &f, Draw d, std::string *words)
{
  PetscFunctionBeginUser;
  *words = "MatShift";
  if (PETSC_VERSION_LT(3, 21, 0) && !f.full_diagonal)
    PetscCall(MatSetOption(s.slot[MAIN], MAT_IGNORE_ZERO_ENTRIES, PETSC_FALSE));
  PetscCall(AllowNewNonzeros(s.slot[MAIN]));
  PetscCall(MatShift(s.slot[MAIN], d.Value()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiagonalSet(Side &s, const Facts &, Draw d, std::string *words)
{
  const InsertMode mode = d.OneIn(2) ? INSERT_VALUES : ADD_VALUES;
  Vec              v;

  PetscFunctionBeginUser;
  *words = std::string("MatDiagonalSet, ") + (mode == ADD_VALUES ? "ADD_VALUES" : "INSERT_VALUES");
  PetscCall(AllowNewNonzeros(s.slot[MAIN]));
  PetscCall(DrawVector(s.slot[MAIN], true, false, d, &v));
  PetscCall(MatDiagonalSet(s.slot[MAIN], v, mode));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DiagonalScale(Side &s, const Facts &, Draw d, std::string *words)
{
  const PetscInt which = d.Below(3);
  Vec            left = nullptr, right = nullptr;

  PetscFunctionBeginUser;
  *words = std::string("MatDiagonalScale, ") + (which == 0 ? "left" : which == 1 ? "right" : "both sides");
  if (which != 1) PetscCall(DrawVector(s.slot[MAIN], true, true, d, &left));
  if (which != 0) PetscCall(DrawVector(s.slot[MAIN], false, true, d, &right));
  PetscCall(MatDiagonalScale(s.slot[MAIN], left, right));
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Parts(Side &s, const Facts &, Draw d, std::string *words)
{
  const PetscInt which = d.Below(5);

  PetscFunctionBeginUser;
  *words = which <= 2 ? "MatConjugate" : which == 3 ? "MatRealPart" : "MatImaginaryPart";
  PetscCall(which <= 2 ? MatConjugate(s.slot[MAIN])
                       : (which == 3 ? MatRealPart(s.slot[MAIN]) : MatImaginaryPart(s.slot[MAIN])));
  PetscCall(PetscObjectStateIncrease((PetscObject)s.slot[MAIN])); // PETSc's parallel parts leave it: see Retrieve()
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The arrays of the blocks, changed or overwritten.
PetscErrorCode Arrays(Side &s, const Facts &f, Draw d, std::string *words)
{
  const bool               write  = d.OneIn(2);
  const PetscInt           which  = d.Below(3); // one block, the other, both
  const PetscReal          factor = d.OneIn(2) ? -1 : 0.5;
  const unsigned long long seed   = d.Next();
  Mat                      blocks[2];

  PetscFunctionBeginUser;
  *words =
      std::string(write ? "MatSeqAIJGetArrayWrite" : "MatSeqAIJGetArray") + (which == 0   ? " of the diagonal block"
                                                                             : which == 1 ? " of the off-diagonal block"
                                                                                          : " of all blocks");
  PetscCall(Blocks(s.slot[MAIN], blocks));
  for (int b = 0; b < 2; ++b) {
    if (!blocks[b] || (f.size > 1 && which == 1 - b)) continue;
    Draw         own(seed, (unsigned long long)(2 * f.rank + b)); // entries are the rank's own
    MatInfo      info;
    PetscScalar *a;
    PetscCall(MatGetInfo(blocks[b], MAT_LOCAL, &info));
    PetscCall(write ? MatSeqAIJGetArrayWrite(blocks[b], &a) : MatSeqAIJGetArray(blocks[b], &a));
    for (PetscInt k = 0; k < (PetscInt)info.nz_used; ++k) a[k] = write ? own.Value() : a[k] * factor;
    PetscCall(write ? MatSeqAIJRestoreArrayWrite(blocks[b], &a) : MatSeqAIJRestoreArray(blocks[b], &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Random(Side &s, const Facts &, Draw d, std::string *words)
{
  PetscRandom random;

  PetscFunctionBeginUser;
  *words = "MatSetRandom";
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetType(random, PETSCRAND48));
  PetscCall(PetscRandomSetSeed(random, (unsigned long)d.Below(1000000)));
  PetscCall(PetscRandomSeed(random));
  PetscCall(MatSetRandom(s.slot[MAIN], random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Store(Side &s, const Facts &, Draw, std::string *words)
{
  PetscFunctionBeginUser;
  *words = "MatStoreValues";
  PetscCall(MatSetOption(s.slot[MAIN], MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(s.slot[MAIN]));
  s.stored = s.version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc changes the values and not the object state, by which MatTranspose() with MAT_REUSE_MATRIX then takes the
/// transpose that it made before for the new one: plain AIJ is helped here, ours must tell by itself.
PetscErrorCode Retrieve(Side &s, const Facts &, Draw, std::string *words)
{
  PetscFunctionBeginUser;
  *words = "MatRetrieveValues";
  PetscCall(MatSetOption(s.slot[MAIN], MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatRetrieveValues(s.slot[MAIN]));
  if (!s.ours) PetscCall(PetscObjectStateIncrease((PetscObject)s.slot[MAIN]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Assembly(Side &s, const Facts &, Draw, std::string *words)
{
  PetscFunctionBeginUser;
  *words = "MatAssemblyBegin and MatAssemblyEnd alone";
  PetscCall(MatAssemblyBegin(s.slot[MAIN], MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s.slot[MAIN], MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetOptions(Side &s, const Facts &, Draw d, std::string *words)
{
  static const MatOption options[] = {MAT_USE_INODES, MAT_KEEP_NONZERO_PATTERN, MAT_IGNORE_ZERO_ENTRIES,
                                      MAT_NEW_NONZERO_LOCATIONS};
  const MatOption        option    = options[d.Below(4)];
  // Inodes cannot come back: an assembled matrix would lack them, which PETSc's product calls an error.
  const PetscBool flag = d.OneIn(2) && option != MAT_USE_INODES ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  *words = std::string("MatSetOption ") + MatOptions[option] + (flag ? " true" : " false");
  PetscCall(MatSetOption(s.slot[MAIN], option, flag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Ours have a function of their own for what MatFilter() does on the host.
PetscErrorCode Filter(Side &s, const Facts &, Draw d, std::string *words)
{
  const PetscBool keep = d.OneIn(2) ? PETSC_TRUE : PETSC_FALSE, compress = d.OneIn(2) ? PETSC_TRUE : PETSC_FALSE;
  const bool      zeros = d.OneIn(2), own = d.OneIn(2);
  const PetscReal tolerance = (PetscReal)0.7501; // no value: MatChop() asks for less, the others for at most
  PetscBool       ours;

  PetscFunctionBeginUser;
  PetscCall(IsOurs(s.slot[MAIN], &ours));
#if PETSC_VERSION_LT(3, 20, 0)
  (void)keep, (void)compress, (void)zeros;
  *words = own ? "MatChop or MatSparseGPUFilter" : "MatChop";
  PetscCall(own && ours ? MatSparseGPUFilter(s.slot[MAIN], tolerance, PETSC_FALSE, PETSC_FALSE)
                        : MatChop(s.slot[MAIN], tolerance));
#else
  if (zeros) {
    *words = "MatEliminateZeros";
    PetscCall(MatEliminateZeros(s.slot[MAIN], keep));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *words = std::string(own ? "MatFilter or MatSparseGPUFilter" : "MatFilter") + (compress ? ", compressing" : "");
  PetscCall(own && ours ? MatSparseGPUFilter(s.slot[MAIN], tolerance, compress, keep)
                        : MatFilter(s.slot[MAIN], tolerance, compress, keep));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

const std::vector<Operation> &ValueOperations()
{
  static const std::vector<Operation> operations = {
      {"set_values", 4, false, Always, SetValues},
      {"new_nonzeros", 3, true, CanGrow, NewNonzeros},
      {"zero_rows", 2, true, Always, ZeroRows},
      {"zero_rows_columns", 1, true, [](const Side &, const Facts &f) { return f.full_diagonal; }, ZeroRowsColumns},
      {"zero_entries", 1, false, Always, ZeroEntries},
      {"scale", 4, false, Always, Scale},
      {"shift", 2, true, CanSetDiagonal, Shift},
      {"diagonal_set", 2, true, CanSetDiagonal, DiagonalSet},
      {"diagonal_scale", 3, false, Always, DiagonalScale},
      {"parts", 1, false, Always, Parts},
      {"arrays", 3, false, Always, Arrays},
      {"random", 1, false, Always, Random},
      // PETSc keeps the array of the first time, however many nonzeros there are later
      {"store", 3, false, [](const Side &s, const Facts &) { return s.stored == -1 || s.stored == s.version; }, Store},
      {"retrieve", 4, false, [](const Side &s, const Facts &) { return s.stored == s.version; }, Retrieve},
      {"assembly", 1, false, Always, Assembly},
      {"options", 1, false, Always, SetOptions},
      {"filter", 2, true, Always, Filter},
  };
  return operations;
}

} // namespace sequences
