/// What a system on arrays of the device has where its matrix is parallel: ghosts that come through memory of peers,
/// the off-diagonal block, and sums over all ranks inside kernels. A solver must launch the same products on all ranks:
/// see docs/communication.md.
#pragma once

#include <petscksp.h>
#include "comm/reduce.hpp"
#include "ksp/common/names.hpp"
#include "mat/face/solver_access.hpp"

namespace sparsegpu::ksp
{

class Ranks
{
public:
  /// How many products the host launches ahead of what it has heard; on all ranks alike, so that it cannot go by time.
  static constexpr PetscInt AHEAD = 8;
  /// The same where what a product is part of does not see that it is not wanted any more: PETSc's operations.
  static constexpr PetscInt AHEAD_OUTSIDE = 2;

  /// Takes A for a solve with vectors in `vectors`, where its ranks reach each other's memory: see active(). The same
  /// on all ranks. `there`: only where products run where the vectors are. Collective.
  PetscErrorCode Begin(Mat A, Space vectors, bool there = false);
  PetscErrorCode Free();
  /// Not active any more.
  void Leave() { active_ = false; }

  bool                  active() const { return active_; }
  const BlocksForSolve &blocks() const { return blocks_; }
  comm::Reducer        &reducer() { return reducer_; }
  /// The products from now on are not wanted if *stopped_at is below `number`; null: they are.
  void Gate(const int *stopped_at, int number)
  {
    stopped_at_ = stopped_at;
    number_     = number;
  }
  /// The exchange of the next product, on the device; with `complete`, if the product is to take rows with ghosts, too,
  /// and can: then exchange() says so.
  PetscErrorCode Next(bool complete = false);
  /// exchange() is that of the product before, by MatMult().
  void                        Last();
  const comm::DeviceExchange &exchange() const { return exchange_; }
  bool                        has_ghosts() const { return blocks_.channel->receives() > 0; }
  /// Whether rows with ghosts have been left out by that product.
  bool ghosts_left() const { return has_ghosts() && !exchange_.complete; }
  /// The off-diagonal block in csr, of rows that no thread blocks need to share; null if it is not stored so.
  const CsrLayout *off() const { return csr_ ? &off_ : nullptr; }
  /// On the device: ProductDots::left_out, the rows with ghosts; where off() is not null.
  const std::uint32_t *with_ghosts() const { return static_cast<const std::uint32_t *>(with_ghosts_.data()); }
  /// Errors: PETSC_ERR_SYS, naming the rank, if one has been lost so far.
  PetscErrorCode Check();

private:
  PetscErrorCode MarkGhosts(PetscInt rows);

  bool                 active_ = false, csr_ = false;
  BlocksForSolve       blocks_;
  CsrLayout            off_ = {};
  comm::Reducer        reducer_;
  comm::Peers         *peers_ = nullptr; ///< the reducer's
  comm::DeviceExchange exchange_;
  const int           *stopped_at_ = nullptr;
  int                  number_     = 0;
  DeviceMemory         with_ghosts_; ///< [rows / 32 + 1]
};

/// The sums over all processes of `comm`: by `ranks`, unless they are null or do not reach each other's memory.
/// Collective.
PetscErrorCode SumOverProcesses(MPI_Comm comm, Ranks *ranks, PetscReal *sums, PetscMPIInt count);

/// bits [rows / 32 + 1]: bit r % 32 of word r / 32 is set for the rows that are not empty, or for all where these are
/// most.
PetscErrorCode MarkRows_CUDA(const CsrLayout &A, std::uint32_t *bits, Stream stream);

} // namespace sparsegpu::ksp
