/// Subdomains on the host, each by one thread.
#include <algorithm>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "pc/subdomains/solve.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::subdomains
{

PetscErrorCode HostSubdomains::Analyse(const FactorView &factors, Stream)
{
  std::vector<PetscInt> level;

  PetscFunctionBegin;
  factors_ = factors;
  PetscCallCXX(unknowns_.resize(factors.rows));
  PetscCallCXX(level.assign(factors.rows, 0));
  lower_levels = upper_levels = factors.rows ? 1 : 0;
  for (PetscInt r = 0; r < factors.rows; r++) {
    for (PetscInt e = factors.i[r]; e < factors.diagonal[r]; e++)
      level[r] = std::max(level[r], level[factors.j[e]] + 1);
    lower_levels = std::max(lower_levels, level[r] + 1);
  }
  std::fill(level.begin(), level.end(), 0);
  for (PetscInt r = factors.rows - 1; r >= 0; r--) {
    for (PetscInt e = factors.diagonal[r] + 1; e < factors.i[r + 1]; e++)
      level[r] = std::max(level[r], level[factors.j[e]] + 1);
    upper_levels = std::max(upper_levels, level[r] + 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostSubdomains::SetValues(const Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(values_.Set(values, factors_.nonzeros, options.single, Space::Host, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostSubdomains::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream)
{
  const FactorView F     = factors_;
  const PetscInt  *begin = begin_.data(), subdomains = static_cast<PetscInt>(begin_.size()) - 1;
  Scalar          *w = unknowns_.data();

  PetscFunctionBegin;
  PetscCall(KokkosStart());
  PetscCall(values_.With([&](const auto &a) -> PetscErrorCode {
    PetscFunctionBegin;
    for (PetscInt c = 0; c < count; c++, b += ldb, x += ldx) {
      const auto solve = [=](const PetscInt s) {
        for (PetscInt r = begin[s]; r < begin[s + 1]; r++) {
          Scalar sum = b[F.row[r]];
          for (PetscInt e = F.i[r]; e < F.diagonal[r]; e++) sum = sum - a[e] * w[F.j[e]];
          w[r] = F.lower_diagonal ? sum * a[F.diagonal[r]] : sum;
        }
        for (PetscInt r = begin[s + 1] - 1; r >= begin[s]; r--) {
          Scalar sum = w[r];
          for (PetscInt e = F.i[r + 1] - 1; e > F.diagonal[r]; e--) sum = sum - a[e] * w[F.j[e]];
          w[r]           = F.lower_diagonal ? sum : sum * a[F.diagonal[r]];
          x[F.column[r]] = w[r];
        }
      };
      PetscCallCXX(Kokkos::parallel_for(
          "Subdomains",
          Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>(0, subdomains), solve));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::subdomains
