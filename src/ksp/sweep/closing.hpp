/// The end of a sweep of several ranks that reach each other's memory.
#pragma once

#include "comm/reduce.hpp"
#include "ksp/sweep/names.hpp"
#include "ksp/sweep/sweep.hpp"
#include "mat/formats/csr/csr.hpp"

namespace sparsegpu::sweep
{

struct SweepClosing {
  const CsrLayout     *off;      ///< of the rows that the sweep has left out; null: there are none
  comm::DeviceExchange exchange; ///< which brings its ghosts
  JacobiSweep          sweep;
  JacobiControl        control;
  comm::ReduceSide     reduce;
  PetscReal           *partial; ///< [JACOBI_BLOCKS] scratch
};

/// Sweeps the rows that were left out; joins the norms of all ranks in their order, decides and writes the record,
/// where there is one. Asynchronous, bitwise reproducible, the same bits on all ranks.
PetscErrorCode CloseSweep_CUDA(const SweepClosing &closing, Stream stream);
/// The norms of all ranks, or their squares, to one; `norms` [ranks].
PetscReal JoinNorms(JacobiNorm norm, int ranks, const Scalar *norms);

} // namespace sparsegpu::sweep
