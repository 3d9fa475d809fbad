/// The rows of one process of a square matrix, in its two blocks, where products run; and what they need of others.
#pragma once

#include <petscsf.h>
#include "pc/aggregate/source.hpp"
#include "pc/amg/filter_rows.hpp"

namespace sparsegpu::amg
{

/// A's rows as they are now, which must stay as long as this is used, ordered or not. Unknowns are numbered own ones
/// first, then all those of nodes of other processes that a row is coupled to, ascending.
class OwnRowsOf
{
public:
  OwnRowsOf()                             = default;
  OwnRowsOf(const OwnRowsOf &)            = delete;
  OwnRowsOf &operator=(const OwnRowsOf &) = delete;
  ~OwnRowsOf();

  /// A of any AIJ type, sequential or parallel. Collective. Errors, on all processes: PETSC_ERR_MEM;
  /// PETSC_ERR_ARG_OUTOFRANGE.
  PetscErrorCode Take(Mat A);
  /// The same in a space that this process chooses.
  PetscErrorCode Take(Mat A, Space space);
  /// After that: other values, of the same pattern, of A or of another matrix, in the same space wherever that lives.
  /// Errors: PETSC_ERR_MEM; PETSC_ERR_ARG_WRONGSTATE where the pattern is known to be another one. Not collective.
  PetscErrorCode TakeAgain(Mat A);
  /// Lets the rows go, until TakeAgain(); all else stays.
  void Drop();

  MPI_Comm       comm() const { return comm_; }
  Space          space() const { return space_; }
  const OwnRows &rows() const { return rows_; }
  PetscInt       own_nonzeros() const { return own_.rows.nonzeros; } ///< in own columns
  PetscCount     nonzeros() const { return PetscCount(own_.rows.nonzeros) + others_.rows.nonzeros; }
  /// Unknowns of other processes, of whole nodes: their numbers in the matrix, ascending.
  const std::vector<PetscInt> &ghosts() const { return ghosts_; }
  /// [columns of the block of others] which of ghosts() each is.
  const std::vector<PetscInt> &places() const { return places_; }
  /// [] own unknowns that another process is coupled to, ascending, on the host and where the rows are.
  const std::vector<PetscInt> &asked() const { return asked_; }
  const PetscInt              *asked_there() const { return asked_there_.data_or_null(); }
  /// theirs [ghosts()] of `mine` [asked()], `count` entries of an MPI type each. Collective.
  template <class T> PetscErrorCode Share(MPI_Datatype type, PetscMPIInt count, const T *mine, T *theirs) const;

  /// The couplings above `threshold`. Collective. Errors, on all processes: PETSC_ERR_MEM.
  PetscErrorCode FindCouplings(PetscReal threshold, Couplings *couplings);
  /// begin [rows + 1] where each row's entries that stay would begin; *total: how many. Errors: PETSC_ERR_MEM.
  PetscErrorCode CountStayingRows(const Couplings &couplings, Array<PetscInt> *begin, PetscInt *total) const;

private:
  PetscErrorCode TakeBlocks(Mat A, Mat *others, const PetscInt **columns);
  PetscErrorCode Look(Mat A);
  PetscErrorCode ListGhosts(Mat O, const PetscInt *columns);

  MPI_Comm              comm_  = PETSC_COMM_SELF;
  Space                 space_ = Space::Host;
  aggregate::Source     own_, others_;
  Array<PetscInt>       no_rows_, columns_;
  OwnRows               rows_ = {};
  PetscCount            had_  = 0; ///< nonzeros() before Drop()
  std::vector<PetscInt> ghosts_, places_, asked_;
  Array<PetscInt>       asked_there_;
  PetscSF               forest_ = nullptr; ///< null on one process
  Array<PetscReal>      sizes_, ghost_sizes_;
};

template <class T> PetscErrorCode OwnRowsOf::Share(MPI_Datatype type, PetscMPIInt count, const T *mine, T *theirs) const
{
  const size_t width = static_cast<size_t>(count);
  MPI_Datatype unit  = type;
  T           *roots; // most of it is never touched

  PetscFunctionBegin;
  if (!forest_) PetscFunctionReturn(PETSC_SUCCESS);
  if (count > 1) {
    PetscCallMPI(MPI_Type_contiguous(count, type, &unit));
    PetscCallMPI(MPI_Type_commit(&unit));
  }
  PetscCall(PetscMalloc1(static_cast<size_t>(rows_.rows) * width, &roots));
  for (size_t k = 0; k < asked_.size(); k++)
    std::copy_n(mine + k * width, width, roots + static_cast<size_t>(asked_[k]) * width);
  PetscCall(PetscSFBcastBegin(forest_, unit, roots, theirs, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(forest_, unit, roots, theirs, MPI_REPLACE));
  PetscCall(PetscFree(roots));
  if (count > 1) PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
