/// One step of smoothed aggregation: from a matrix to the prolongator of the next coarser level. Aggregates do not
/// reach over processes; smoothed prolongators do.
#pragma once

#include <memory>
#include "pc/aggregate/aggregate.hpp"
#include "pc/amg/gathering.hpp"
#include "pc/amg/near_null_space.hpp"
#include "pc/amg/parallel_prolongator.hpp"

namespace sparsegpu::amg
{

class Coarsening
{
public:
  /// Aggregates of the nodes of `A`, coupled above `threshold`, and the near null space on them. Roots of aggregates
  /// are more than `distance` couplings apart, 1 or 2. Collective.
  PetscErrorCode Aggregate(Mat A, PetscReal threshold, PetscInt distance, const NearNullSpace &fine);
  /// Unknowns of the coarse level, of all processes; 0: no node is coupled to another.
  PetscInt Columns() const { return columns_; }
  /// Nodes of all processes that are coupled to none: they stay on the fine level.
  PetscInt Isolated() const { return isolated_; }
  /// Which processes have the unknowns of the coarse level, see Gathering::Plan(). Collective.
  PetscErrorCode Gather(MPI_Comm comm, PetscInt limit, bool one);
  /// The near null space of the coarse level, once. Collective.
  PetscErrorCode Take(NearNullSpace *coarse);

  /// *P = (I - damping D^-1 A)^steps P0, damping 1.4 / emax as in PCGAMG; `filtered`: without weak couplings, which go
  /// to the diagonal. In one pass with one step at most, else by products of matrices. A matrix made
  /// before gets new values where one pass computes them; else it is *replaced. Collective.
  PetscErrorCode Prolong(Mat A, PetscReal emax, PetscInt steps, bool filtered, Mat *P, bool *replaced);
  /// Makes the coarse operator regular in columns that the near null space leaves empty. Collective.
  PetscErrorCode Activate(Mat coarse) const;
  /// Drops what Prolong() needs; Activate() goes on to work.
  void Release();

private:
  Aggregates                           aggregates_;
  Tentative                            tentative_;
  Gathering                            gathering_;
  std::unique_ptr<ParallelProlongator> parallel_;       ///< on several processes
  PetscReal                            threshold_ = -1; ///< of Aggregate()
  PetscInt                             columns_ = 0, isolated_ = 0;
  bool                                 inactive_ = false; ///< a column of a process is empty
  std::vector<PetscScalar>             ones_; ///< [columns of this process] 1 where a column is empty, if one is
};

} // namespace sparsegpu::amg
