/// Assembly of a parallel matrix from coordinates, where its blocks live. Entries of rows of other ranks are sent to
/// their owners: the coordinates once, the values each time. Each block has one map (coo.hpp) from the entries that its
/// rank is given and, behind them, those that it receives. They are received by rank and in the order in which they
/// were given there, so that sums repeat bit for bit.
#pragma once

#include "mat/face/context.hpp"
#include "mat/face/pieces.hpp"

namespace sparsegpu::face
{

/// What duplicates of a parallel matrix share.
struct ParallelCoordinates {
  ParallelCoordinates()                                       = default;
  ParallelCoordinates(const ParallelCoordinates &)            = delete;
  ParallelCoordinates &operator=(const ParallelCoordinates &) = delete;

  PieceExchange         pieces;       ///< entries that are sent -> entries that are received
  PetscCount            entries  = 0; ///< given to MatSetPreallocationCOO() on this rank
  PetscInt              receives = 0;
  bool                  none     = false; ///< no rank sends any
  std::vector<PetscInt> sent;             ///< those of the entries that go to other ranks, by rank
  Array<PetscInt>       sent_there;       ///< the same on the device, once values have come from there
};

/// MatSetPreallocationCOO() where the blocks are to live; `done` is false, on all ranks, where that is not to be or
/// memory lacks: nothing has been done then. Collective.
PetscErrorCode PreallocateParallel(Mat A, PetscCount n, PetscInt *i, PetscInt *j, bool *done);
/// MatSetValuesCOO() of a matrix that has such coordinates. Collective.
PetscErrorCode SetValuesParallel(Mat A, Context *context, Scalar *v, InsertMode mode);
/// *all: the values `v`, host or device, null for zeros, of this rank, and behind them those that it receives: in
/// `room` in `space` if there are any, else where they lie. Collective.
PetscErrorCode Exchange(ParallelCoordinates *coo, Scalar *v, Space space, Array<Scalar> *room, Scalar **all);

/// A parallel matrix that becomes plain AIJ keeps its coordinates as a sequential one does: coo.hpp.
PetscErrorCode KeepParallelCoordinates(Mat A);
PetscErrorCode TakeParallelCoordinates(Mat A, std::shared_ptr<ParallelCoordinates> *coo);
PetscErrorCode ForgetParallelCoordinates(Mat A);

} // namespace sparsegpu::face
