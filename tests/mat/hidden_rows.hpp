/// Parallel matrices whose rows are away from the host, pattern and all, for pairs of hidden_pair.hpp: with -rows.
#pragma once

#include "hidden_pair.hpp"
#include "mat/face/fill_values.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_pattern.hpp"
#include "mat/face/pattern.hpp"
#include "mat/face/value_place.hpp"
#include "mat/rows/value_operations.hpp"

namespace testing
{

/// Where rows go away to: with -sparsegpu_test_away to a second array on the host.
inline sparsegpu::Space RowsElsewhere()
{
  PetscBool tests = PETSC_FALSE;

  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetBool(nullptr, nullptr, "-sparsegpu_test_away", &tests, nullptr));
  return tests ? sparsegpu::Space::Host : sparsegpu::Space::Device;
}

/// Does PETSc have neither pattern nor values of the blocks that have any?
inline PetscErrorCode CheckRowsHidden(Mat A, const std::string &what)
{
  Mat blocks[2];

  PetscFunctionBeginUser;
  PetscCall(sparsegpu::face::GetBlocks(A, blocks));
  for (int b = 0; b < 2; ++b) {
    sparsegpu::face::Context *context;
    MatInfo                   info;
    PetscCall(sparsegpu::face::GetContext(blocks[b], &context));
    PetscCall(MatGetInfo(blocks[b], MAT_LOCAL, &info));
    PetscCheck(info.nz_used == 0 || (context->rows.pattern_away() && context->rows.away()), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: the rows of the %s block are on the host", what.c_str(),
               b ? "off-diagonal" : "diagonal");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of A on this process, read one by one.
struct OwnRows {
  std::vector<PetscInt>          i{0}, j;
  std::vector<sparsegpu::Scalar> a;

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
      for (PetscInt e = 0; e < n; ++e) a.push_back(sparsegpu::face::there::Ours(value[e]));
      i.push_back((PetscInt)j.size());
      PetscCall(MatRestoreRow(A, r, &n, &column, &value));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// The values of block `which`, of rows with these.
inline PetscErrorCode FillAway(Mat block, const OwnRows &rows, PetscInt first, PetscInt end, int which,
                               sparsegpu::Space space)
{
  std::vector<sparsegpu::Scalar>      of_block;
  sparsegpu::Array<sparsegpu::Scalar> values;
  sparsegpu::face::Context           *context;
  sparsegpu::Scalar                  *a;

  PetscFunctionBeginUser;
  for (size_t e = 0; e < rows.j.size(); ++e)
    if ((rows.j[e] < first || rows.j[e] >= end) == (which == 1)) of_block.push_back(rows.a[e]);
  const size_t count = of_block.size();
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(values.Take(std::move(of_block), space));
  PetscCall(sparsegpu::face::GetContext(block, &context));
  PetscCall(context->rows.RoomForValues(block, space, &a));
  PetscCall(
      sparsegpu::rows::values::ForEach(space, (PetscCount)count, sparsegpu::rows::values::Copy{values.data(), a}));
  PetscCall(sparsegpu::face::ValuesWrittenThere(block, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *A becomes a matrix of its type with its rows, which are away.
inline PetscErrorCode HideRows(Mat *A)
{
  const sparsegpu::face::PatternsStayAway stay;
  const sparsegpu::Space                  space = RowsElsewhere();
  OwnRows                                 rows;
  sparsegpu::Array<PetscInt>              i, j;
  sparsegpu::face::BlockPatterns          patterns;
  sparsegpu::face::BlocksMayLeave         scope;
  PetscInt                                m, n, M, N, first, end;
  Mat                                     B, blocks[2];

  PetscFunctionBeginUser;
  PetscCall(rows.Read(*A));
  PetscCall(MatGetLocalSize(*A, &m, &n));
  PetscCall(MatGetSize(*A, &M, &N));
  PetscCall(MatGetOwnershipRangeColumn(*A, &first, &end));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)*A), &B));
  PetscCall(MatSetSizes(B, m, n, M, N));
  PetscCall(MatSetType(B, MATMPIAIJSPARSEGPU));
  PetscCall(sparsegpu::face::InheritSettings(*A, B));
  PetscCall(MatSparseGPUSetBackend(B, space == sparsegpu::Space::Device ? "cuda" : "kokkos"));
  PetscCall(i.Copy(rows.i.data(), rows.i.size(), space));
  PetscCall(j.Copy(rows.j.data(), rows.j.size(), space));
  PetscCall(sparsegpu::face::SplitPattern(space, i, j, first, end, N, &patterns));
  PetscCall(sparsegpu::face::TakePattern(B, std::move(patterns), space));
  PetscCall(scope.Begin(B));
  PetscCall(sparsegpu::face::GetBlocks(B, blocks));
  for (int b = 0; b < 2; ++b) PetscCall(FillAway(blocks[b], rows, first, end, b, space));
  PetscCall(scope.End());
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// To be called by each test: pairs hide their rows with -rows. *cannot: it has been skipped, as there is no GPU.
inline PetscErrorCode HideRowsIfAsked(bool *cannot)
{
  PetscBool rows = PETSC_FALSE, found = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-rows", &rows, nullptr));
  if (rows) hiding = Hiding{HideRows, CheckRowsHidden};
  if (rows && RowsElsewhere() == sparsegpu::Space::Device) PetscCall(sparsegpu::DeviceFound(&found));
  *cannot = !found;
  if (*cannot) PetscCall(Skip("there is no GPU"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
