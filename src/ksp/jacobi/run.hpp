/// Runs: many sweeps in one launch, for CSR systems so small that launch latency would dominate. A grid-wide barrier
/// separates two sweeps; then every thread block sums the norms of all blocks, in the order of single sweeps, and
/// decides by itself whether the sweep was the last. Norms and iterates have the bits of single sweeps.
#pragma once

#include "ksp/jacobi/names.hpp"
#include "ksp/sweep/sweep.hpp"
#include "mat/formats/csr/csr.hpp"

namespace sparsegpu::jacobi
{

using sweep::JACOBI_BLOCKS;
using sweep::JacobiControl;
using sweep::JacobiNorm;
using sweep::JacobiSweep;

/// Parameters of a run in addition to JacobiControl, whose number and round are those of its first sweep.
struct JacobiRun {
  unsigned blocks;      ///< of a single sweep
  unsigned launched;    ///< thread blocks; each does the work of one or more of those
  size_t   bytes;       ///< of shared memory for a block's part of A; 0 if A is read where it is
  int      sweeps;      ///< at most
  PetscInt tested_from; ///< the first sweep whose norm is tested
  Record  *records;     ///< [RECORDS] pinned, record k % RECORDS is of sweep k; null without a norm
};

constexpr PetscInt RUN_FIRST = 64, RUN_MOST = 1024; // sweeps: the first norms come soon, later launches are rare
/// Records are used in turn: more of them than the host may be ahead, half a run and another.
constexpr PetscInt RECORDS = 2 * RUN_MOST;

/// Sets blocks, launched and bytes for A, without chunks; false if the device has no cooperative launches.
PetscErrorCode PlanJacobiRun_CUDA(const CsrLayout &A, JacobiRun *run, bool *fits);
/// Asynchronous, bitwise reproducible. `sweep` is the first one; the next goes back, and writes sweep.x. *launched as
/// LaunchCooperative() has it.
PetscErrorCode CsrRunJacobi_CUDA(const CsrLayout &A, const JacobiSweep &sweep, const JacobiControl &control,
                                 const JacobiRun &run, Stream stream, bool *launched);

} // namespace sparsegpu::jacobi
