/// Right-hand sides and solutions in dense matrices.
#pragma once

#include "against_petsc.hpp"

namespace testing
{

/// The types of dense matrices that can be used here: on the host always.
inline std::vector<std::string> DenseTypes()
{
  std::vector<std::string> types(1, MATDENSE);
#if defined(PETSC_HAVE_CUDA)
  PetscBool device;
  PetscCallAbort(PETSC_COMM_SELF, SparseGPUHasDevice(&device));
  if (device) types.push_back(MATDENSECUDA);
#endif
  return types;
}

/// Right-hand sides of a matrix that others own, and guesses.
struct Columns {
  Mat         A = nullptr, B = nullptr, X = nullptr; ///< X: the guesses, and the solutions
  PetscInt    count = 0;
  std::string type;
  bool        guessed  = false;
  bool        on_host  = true;
  bool        expected = true; ///< columns of such a type are solved together where the preconditioner is a diagonal

  Columns()                           = default;
  Columns(const Columns &)            = delete;
  Columns &operator=(const Columns &) = delete;
  ~Columns()
  {
    PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&B));
    PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&X));
  }

  /// Whether such columns are solved together with this preconditioner, and options of it.
  bool Serves(const std::string &pc) const
  {
    const std::string type  = pc.substr(0, pc.find(' '));
    bool              there = false; // where columns are on the device
    for (const char *one : {"none", "jacobi", "sparsegpu", "ilu", "icc", "lu", "cholesky", "sor", "pbjacobi"})
      there = there || type == one;
    return expected && (on_host || there);
  }
  /// Whether columns of every type here are.
  static bool Everywhere(const std::string &pc)
  {
    return DenseTypes().size() == 1 || (PetscGlobalSize == 1 && (pc == "none" || pc == "jacobi"));
  }
  PetscErrorCode Create(Mat matrix, PetscInt columns, const std::string &dense)
  {
    PetscInt rows, all;

    PetscFunctionBeginUser;
    A       = matrix;
    count   = columns;
    type    = dense;
    on_host = dense == MATDENSE;
    if (!on_host && PetscGlobalSize > 1) expected = false;
    PetscCall(MatGetLocalSize(A, &rows, nullptr));
    PetscCall(MatGetSize(A, &all, nullptr));
    for (Mat *M : {&B, &X}) {
      PetscCall(MatCreate(PETSC_COMM_WORLD, M));
      PetscCall(MatSetSizes(*M, rows, PETSC_DECIDE, all, count));
      PetscCall(MatSetType(*M, type.c_str()));
      PetscCall(MatSetUp(*M));
      PetscCall(MatZeroEntries(*M));
      PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Right-hand side c from `values` [all rows].
  PetscErrorCode Set(PetscInt c, const std::vector<PetscScalar> &values)
  {
    Vec b;

    PetscFunctionBeginUser;
    PetscCall(MatDenseGetColumnVecWrite(B, c, &b));
    PetscCall(SetVector(b, values));
    PetscCall(MatDenseRestoreColumnVecWrite(B, c, &b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// All of full mantissa.
  PetscErrorCode Fill(int seed = 0)
  {
    PetscInt rows;

    PetscFunctionBeginUser;
    PetscCall(MatGetSize(A, &rows, nullptr));
    for (PetscInt c = 0; c < count; ++c)
      PetscCall(Set(c, Input(rows, (unsigned long long)(7919 * (c + 1) + 31 * seed), Poison::None)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Scale(PetscInt c, PetscReal factor)
  {
    Vec b;

    PetscFunctionBeginUser;
    PetscCall(MatDenseGetColumnVec(B, c, &b));
    PetscCall(VecScale(b, factor));
    PetscCall(MatDenseRestoreColumnVec(B, c, &b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Solves begin with vectors of `value` from now on.
  PetscErrorCode Guess(PetscScalar value)
  {
    PetscFunctionBeginUser;
    guessed = true;
    for (PetscInt c = 0; c < count; ++c) {
      Vec x;
      PetscCall(MatDenseGetColumnVecWrite(X, c, &x));
      PetscCall(VecSet(x, value));
      PetscCall(MatDenseRestoreColumnVecWrite(X, c, &x));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode NoGuess()
  {
    PetscFunctionBeginUser;
    guessed = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

} // namespace testing
