/// Memory for the patterns of blocks, and which blocks fit each other.
#include "mat/products/block_rows.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

/// Are there products of such blocks, as the left or the right factor?
static bool AreMultiplied(PetscInt row_size, PetscInt column_size)
{
  for (const auto &size : BLOCK_SIZES)
    if ((size[0] == row_size && size[1] == column_size) || (size[1] == row_size && size[2] == column_size)) return true;
  return false;
}

PetscErrorCode BlockRows::Find(const SparseRows &rows, PetscInt row_size, PetscInt column_size)
{
  bool found = false;

  PetscFunctionBegin;
  view_ = BlockView();
  i_    = Array<PetscInt>();
  j_    = Array<PetscInt>();
  if (!AreMultiplied(row_size, column_size) || !rows.nonzeros) PetscFunctionReturn(PETSC_SUCCESS);
  if (rows.rows % row_size || rows.cols % column_size || rows.nonzeros % (row_size * column_size))
    PetscFunctionReturn(PETSC_SUCCESS);
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscCall(i_.Allocate(static_cast<size_t>(rows.rows / row_size) + 1, Space::Device));
  PetscCall(j_.Allocate(static_cast<size_t>(rows.nonzeros / (row_size * column_size)), Space::Device));
  PetscCall(FindFullBlocks_CUDA(rows, row_size, column_size, i_.data(), j_.data(), &found));
#endif
  if (found) {
    view_ = BlockView{row_size, column_size, i_.data(), j_.data()};
  } else {
    i_ = Array<PetscInt>();
    j_ = Array<PetscInt>();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool BlocksMultiply(const BlockView &A, const BlockView &B)
{
  if (!A.i || !B.i || A.column_size != B.row_size) return false;
  for (const auto &size : BLOCK_SIZES)
    if (size[0] == A.row_size && size[1] == A.column_size && size[2] == B.column_size) return true;
  return false;
}

/// Blocks as if they were entries, without values.
static SparseRows BlocksOf(const SparseRows &rows)
{
  const BlockView &b = rows.blocks;
  return SparseRows{rows.rows / b.row_size, rows.cols / b.column_size, rows.nonzeros / (b.row_size * b.column_size),
                    CsrArrays{b.i, b.j, nullptr}};
}

PetscErrorCode MultiplyBlockPattern(const SparseRows &A, const SparseRows &B, Pattern *blocks)
{
  const PetscCount entries = static_cast<PetscCount>(A.blocks.row_size) * B.blocks.column_size;

  PetscFunctionBegin;
  PetscCall(MultiplyPattern(Space::Device, BlocksOf(A), BlocksOf(B), blocks));
  blocks->place = Array<unsigned char>(); // of entries
  PetscCheck(static_cast<PetscCount>(blocks->j.size()) <= PETSC_MAX_INT / entries, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "The product has %zu blocks of %lld nonzeros, more nonzeros than %" PetscInt_FMT,
             blocks->j.size(), static_cast<long long>(entries), PETSC_MAX_INT);
  blocks->terms *= entries * A.blocks.column_size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

SparseRows RowsOfBlocks(const SparseRows &A, const SparseRows &B, const Pattern &blocks, const Scalar *values)
{
  const BlockView view{A.blocks.row_size, B.blocks.column_size, blocks.i.data(), blocks.j.data()};
  const PetscInt  count = static_cast<PetscInt>(blocks.j.size());
  return SparseRows{A.rows, B.cols, count * view.row_size * view.column_size, CsrArrays{nullptr, nullptr, values},
                    view};
}

PetscErrorCode ExpandBlocks(const SparseRows &rows, const Pattern &blocks, Pattern *entries)
{
  const BlockView &view = rows.blocks;

  PetscFunctionBegin;
  entries->longest = blocks.longest * view.column_size;
  entries->terms   = blocks.terms;
  PetscCall(entries->i.Allocate(static_cast<size_t>(rows.rows) + 1, Space::Device));
  PetscCall(entries->j.Allocate(static_cast<size_t>(rows.nonzeros), Space::Device));
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscCall(ExpandBlocks_CUDA(blocks, view.row_size, view.column_size, entries->i.data(), entries->j.data()));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultiplyBlocks(const SparseRows &A, const SparseRows &B, const BlockView &C, PetscInt longest, Scalar *c)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscCall(MultiplyBlocks_CUDA(A, B, C, longest, c));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  (void)A, (void)B, (void)C, (void)longest, (void)c;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Products by blocks run on a GPU alone");
#endif
}

} // namespace sparsegpu::products
