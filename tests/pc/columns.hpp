/// Several right-hand sides as dense matrices, and back.
#pragma once

#include "../family.hpp"

namespace testing
{

using Columns = std::vector<std::vector<PetscScalar>>;

/// Where dense matrices may be.
inline PetscErrorCode DenseTypes(std::vector<const char *> *dense)
{
  std::vector<std::string> types;

  PetscFunctionBeginUser;
  *dense = {MATSEQDENSE};
  PetscCall(VectorTypes(&types));
#if defined(PETSC_HAVE_CUDA)
  if (std::find(types.begin(), types.end(), VECCUDA) != types.end()) dense->push_back(MATSEQDENSECUDA);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Columns that lie `gap` entries apart from each other.
inline PetscErrorCode CreateDense(PetscInt rows, PetscInt columns, PetscInt gap, const char type[], Mat *M)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, M));
  PetscCall(MatSetSizes(*M, rows, columns, rows, columns));
  PetscCall(MatSetType(*M, type));
  PetscCall(MatDenseSetLDA(*M, rows + gap));
  PetscCall(MatSetUp(*M));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode DenseOf(const Columns &columns, PetscInt rows, const char type[], Mat *B)
{
  PetscScalar *to;

  PetscFunctionBeginUser;
  PetscCall(CreateDense(rows, (PetscInt)columns.size(), 3, type, B));
  PetscCall(MatDenseGetArrayWrite(*B, &to));
  for (size_t c = 0; c < columns.size(); ++c)
    std::copy(columns[c].begin(), columns[c].end(), to + c * (size_t)(rows + 3));
  PetscCall(MatDenseRestoreArrayWrite(*B, &to));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode ColumnsOf(Mat X, Columns *columns)
{
  const PetscScalar *from;
  PetscInt           rows, count, ld;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(X, &rows, &count));
  PetscCall(MatDenseGetLDA(X, &ld));
  PetscCall(MatDenseGetArrayRead(X, &from));
  columns->clear();
  for (PetscInt c = 0; c < count; ++c) columns->emplace_back(from + c * ld, from + c * ld + rows);
  PetscCall(MatDenseRestoreArrayRead(X, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a right-hand side has of Input(), and at one place NaN or an infinity.
enum class Kind {
  Plain,
  Zero,
  Large,
  Small,
  NaN,
  Infinite
};
inline std::vector<PetscScalar> Column(PetscInt rows, PetscInt seed, Kind kind)
{
  const PetscReal large = std::sqrt(PETSC_MAX_REAL);
  const PetscReal scale = kind == Kind::Zero ? 0 : kind == Kind::Large ? large : kind == Kind::Small ? 1 / large : 1;
  std::vector<PetscScalar> b = Input(rows, seed, Poison::None);
  for (PetscScalar &v : b) v *= scale;
  if (rows > 0 && kind == Kind::NaN) b[(size_t)rows / 2] = std::numeric_limits<PetscReal>::quiet_NaN();
  if (rows > 0 && kind == Kind::Infinite) b[(size_t)rows / 3] = std::numeric_limits<PetscReal>::infinity();
  return b;
}

} // namespace testing
