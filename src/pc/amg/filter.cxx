/// Rows of the new matrix are made where those of A lie.
#include "pc/amg/filter.hpp"
#include "pc/amg/own_rows.hpp"
#include "pc/amg/update.hpp"
#include "pc/classical/matrix.hpp"
#include "petsc/compat.hpp"
#include "petsc/on_all.hpp"

namespace sparsegpu::amg
{

PetscErrorCode WithoutWeak(Mat A, PetscReal threshold, Mat *F)
{
  OwnRowsOf            own;
  Couplings            couplings;
  classical::OwnedRows left;
  PetscInt             total = 0, weak, any, columns;

  PetscFunctionBegin;
  *F = A;
  PetscCall(own.Take(A));
  const OwnRows &rows = own.rows();
  PetscCall(OnAll(own.comm(), [&] {
    PetscFunctionBegin;
    PetscCheck(!rows.unordered, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
               "A prolongator of more than one smoothing step of a matrix whose rows have unordered columns");
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(own.FindCouplings(threshold, &couplings));
  PetscCall(OnAll(own.comm(), [&] { return own.CountStayingRows(couplings, &left.i, &total); }));
  weak = total < own.nonzeros();
  PetscCallMPI(MPI_Allreduce(&weak, &any, 1, MPIU_INT, MPI_MAX, own.comm()));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OnAll(own.comm(), [&] {
    PetscFunctionBegin;
    PetscCall(left.j.Allocate(static_cast<size_t>(total), own.space()));
    PetscCall(left.a.Allocate(static_cast<size_t>(total), own.space()));
    PetscCall(ForEach(own.space(), rows.rows, TakeStaying{couplings, left.i.data(), left.j.data(), left.a.data()}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(MatGetLocalSize(A, nullptr, &columns));
  PetscCall(classical::CreateFromRows(A, own.space(), columns, std::move(left), F, rows.size, rows.size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
