/// SpaceOf() goes by the type of a vector, ProductSpaceOf() also by where the entries are.
#include "device/vectors.hpp"
#include <petsc/private/vecimpl.h>
#include "device/local_array.hpp"

namespace sparsegpu
{

PetscErrorCode SpaceOf(Vec like, Space *space, bool *wraps)
{
  PetscBool standard, cuda = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)like, &standard, VECSEQ, VECMPI, ""));
#if defined(PETSC_HAVE_CUDA) && defined(SPARSEGPU_HAVE_CUDA)
  PetscBool on_cpu;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)like, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecBoundToCPU(like, &on_cpu));
  if (on_cpu) cuda = PETSC_FALSE;
#endif
  *space = cuda ? Space::Device : Space::Host;
  if (wraps) *wraps = standard || cuda;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductSpaceOf(Vec v, Space *space)
{
  bool known = false;

  PetscFunctionBegin;
  PetscCall(SpaceOf(v, space, &known));
  if (known || !v->ops->getarrayandmemtype) PetscFunctionReturn(PETSC_SUCCESS);
  LocalArray entries;
  PetscCall(entries.Get(v, Space::Device, Access::Read));
  if (entries.on_device()) *space = Space::Device;
  PetscCall(entries.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
