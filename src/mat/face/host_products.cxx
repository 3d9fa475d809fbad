/// Puts functions of ours before both phases of a product of PETSc's. PETSc's own are kept with the result.
#include "mat/face/host_products.hpp"
#include "mat/face/context.hpp"
#include "petsc/kept_function.hpp"

namespace sparsegpu::face
{

namespace
{
constexpr char SYMBOLIC[] = "__sparsegpu_productsymbolic", NUMERIC[] = "__sparsegpu_productnumeric";
using Phase = PetscErrorCode (*)(Mat);

PetscErrorCode NumericAtHome(Mat D)
{
  Phase phase = nullptr;

  PetscFunctionBegin;
  PetscCall(OperandsStayHome(D));
  PetscCall(GetKeptFunction((PetscObject)D, NUMERIC, &phase));
  if (!phase) { // D has got the insides of another matrix, and kept its operations
    PetscCall(SetUpAnew(D));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const AtHomeScope scope;
  PetscCall((*phase)(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SymbolicAtHome(Mat D)
{
  Phase phase = nullptr;

  PetscFunctionBegin;
  PetscCall(OperandsStayHome(D));
  PetscCall(GetKeptFunction((PetscObject)D, SYMBOLIC, &phase));
  PetscCheck(phase, PETSC_COMM_SELF, PETSC_ERR_ORDER, "Call MatProductSetFromOptions() first");
  D->ops->productsymbolic = phase;
  {
    const AtHomeScope scope;
    PetscCall((*phase)(D));
  }
  if (!D->product || !D->ops->productnumeric || D->ops->productnumeric == NumericAtHome)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KeepFunction((PetscObject)D, NUMERIC, D->ops->productnumeric));
  D->ops->productnumeric = NumericAtHome;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode OperandsStayHome(Mat D)
{
  PetscFunctionBegin;
  for (Mat A : {D->product->A, D->product->B, D->product->C, D}) PetscCall(StayHome(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComputeAtHome(Mat D)
{
  PetscFunctionBegin;
  if (!D->ops->productsymbolic || D->ops->productsymbolic == SymbolicAtHome) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KeepFunction((PetscObject)D, SYMBOLIC, D->ops->productsymbolic));
  D->ops->productsymbolic = SymbolicAtHome;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LeaveProductToHost(Mat D, bool parallel)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  PetscCall(OperandsStayHome(D));
  PetscCall(GetParentOps(parallel, &parent));
  D->ops->productsymbolic = nullptr;
  PetscCall((*parent->productsetfromoptions)(D));
  PetscCheck(D->ops->productsymbolic, PetscObjectComm((PetscObject)D), PETSC_ERR_SUP,
             "No product of type %s on the host", MatProductTypes[D->product->type]);
  PetscCall(ComputeAtHome(D));
  PetscCall((*D->ops->productsymbolic)(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetUpAnew(Mat D)
{
  PetscFunctionBegin;
#if PETSC_VERSION_GE(3, 25, 0)
  if (D->product->destroy) PetscCall((*D->product->destroy)(&D->product->data));
#else
  if (D->product->destroy) PetscCall((*D->product->destroy)(D->product->data));
#endif
  D->product->data    = nullptr;
  D->product->destroy = nullptr;
  PetscCall(MatProductSetFromOptions(D));
  PetscCall(MatProductSymbolic(D));
  PetscCall((*D->ops->productnumeric)(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
