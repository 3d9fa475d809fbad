/// Cycles of a matching.
#include "pc/lu/pairing.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

PetscErrorCode PairUnknowns(const CsrView &A, const Matching &matching, Pairing *pairing)
{
  const PetscInt         n = A.rows;
  std::vector<PetscReal> diagonal;
  std::vector<PetscInt>  cycle;
  std::vector<char>      seen;

  PetscFunctionBegin;
  PetscCallCXX(pairing->partner.resize(n));
  PetscCallCXX(pairing->scale.resize(n));
  PetscCallCXX(diagonal.assign(n, 0));
  PetscCallCXX(seen.assign(n, 0));
  std::iota(pairing->partner.begin(), pairing->partner.end(), 0);
  for (PetscInt k = 0; k < n; k++) {
    const int power   = std::ilogb(matching.row_scale[k]) + std::ilogb(matching.column_scale[k]);
    pairing->scale[k] = static_cast<PetscReal>(std::ldexp(1.0, power >= 0 ? power / 2 : -((1 - power) / 2)));
    for (PetscInt e = A.i[k]; e < A.i[k + 1]; e++)
      if (A.j[e] == k) diagonal[k] = pairing->scale[k] * pairing->scale[k] * Magnitude(A.a[e]);
  }
  for (PetscInt start = 0; start < n; start++) {
    if (seen[start]) continue;
    cycle.clear();
    for (PetscInt k = start; !seen[k]; k = matching.row[k]) {
      seen[k] = 1;
      PetscCallCXX(cycle.push_back(k));
    }
    if (cycle.size() % 2 == 1)
      std::rotate(cycle.begin(),
                  std::max_element(cycle.begin(), cycle.end(),
                                   [&](PetscInt a, PetscInt b) { return diagonal[a] < diagonal[b]; }),
                  cycle.end());
    for (size_t k = cycle.size() % 2; k < cycle.size(); k += 2) {
      pairing->partner[cycle[k]]     = cycle[k + 1];
      pairing->partner[cycle[k + 1]] = cycle[k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BringTogether(const std::vector<PetscInt> &partner, std::vector<PetscInt> *order)
{
  std::vector<PetscInt> together;
  std::vector<char>     placed;

  PetscFunctionBegin;
  PetscCallCXX(together.reserve(order->size()));
  PetscCallCXX(placed.assign(order->size(), 0));
  for (const PetscInt u : *order)
    for (const PetscInt k : {u, partner[u]}) {
      if (placed[k]) continue;
      placed[k] = 1;
      together.push_back(k);
    }
  *order = std::move(together);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::lu
