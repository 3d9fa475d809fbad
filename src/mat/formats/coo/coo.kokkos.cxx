/// The product of coordinates on the host, through Kokkos: equal intervals of entries, their shared rows added last.
#include <algorithm>
#include <vector>
#include <Kokkos_Core.hpp>
#include "device/kokkos.hpp"
#include "mat/formats/coo/coo.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// An interval of entries per thread of the execution space; the first and the last row of an interval may be shared
/// with its neighbours and are added afterwards, in order. Reproducible for a given concurrency.
PetscErrorCode CooMult_Kokkos(const CooLayout &layout, const Scalar *x, const Scalar *y, Scalar *z)
{
  using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<PetscInt>>;
  struct Edge {
    PetscInt row;
    Scalar   sum;
  };
  constexpr PetscInt MAX_INTERVALS = 256; // threads of a node
  const CooLayout    A             = layout;
  PetscInt           concurrency;
  Edge               first[MAX_INTERVALS], last[MAX_INTERVALS];
  Edge              *first_edge = first, *last_edge = last;

  PetscFunctionBegin;
  PetscCall(KokkosConcurrency(&concurrency));
  const PetscInt intervals = std::min(concurrency, MAX_INTERVALS), length = (A.nonzeros + intervals - 1) / intervals;
  if (y != z)
    PetscCallCXX(
        Kokkos::parallel_for("CooStart", Range(0, A.rows), [=](const PetscInt r) { z[r] = y ? y[r] : Scalar(0); }));
  PetscCallCXX(Kokkos::parallel_for("CooMult", Range(0, intervals), [=](const PetscInt w) {
    PetscInt       e   = std::min(w * length, A.nonzeros);
    const PetscInt end = std::min(e + length, A.nonzeros), begin = e;
    first_edge[w] = last_edge[w] = Edge{-1, Scalar(0)};
    while (e < end) {
      const PetscInt r       = A.row[e];
      const bool     leading = e == begin;
      Scalar         sum(0);
      for (; e < end && A.row[e] == r; e++) sum += A.a[e] * x[A.j[e]];
      if (leading)
        first_edge[w] = Edge{r, sum};
      else if (e == end)
        last_edge[w] = Edge{r, sum};
      else
        z[r] += sum;
    }
  }));
  for (PetscInt w = 0; w < intervals; w++) {
    if (first[w].row >= 0) z[first[w].row] += first[w].sum;
    if (last[w].row >= 0) z[last[w].row] += last[w].sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
