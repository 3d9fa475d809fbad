/// Engine `auto`: both sweeps in one launch and without any barrier between levels: a row starts as soon as the values
/// it needs are there. Rows are stored level by level, so that rows that lie together can run together. Liu, Li, Hogg,
/// Duff, Vinter, "A synchronization-free algorithm for parallel sparse triangular solves", Euro-Par 2016; here a value
/// is its own flag: the solution is preset to one NaN payload that nothing computes.
#pragma once

#include "mat/formats/codec/values.hpp"
#include "pc/trisolve/names.hpp"
#include "pc/trisolve/schedule.hpp"

namespace sparsegpu::trisolve
{

/// The pieces of a SystemView by level, which is also the order of their unknowns in memory: what a warp needs lies
/// together. A slice is what a warp works on at a time: pieces of 2^width lanes each. Lane l of slice s has the entries
/// base[s] + l, base[s] + l + lanes, ...: neighbouring lanes read neighbouring entries.
struct SweepLayout {
  PetscInt             slices;
  PetscInt             lower;   ///< unknowns of L
  PetscInt             pieces;  ///< unknowns
  const PetscInt      *first;   ///< [slices + 1] first unknown
  const PetscCount    *base;    ///< [slices + 1] first entry
  const unsigned char *width;   ///< [slices]
  const PetscInt      *j;       ///< [base[slices]] unknown it multiplies, -1: none, and none after it in this lane
  const PetscInt      *from;    ///< [base[slices]] where the value lies among the factors', -1: the value is -1
  Scalar              *a;       ///< [base[slices]], null: in single precision
  SingleScalar        *single;  ///< [base[slices]] instead
  const PetscInt      *outside; ///< [pieces] entry of the right-hand side (L) or of the solution (U), -1: none
  const PetscInt      *pivot;   ///< [pieces] where the factor of the result lies among the factors' values, -1: 1
  Scalar              *scale;   ///< [pieces] that factor

  SPARSEGPU_HD Scalar Value(PetscCount e) const { return a ? a[e] : Widen(single[e]); }
};

/// Scratch and switches of a solve.
struct SweepWork {
  Scalar   *unknowns; ///< [pieces * right-hand sides of a launch]
  unsigned *ticket;   ///< [2] tickets taken; slices that have ended, counted where a ticket covers several
  int      *stuck;    ///< [1] in pinned host memory: set by a solve that timed out waiting
  unsigned  spins;    ///< see Patience
};

/// Marks all unknowns as unknown and sets the counters to 0; asynchronous.
PetscErrorCode PresetSweep(PetscCount unknowns, const SweepWork &work, Stream stream);

class Sweep : public Scheduled
{
public:
  PetscErrorCode Analyse(const FactorView &factors, Stream stream) override;
  PetscErrorCode SetValues(const Scalar *values, Stream stream) override;
  PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream stream) override;
  size_t         Bytes() const override;
  PetscErrorCode LowerTasks(PetscInt longest, PetscInt together, Array<PetscInt> *order, Array<PetscInt> *first,
                            PetscInt *tasks, Stream stream) override;

private:
  PetscErrorCode Fill(Stream stream);
  PetscErrorCode SolveMany(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, PetscInt warps,
                           Stream stream);

  Schedule             schedule_;
  SweepLayout          layout_ = {};
  DeviceMemory         scratch_;
  Array<PetscInt>      order_, first_, j_, from_, outside_, pivot_, slice_of_;
  Array<PetscCount>    base_;
  Array<unsigned char> width_;
  Array<Scalar>        a_, scale_;
  Array<SingleScalar>  single_;
  DeviceMemory         unknowns_;
  Array<unsigned>      ticket_;
};

} // namespace sparsegpu::trisolve
