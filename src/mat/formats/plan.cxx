/// Plans by name, and the default plan: the format takes every matrix, and `auto` never chooses it.
#include "mat/formats/plan.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::formats
{

PetscErrorCode Plan::Fits(bool *fits, std::string *)
{
  PetscFunctionBegin;
  *fits = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Plan::Estimate(PetscLogDouble, bool *candidate, Cost *)
{
  PetscFunctionBegin;
  *candidate = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Plans::AreOf(const CsrView &A, const FormatOptions &options, Space space) const
{
  const CsrView &B = look_.rows();
  return space == look_.space() && options == look_.options() && A.rows == B.rows && A.cols == B.cols &&
         A.nonzeros == B.nonzeros && A.block_size == B.block_size && A.i == B.i && A.j == B.j && A.a == B.a &&
         A.device.i == B.device.i && A.device.j == B.device.j && A.device.a == B.device.a;
}

PetscErrorCode Plans::Get(const std::string &name, Plan **plan)
{
  PetscFunctionBegin;
  PetscCallCXX(*plan = plans_[name].get());
  if (!*plan) {
    const std::unique_ptr<Format> format = MakeFormat(name);
    PetscCheck(format, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No format is named %s", name.c_str());
    PetscCallCXX(plans_[name] = format->NewPlan(&look_));
    *plan = plans_[name].get();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Plans::Check(const std::string &name, bool *fits, std::string *why, bool off_diagonal)
{
  const CsrView &A     = look_.rows();
  bool           lacks = false;
  Plan          *plan;

  PetscFunctionBegin;
  if (off_diagonal && look_.space() == Space::Device && !StoresOffDiagonal(name)) {
    *fits = false;
    PetscCallCXX(*why = "it is for diagonal blocks, whose products may take the ghosts, too");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Get(name, &plan));
  if (!A.device.i) {
    PetscCall(plan->Fits(fits, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MayLackMemory([&] { return plan->Fits(fits, why); }, &lacks));
  if (lacks && !A.a) { // nothing but the device's memory has the values
    *fits = false;
    PetscCallCXX(*why = "there is no memory to look at it");
  } else if (lacks) {
    CsrView host = A;
    host.device  = CsrArrays();
    Plans others(host, look_.options(), look_.space());
    PetscCall(others.Check(name, fits, why));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Plans::Build(const std::string &name, std::unique_ptr<Format> *format, bool adds)
{
  Plan *plan;

  PetscFunctionBegin;
  PetscCall(Get(name, &plan));
  PetscCallCXX(*format = MakeFormat(name));
  if (adds) (*format)->AddsToSums();
  PetscCall((*format)->Build(plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BaselineInOrder(Plans *plans, bool *in_order)
{
  Plan *plan;
  Cost  cost;
  bool  candidate;

  PetscFunctionBegin;
  PetscCall(plans->Get(Baseline(), &plan));
  PetscCall(plan->Estimate(1e300, &candidate, &cost));
  *in_order = cost.in_order;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
