/// GMRES of ours whose restarts keep vectors.
#pragma once

#include "../matrices.hpp"
#include "against_petsc.hpp"

namespace testing
{

/// Diffusion and a flow on n x m nodes, of real numbers whatever PETSc's are: couplings against the flow are 1 + `flow`
/// and along with it 1 - `flow`. With the sides insulated constants are the null space, else values are prescribed
/// beyond them.
inline Problem Flow(PetscInt n, PetscInt m, PetscReal flow, bool insulated)
{
  conformance::Builder b("flow", n * m, n * m);

  for (PetscInt r = 0; r < n * m; ++r) {
    PetscReal sum = 0;
    conformance::EachNeighbour(n, m, 1, r, [&](PetscInt d, PetscInt c) {
      if (d != 10 && d != 12 && d != 14 && d != 16) return;
      const PetscReal w = d < 13 ? 1 + flow : 1 - flow;
      sum += w;
      b.Add(r, c, (PetscScalar)-w);
    });
    b.Add(r, r, (PetscScalar)(insulated ? sum : 4));
  }
  return b;
}

/// These options, with a restart that keeps so many vectors.
inline std::string Deflated(PetscInt kept, const std::string &options)
{
  return options + " -ksp_sparsegpugmres_deflation " + std::to_string(kept) + " -ksp_type " + KSPSPARSEGPUGMRES;
}

} // namespace testing
