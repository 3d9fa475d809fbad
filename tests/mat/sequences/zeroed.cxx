/// Operations that set rows, columns or all entries to zero.
#include "model.hpp"

namespace sequences
{

namespace
{
/// Rows on each rank that owns them, of which every `step`-th or so is drawn.
std::vector<PetscInt> DrawRows(const Facts &f, Draw &d)
{
  const PetscInt        step = 2 + d.Below(8);
  std::vector<PetscInt> rows;
  for (PetscInt i = 0; i < f.p.rows; ++i)
    if (d.OneIn(step) && f.Owns(i)) rows.push_back(i);
  return rows;
}

/// The vectors of a call that zeroes rows, or none: what becomes of b is the diagonal of the second matrix afterwards.
struct RightSide {
  Vec x = nullptr, b = nullptr;

  PetscErrorCode Make(Mat A, Draw &d)
  {
    PetscFunctionBeginUser;
    PetscCall(DrawVector(A, false, true, d, &x));
    PetscCall(DrawVector(A, true, false, d, &b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Keep(Side &s, const Facts &f)
  {
    Mat     D;
    Problem p = conformance::Banded("diagonal", f.p.rows, f.p.rows, {0});

    PetscFunctionBeginUser;
    if (!b) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Create(s.type.c_str(), f.LocalRows(), f.LocalRows(), 1, p, &D));
    PetscCall(MatDiagonalSet(D, b, INSERT_VALUES));
    PetscCall(Replace(s, SECOND, D));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

PetscErrorCode ZeroRows(Side &s, const Facts &f, Draw d, std::string *words)
{
  const bool                  keep = d.OneIn(2);
  const PetscScalar           diag = f.full_diagonal && d.OneIn(2) ? 2 : 0; // AIJ wants a place for it
  const std::vector<PetscInt> rows = DrawRows(f, d);
  RightSide                   side;

  PetscFunctionBeginUser;
  *words = std::string("MatZeroRows, ") + (keep ? "keeping the pattern" : "pattern not kept") +
           (diag != (PetscScalar)0 ? ", diagonal 2" : "");
  PetscCall(MatSetOption(s.slot[MAIN], MAT_KEEP_NONZERO_PATTERN, keep ? PETSC_TRUE : PETSC_FALSE));
  if (f.congruent && d.OneIn(2)) {
    *words += ", with a right-hand side";
    PetscCall(side.Make(s.slot[MAIN], d));
  }
  PetscCall(MatZeroRows(s.slot[MAIN], (PetscInt)rows.size(), rows.data(), diag, side.x, side.b));
  PetscCall(side.Keep(s, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ZeroRowsColumns(Side &s, const Facts &f, Draw d, std::string *words)
{
  const std::vector<PetscInt> rows = DrawRows(f, d);
  RightSide                   side;

  PetscFunctionBeginUser;
  *words = "MatZeroRowsColumns, diagonal 2";
  if (d.OneIn(2)) {
    *words += ", with a right-hand side";
    PetscCall(side.Make(s.slot[MAIN], d));
  }
  PetscCall(MatZeroRowsColumns(s.slot[MAIN], (PetscInt)rows.size(), rows.data(), 2, side.x, side.b));
  PetscCall(side.Keep(s, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ZeroEntries(Side &s, const Facts &, Draw, std::string *words)
{
  PetscFunctionBeginUser;
  *words = "MatZeroEntries";
  PetscCall(MatZeroEntries(s.slot[MAIN]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sequences
