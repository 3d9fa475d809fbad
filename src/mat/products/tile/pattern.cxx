/// Patterns of sums and products of tiles, on the host.
#include <algorithm>
#include "mat/products/tile/tile.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

static bool Bit(const Word64 *line, PetscInt k)
{
  return line[k / 64] >> (k % 64) & 1;
}
static void SetBit(Word64 *line, PetscInt k)
{
  line[k / 64] |= static_cast<Word64>(1) << (k % 64);
}

void TilePattern::Set(PetscInt t, PetscInt i, PetscInt j)
{
  SetBit(Line(t, by_columns ? j : i), by_columns ? i : j);
}

bool TilePattern::Has(PetscInt t, PetscInt i, PetscInt j) const
{
  return Bit(Line(t, by_columns ? j : i), by_columns ? i : j);
}

PetscErrorCode TilePattern::Add(PetscInt rows, PetscInt cols)
{
  const PetscInt first = Rows();
  const auto     word  = static_cast<PetscCount>(flags.size());

  PetscFunctionBegin;
  PetscCheck(rows >= 0 && cols >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A tile of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", rows, cols);
  PetscCheck(rows <= PETSC_MAX_INT - first, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Tiles of more than %" PetscInt_FMT " rows together", PETSC_MAX_INT);
  PetscCallCXX(shape.push_back(TileShape{rows, cols, first, 0, word, 0}));
  PetscCallCXX(flags.resize(flags.size() + Words(Count() - 1) * Lines(Count() - 1), 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The tiles of A, empty.
static PetscErrorCode Empty(const TilePattern &A, bool columns, TilePattern *B)
{
  PetscFunctionBegin;
  *B = TilePattern(columns);
  PetscCallCXX(B->shape.reserve(A.shape.size()));
  for (const TileShape &s : A.shape) PetscCall(B->Add(s.rows, s.cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TilePattern::Turn(bool columns, TilePattern *turned) const
{
  PetscFunctionBegin;
  if (columns == by_columns) {
    PetscCallCXX(*turned = *this);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Empty(*this, columns, turned));
  for (PetscInt t = 0; t < Count(); t++)
    for (PetscInt l = 0; l < Lines(t); l++)
      for (PetscInt k = 0; k < Length(t); k++)
        if (Bit(Line(t, l), k)) SetBit(turned->Line(t, k), l);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileFullPattern(const TilePattern &A, TilePattern *full)
{
  PetscFunctionBegin;
  PetscCall(Empty(A, true, full));
  for (PetscInt t = 0; t < A.Count(); t++)
    for (PetscInt l = 0; l < full->Lines(t); l++)
      for (PetscInt k = 0; k < full->Length(t); k++) SetBit(full->Line(t, l), k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As many tiles, lying the same way.
static PetscErrorCode CheckAlike(const TilePattern &A, const TilePattern &B)
{
  PetscFunctionBegin;
  PetscCheck(A.Count() == B.Count(), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Batches of %" PetscInt_FMT " and %" PetscInt_FMT " tiles", A.Count(), B.Count());
  PetscCheck(A.by_columns == B.by_columns, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "One batch lies by rows, the other by columns");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileSumPattern(const TilePattern &A, const TilePattern &B, TilePattern *C)
{
  PetscFunctionBegin;
  PetscCall(CheckAlike(A, B));
  for (PetscInt t = 0; t < A.Count(); t++)
    PetscCheck(A.shape[t].rows == B.shape[t].rows && A.shape[t].cols == B.shape[t].cols, PETSC_COMM_SELF,
               PETSC_ERR_ARG_SIZ,
               "Tile %" PetscInt_FMT ": %" PetscInt_FMT " x %" PetscInt_FMT " and %" PetscInt_FMT " x %" PetscInt_FMT
               " cannot be added",
               t, A.shape[t].rows, A.shape[t].cols, B.shape[t].rows, B.shape[t].cols);
  PetscCallCXX(*C = A);
  for (size_t w = 0; w < C->flags.size(); w++) C->flags[w] |= B.flags[w];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileProductPattern(const TilePattern &A, const TilePattern &B, TilePattern *C)
{
  PetscFunctionBegin;
  PetscCall(CheckAlike(A, B));
  *C = TilePattern(A.by_columns);
  for (PetscInt t = 0; t < A.Count(); t++) {
    PetscCheck(A.shape[t].cols == B.shape[t].rows, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "Tile %" PetscInt_FMT ": %" PetscInt_FMT " x %" PetscInt_FMT " and %" PetscInt_FMT " x %" PetscInt_FMT
               " cannot be multiplied",
               t, A.shape[t].rows, A.shape[t].cols, B.shape[t].rows, B.shape[t].cols);
    PetscCall(C->Add(A.shape[t].rows, B.shape[t].cols));
    // by rows: row l of C is the union of the rows of B that row l of A names; by columns: of those of A, by B's column
    const TilePattern &names = A.by_columns ? B : A, &lines = A.by_columns ? A : B;
    for (PetscInt l = 0; l < C->Lines(t); l++)
      for (PetscInt k = 0; k < names.Length(t); k++)
        for (size_t w = 0; w < C->Words(t) && Bit(names.Line(t, l), k); w++) C->Line(t, l)[w] |= lines.Line(t, k)[w];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileFactorPattern(const TilePattern &A, TilePattern *LU)
{
  TilePattern rows;

  PetscFunctionBegin;
  PetscCall(A.Turn(false, &rows));
  for (PetscInt t = 0; t < A.Count(); t++) {
    const PetscInt n = A.shape[t].rows;
    PetscCheck(n == A.shape[t].cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "Tile %" PetscInt_FMT " of %" PetscInt_FMT " x %" PetscInt_FMT " is not square", t, n, A.shape[t].cols);
    for (PetscInt k = 0; k < n; k++) {
      const Word64 *pivot = rows.Line(t, k);
      SetBit(rows.Line(t, k), k);
      for (PetscInt i = k + 1; i < n; i++) {
        Word64 *row = rows.Line(t, i);
        if (!Bit(row, k)) continue;
        row[k / 64] |= pivot[k / 64] & ~((static_cast<Word64>(2) << (k % 64)) - 1); // what lies right of the diagonal
        for (size_t w = static_cast<size_t>(k / 64) + 1; w < rows.Words(t); w++) row[w] |= pivot[w];
      }
    }
  }
  PetscCall(rows.Turn(true, LU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
