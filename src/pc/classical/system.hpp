/// A square matrix as one process sees it: its own rows and, behind them, the rows of other processes that its own are
/// coupled to. Unknowns are numbered alike: own ones first, then others that some row has a column of.
#pragma once

#include "mat/face/row_stack.hpp"
#include "pc/aggregate/source.hpp"
#include "pc/classical/classical.hpp"
#include "pc/classical/strength.hpp"

namespace sparsegpu::classical
{

class System
{
public:
  System()                          = default;
  System(const System &)            = delete;
  System &operator=(const System &) = delete;
  ~System();

  /// A's rows as they are now, which must stay as long as this is used, where A's products run. Collective. Errors:
  /// PETSC_ERR_MEM; PETSC_ERR_ARG_OUTOFRANGE.
  PetscErrorCode Take(Mat A);
  /// Of A's unknowns.
  PetscErrorCode TakeFields(const Fields &fields);

  MPI_Comm        comm() const { return comm_; }
  Space           space() const { return space_; }
  PetscInt        own() const { return own_; }
  PetscInt        nodes() const { return rows_.nodes; }
  PetscInt        nonzeros() const { return nonzeros_; }
  SquareRows      rows() const { return rows_; }
  GlobalNumber    global() const { return GlobalNumber{first_, own_, others_.data_or_null()}; }
  const PetscInt *field() const { return field_.data_or_null(); }
  /// The values [nodes] of unknowns of other processes become those that their owners have. Collective.
  PetscErrorCode Share(PetscInt *values) const { return Share(MPIU_INT, values); }
  PetscErrorCode Share(unsigned long long *values) const { return Share(MPI_UNSIGNED_LONG_LONG, values); }
  PetscErrorCode Share(PetscReal *values) const { return Share(MPIU_REAL, values); }
  /// The sums over all processes.
  template <int COUNT> PetscErrorCode SumUp(unsigned long long (&values)[COUNT]) const;

private:
  template <class T> PetscErrorCode Share(MPI_Datatype type, T *values) const;
  PetscErrorCode                    TakeParallel(Mat A);
  PetscErrorCode                    NumberRows(Mat A);

  MPI_Comm          comm_  = PETSC_COMM_SELF;
  Space             space_ = Space::Host;
  PetscInt          own_ = 0, first_ = 0, nonzeros_ = 0;
  SquareRows        rows_;
  aggregate::Source source_;           ///< of a matrix of one process
  Mat               copy_   = nullptr; ///< of A as a matrix of ours, where it is none
  PetscSF           forest_ = nullptr; ///< own unknowns -> others; null on one process
  RowStack          stack_;
  Array<PetscInt>   i_, others_, field_;
};

template <class T> PetscErrorCode System::Share(MPI_Datatype type, T *values) const
{
  const bool         device = space_ == Space::Device;
  const PetscMemType where  = device ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  if (!forest_) PetscFunctionReturn(PETSC_SUCCESS);
  if (device) PetscCall(DeviceBeforeVectors()); // PETSc's kernels read what ours have written
  PetscCall(PetscSFBcastWithMemTypeBegin(forest_, type, where, values, where, values + own_, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(forest_, type, values, values + own_, MPI_REPLACE));
  if (device) PetscCall(DeviceAfterVectors());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int COUNT> PetscErrorCode System::SumUp(unsigned long long (&values)[COUNT]) const
{
  unsigned long long all[COUNT];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(values, all, COUNT, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm_));
  for (int k = 0; k < COUNT; k++) values[k] = all[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::classical
