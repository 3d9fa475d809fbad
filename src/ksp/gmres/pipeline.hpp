/// The steps of a cycle with all decisions on the device: the host launches them ahead and reads outcomes later.
/// Two kernels a step and no CUDA graph: the host is ahead by more than launches take (docs/performance.md).
#pragma once

#include "comm/reduce.hpp"
#include "device/record.hpp"
#include "ksp/gmres/dense.hpp"
#include "ksp/gmres/hessenberg.hpp"

namespace sparsegpu::gmres
{

/// Progress of the cycle. A kernel of step k does nothing if stopped_at < k: step k itself may be setting it.
struct Progress {
  int       stopped_at; ///< the step after which nothing more is to change
  int       again;      ///< the direction of this step must be made orthogonal once more
  PetscReal fallen[2];  ///< |r_k| / |r_0| before step k, at k % 2: a step reads the one while it writes the other
  PetscReal first;      ///< |r_0|
};

struct Pipeline {
  Hessenberg H;
  Scalar    *dots[2];  ///< [H.stride + 1] each: the inner products of the first and the second time
  Progress  *progress; ///< [1]
  Record    *records;  ///< [2 * H.stride] pinned: of each step, then of each step's second pass if it was asked for
  DotScratch scratch;
  Criterion  criterion;
  PetscReal  converged, diverged; ///< the cycle stops at a residual norm not above the one or not below the other
  PetscInt   tested_from;         ///< steps before this one do not stop at these
  int        round;               ///< Record::ready of this cycle
  comm::ReduceSide reduce;        ///< inner products are those of all ranks; of no ranks: there is one process
  bool twice; ///< a second pass follows every first one; else the cycle stops with STEP_AGAIN where one is needed
};

/// Starts a cycle with the residual norm `residual`. Asynchronous, as are all of these.
PetscErrorCode PipelineBegin_CUDA(const Pipeline &p, PetscReal residual, Stream stream);
/// After it, where so many columns are kept: their part of H, with the right-hand side in dots[1], and what is left of
/// the residual, `own`.
PetscErrorCode PipelineKept_CUDA(const Pipeline &p, PetscInt kept, PetscReal own, Stream stream);
/// Makes column step + 1 of V orthogonal to those before it, adds the column to H and writes the record of the step.
template <class Entry>
PetscErrorCode PipelineStep_CUDA(const Pipeline &p, const Basis<Entry> &V, PetscInt step, Stream stream);
/// The second pass of a step that ended with STEP_AGAIN: the cycle goes on after it.
template <class Entry>
PetscErrorCode PipelineAgain_CUDA(const Pipeline &p, const Basis<Entry> &V, PetscInt step, Stream stream);
/// y [columns] = the minimiser in the space of the first `columns` steps.
PetscErrorCode PipelineSolve_CUDA(const Pipeline &p, PetscInt columns, Scalar *y, Stream stream);

} // namespace sparsegpu::gmres
