/// Coarse levels on fewer processes. Unknowns of a coarse level are numbered process by process. Where neighbouring
/// processes give theirs to the first of them every number stays: only the layout of the prolongator's columns is
/// another, and with it that of the coarse operator, which is made of the prolongator, then and for new values.
#pragma once

#include <petscmat.h>
#include <vector>
#include "pc/amg/names.hpp"

namespace sparsegpu::amg
{

class Gathering
{
public:
  /// This process has `mine` unknowns. Processes keep theirs while there are at least `limit` for each that has some,
  /// or too few to halve the number of these processes; limit 0: always. `one`: one process gets all. Collective; the
  /// same decision on all processes.
  PetscErrorCode Plan(MPI_Comm comm, PetscInt mine, PetscInt limit, bool one);
  /// Whether any unknown changes its process.
  bool moves() const { return moves_; }
  /// Unknowns of this process afterwards.
  PetscInt rows() const { return rows_; }
  /// *values [columns * mine], by columns, become those of the unknowns afterwards [columns * rows()]. Collective.
  PetscErrorCode Move(PetscInt columns, std::vector<PetscScalar> *values) const;
  PetscErrorCode Move(PetscInt columns, std::vector<PetscInt> *values) const;
  /// *P, whose columns have the layout of before, becomes one with columns of the layout afterwards. Collective.
  PetscErrorCode MoveColumns(Mat *P) const;

private:
  struct Source {
    PetscMPIInt process;
    PetscInt    unknowns;
  };

  template <class T> PetscErrorCode MoveValues(MPI_Datatype type, PetscInt columns, std::vector<T> *values) const;

  MPI_Comm            comm_ = PETSC_COMM_SELF;
  PetscInt            mine_ = 0, rows_ = 0;
  PetscMPIInt         to_    = 0; ///< the process that gets this one's unknowns, or this one
  bool                moves_ = false;
  std::vector<Source> sources_; ///< whose unknowns this process has afterwards, ascending
};

} // namespace sparsegpu::amg
