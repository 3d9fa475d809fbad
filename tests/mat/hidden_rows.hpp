/// Parallel matrices whose rows are away from the host, pattern and all, for pairs of hidden_pair.hpp: with -rows.
#pragma once

#include "away.hpp"
#include "hidden_pair.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_pattern.hpp"

namespace testing
{

/// Does PETSc have neither pattern nor values of the blocks that have any?
inline PetscErrorCode CheckRowsHidden(Mat A, const std::string &what)
{
  Mat blocks[2];

  PetscFunctionBeginUser;
  PetscCall(face::GetBlocks(A, blocks));
  for (int b = 0; b < 2; ++b) {
    face::Context *context;
    MatInfo        info;
    PetscCall(face::GetContext(blocks[b], &context));
    PetscCall(MatGetInfo(blocks[b], MAT_LOCAL, &info));
    PetscCheck(info.nz_used == 0 || (context->rows.pattern_away() && context->rows.away()), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: the rows of the %s block are on the host", what.c_str(),
               b ? "off-diagonal" : "diagonal");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of A on this process, read one by one.
struct OwnRows {
  std::vector<PetscInt> i{0}, j;
  std::vector<Scalar>   a;

  PetscErrorCode Read(Mat A)
  {
    PetscInt begin, end;

    PetscFunctionBeginUser;
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    for (PetscInt r = begin; r < end; ++r) {
      PetscInt           n;
      const PetscInt    *column;
      const PetscScalar *value;
      PetscCall(MatGetRow(A, r, &n, &column, &value));
      j.insert(j.end(), column, column + n);
      for (PetscInt e = 0; e < n; ++e) a.push_back(face::there::Ours(value[e]));
      i.push_back((PetscInt)j.size());
      PetscCall(MatRestoreRow(A, r, &n, &column, &value));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// The values of block `which`, of rows with these.
inline PetscErrorCode FillAway(Mat block, const OwnRows &rows, PetscInt first, PetscInt end, int which, Space space)
{
  std::vector<Scalar> of_block;
  Array<Scalar>       values;
  face::Context      *context;
  Scalar             *a;

  PetscFunctionBeginUser;
  for (size_t e = 0; e < rows.j.size(); ++e)
    if ((rows.j[e] < first || rows.j[e] >= end) == (which == 1)) of_block.push_back(rows.a[e]);
  const size_t count = of_block.size();
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(values.Take(std::move(of_block), space));
  PetscCall(face::GetContext(block, &context));
  PetscCall(context->rows.RoomForValues(block, space, &a));
  PetscCall(rows::values::ForEach(space, (PetscCount)count, rows::values::Copy{values.data(), a}));
  PetscCall(face::ValuesWrittenThere(block, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *A becomes a matrix of its type with its rows, which are away.
inline PetscErrorCode HideRows(Mat *A)
{
  const face::PatternsStayAway stay;
  const Space                  space = Elsewhere();
  OwnRows                      rows;
  Array<PetscInt>              i, j;
  face::BlockPatterns          patterns;
  face::BlocksMayLeave         scope;
  PetscInt                     m, n, M, N, first, end;
  Mat                          B, blocks[2];

  PetscFunctionBeginUser;
  PetscCall(rows.Read(*A));
  PetscCall(MatGetLocalSize(*A, &m, &n));
  PetscCall(MatGetSize(*A, &M, &N));
  PetscCall(MatGetOwnershipRangeColumn(*A, &first, &end));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)*A), &B));
  PetscCall(MatSetSizes(B, m, n, M, N));
  PetscCall(MatSetType(B, MATMPIAIJSPARSEGPU));
  PetscCall(face::InheritSettings(*A, B));
  PetscCall(MatSparseGPUSetBackend(B, space == Space::Device ? "cuda" : "kokkos"));
  PetscCall(i.Copy(rows.i.data(), rows.i.size(), space));
  PetscCall(j.Copy(rows.j.data(), rows.j.size(), space));
  PetscCall(face::SplitPattern(space, i, j, first, end, &patterns));
  PetscCall(face::TakePattern(B, std::move(patterns), space));
  PetscCall(scope.Begin(B));
  PetscCall(face::GetBlocks(B, blocks));
  for (int b = 0; b < 2; ++b) PetscCall(FillAway(blocks[b], rows, first, end, b, space));
  PetscCall(scope.End());
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// To be called by each test: pairs hide their rows with -rows. *cannot: it has been skipped, as there is no GPU.
inline PetscErrorCode HideRowsIfAsked(bool *cannot)
{
  PetscBool rows = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-rows", &rows, nullptr));
  if (rows) hiding = Hiding{HideRows, CheckRowsHidden};
  *cannot = false;
  if (rows && Elsewhere() == Space::Device) PetscCall(NoDevice(cannot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
