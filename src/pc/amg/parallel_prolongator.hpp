/// The smoothed prolongator of a parallel matrix, by the one pass that makes that of a sequential one.
#pragma once

#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/graph.hpp"
#include "pc/amg/own_rows.hpp"
#include "pc/classical/matrix.hpp"

namespace sparsegpu::amg
{

struct OtherAggregates;

/// P = (I - damping D^-1 A) P0 of aggregates that do not reach over processes, and what new values of A need of it.
class ParallelProlongator
{
public:
  /// *P, a new matrix of A's type; `columns` of its columns are this process's. threshold > 0: A is without its
  /// couplings below it, see WithoutWeak(). Collective. Errors, on all processes: PETSC_ERR_MEM;
  /// PETSC_ERR_ARG_OUTOFRANGE.
  PetscErrorCode Create(Mat A, const aggregate::Aggregates &aggregates, const aggregate::Tentative &tentative,
                        PetscReal damping, PetscReal threshold, PetscInt columns, Mat *P);
  /// Whether Refresh() serves: Create() made P, of our type and with no couplings left out. The same on all processes.
  PetscErrorCode Refreshes(Mat P, bool *refreshes) const;
  /// New values of P for those of A, whose pattern is as in Create(). Collective. Errors, on all processes:
  /// PETSC_ERR_MEM.
  PetscErrorCode Refresh(Mat A, PetscReal damping, Mat P);

private:
  PetscErrorCode TakeAggregates(const aggregate::Aggregates &aggregates);
  PetscErrorCode TakeTentative(const aggregate::Tentative &tentative);
  PetscErrorCode JoinAggregates(const aggregate::Aggregates &own, PetscInt first, OtherAggregates *others);
  /// A's rows, joined of both blocks.
  struct Rows {
    Array<PetscInt>        i, j;
    Array<Scalar>          a;
    aggregate::NodePattern pattern;       ///< where couplings may be left out
    Array<unsigned char>   strong;        ///< empty: all are
    bool                   whole = false; ///< made of the blocks of nodes
  };
  SparseRows     Joined(const Rows &rows) const;
  PetscErrorCode TakeRows(Rows *rows) const;
  PetscErrorCode Look(Rows *rows) const;
  PetscErrorCode FindScales(const aggregate::NodePattern &pattern, Array<PetscReal> *scale) const;
  PetscErrorCode FindRows(const Rows &A, PetscReal damping, classical::OwnedRows *rows) const;

  OwnRowsOf       own_;
  bool            filtered_ = false, whole_ = false;
  PetscInt        count_ = 0, vectors_ = 0; ///< of aggregates and of their near null space
  Array<PetscInt> of_, number_;             ///< [nodes of columns], [aggregates] in the whole matrix
  Array<PetscInt> begin_, members_;         ///< of aggregates
  Array<Scalar>   P0_;                      ///< [columns of A * vectors]
};

} // namespace sparsegpu::amg
