/// The patterns of L^2 and U^2 as one.
#include "mat/products/multiply.hpp"
#include "pc/trisolve/isai.hpp"
#include "pc/trisolve/isai_rows.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

/// The pattern of the half as rows of their own, in the space of F.
static PetscErrorCode TakeHalf(const OneHalf &half, Space space, Array<PetscInt> *i, Array<PetscInt> *j)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    PetscCall(CopyHalf_CUDA(half, i, j));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(i->Allocate(static_cast<size_t>(half.F.rows) + 1, space));
  for (PetscInt r = 0; r < half.F.rows; r++) i->data()[r + 1] = i->data()[r] + half.Length(r);
  PetscCall(j->Allocate(i->data()[half.F.rows], space));
  const CopyHalf copy{half, i->data(), j->data()};
  for (PetscInt r = 0; r < half.F.rows; r++) copy(r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode InversePattern::Build(const FactorView &F, Space space)
{
  products::Pattern square[2];

  PetscFunctionBegin;
  for (const bool upper : {false, true}) {
    Array<PetscInt> half_i, half_j;
    SparseRows      rows;
    PetscCall(TakeHalf(OneHalf{F, upper}, space, &half_i, &half_j));
    rows.rows = rows.cols = F.rows;
    rows.nonzeros         = static_cast<PetscInt>(half_j.size());
    rows.arrays.i         = half_i.data();
    rows.arrays.j         = half_j.data();
    PetscCall(MultiplyPattern(space, rows, rows, &square[upper]));
  }
  const size_t nonzeros = square[0].j.size() + square[1].j.size() - static_cast<size_t>(F.rows);
  PetscCheck(nonzeros <= static_cast<size_t>(PETSC_MAX_INT), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%.0f entries of the approximate inverses are too many for PetscInt", static_cast<double>(nonzeros));
  PetscCall(i.Allocate(static_cast<size_t>(F.rows) + 1, space));
  PetscCall(j.Allocate(nonzeros, space));
  PetscCall(diagonal.Allocate(F.rows, space));
  const JoinHalves join{F.rows,   square[0].i.data(), square[0].j.data(), square[1].i.data(), square[1].j.data(),
                        i.data(), j.data(),           diagonal.data()};
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    PetscCall(JoinHalves_CUDA(join)); // waits: the squares end here
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscInt r = 0; r <= F.rows; r++) join(r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

FactorView InversePattern::View(const FactorView &F) const
{
  return FactorView{
      F.rows, static_cast<PetscInt>(j.size()), i.data(), j.data(), diagonal.data(), F.row, F.column, F.lower_diagonal};
}

} // namespace sparsegpu::trisolve
