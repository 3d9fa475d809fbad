/// A parallel matrix of nodes of several unknowns of which each process knows every entry.
#pragma once

#include "../testing.hpp"

#include <cmath>

namespace testing
{

/// A matrix of which each process knows every entry. Nodes are coupled to some of those 1, 7 and 13 away.
struct Known {
  PetscInt  nodes, size; ///< size: unknowns of a node
  PetscBool zeros;       ///< some entries are stored zeros
  unsigned  seed;
  bool      full = false; ///< blocks on the diagonal are

  unsigned Hash(PetscInt r, PetscInt c) const
  {
    unsigned h = static_cast<unsigned>(r) * 2654435761u ^ (static_cast<unsigned>(c) + seed) * 2246822519u;
    h          = (h ^ (h >> 15)) * 2654435769u;
    return h ^ (h >> 13);
  }
  PetscInt rows() const { return nodes * size; }
  bool     Has(PetscInt r, PetscInt c) const
  {
    const PetscInt apart = PetscAbs(r / size - c / size);
    if (apart == 0) return full || Hash(r, c) % 8 > 0; // else there are rows without a diagonal entry
    return (apart == 1 || apart == 7 || apart == 13) && Hash(r, c) % 4 > 0;
  }
  PetscScalar Value(PetscInt r, PetscInt c) const
  {
    const unsigned h = Hash(c, r);
    if (zeros && h % 16 == 0) return 0;
    const PetscReal v =
        (1 + static_cast<PetscReal>(h / 64 % 1024) / 1024) * std::pow(10, -static_cast<PetscReal>(h % 4));
    const PetscReal signed_v = h / 16 % 2 ? v : -v;
#if defined(PETSC_USE_COMPLEX)
    return PetscCMPLX(signed_v, h / 32 % 2 ? v / 2 : 0);
#else
    return signed_v;
#endif
  }
  /// The largest magnitude of a block.
  PetscReal Largest(PetscInt node, PetscInt other) const
  {
    PetscReal most = 0;
    for (PetscInt r = node * size; r < (node + 1) * size; ++r)
      for (PetscInt c = other * size; c < (other + 1) * size; ++c)
        if (Has(r, c)) most = PetscMax(most, PetscAbsScalar(Value(r, c)));
    return most;
  }
  bool Stays(PetscReal threshold, PetscInt r, PetscInt c) const
  {
    const PetscInt node = r / size, other = c / size;
    if (node == other) return true;
    return Largest(node, other) > threshold * PetscSqrtReal(Largest(node, node) * Largest(other, other));
  }
};

/// Processes have different numbers of nodes, the last but one none.
inline PetscErrorCode Create(const Known &known, MatType type, Mat *A)
{
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  const PetscInt shares = size > 2 ? size - 1 : size, share = size > 2 && rank == size - 1 ? rank - 1 : rank;
  const bool     none = size > 2 && rank == size - 2;
  const PetscInt mine = none ? 0 : known.nodes * (share + 1) / shares - known.nodes * share / shares;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, mine * known.size, mine * known.size, known.rows(), known.rows()));
  PetscCall(MatSetBlockSize(*A, known.size));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetUp(*A));
  PetscInt begin, end;
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt r = begin; r < end; ++r)
    for (PetscInt c = 0; c < known.rows(); ++c)
      if (known.Has(r, c)) PetscCall(MatSetValue(*A, r, c, known.Value(r, c), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
