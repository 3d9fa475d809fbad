/// The halves of an incomplete Cholesky factorization on the host.
#include "pc/trisolve/halves.hpp"
#include <numeric>
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

PetscErrorCode NoRoot(PetscInt step)
{
  PetscFunctionBegin;
  SETERRQ(
      PETSC_COMM_SELF, PETSC_ERR_SUP,
      "Symmetric application needs pivots that are real and positive, and the one of elimination step %" PetscInt_FMT
      " is not",
      step);
}

PetscErrorCode HostHalf::Build(const FactorPattern &F, bool upper)
{
  std::vector<PetscInt> natural;

  PetscFunctionBegin;
  upper_  = upper;
  pattern = FactorPattern();
  from_.clear();
  pattern.rows    = F.rows;
  pattern.natural = F.natural;
  PetscCallCXX(natural.resize(F.rows));
  std::iota(natural.begin(), natural.end(), 0);
  PetscCallCXX(pattern.row = upper ? natural : F.row);
  PetscCallCXX(pattern.column = upper ? F.column : natural);
  PetscCallCXX(pattern.i.assign(1, 0));
  PetscCallCXX(pattern.diagonal.resize(F.rows));
  for (PetscInt r = 0; r < F.rows; r++) {
    const PetscInt begin = upper ? F.diagonal[r] : F.i[r], end = upper ? F.i[r + 1] : F.diagonal[r] + 1;
    pattern.diagonal[r] = static_cast<PetscInt>(pattern.j.size()) + F.diagonal[r] - begin;
    for (PetscInt e = begin; e < end; e++) {
      PetscCallCXX(pattern.j.push_back(F.j[e]));
      PetscCallCXX(from_.push_back(e));
    }
    PetscCallCXX(pattern.i.push_back(static_cast<PetscInt>(pattern.j.size())));
  }
  PetscCallCXX(values_.resize(pattern.j.size()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostHalf::SetValues(const Scalar *values)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < pattern.rows; r++) {
    PetscReal root;
    if (!RootOf(values[from_[pattern.diagonal[r]]], &root)) PetscCall(NoRoot(r));
    for (PetscInt e = pattern.i[r]; e < pattern.i[r + 1]; e++)
      values_[e] = upper_ ? values[from_[e]] * Scalar(root) : values[from_[e]];
    values_[pattern.diagonal[r]] = Scalar(root);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve
