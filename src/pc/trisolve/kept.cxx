/// Values of factors, rounded where that was asked for.
#include "pc/trisolve/kept.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

PetscErrorCode KeptValues::Set(const Scalar *values, PetscCount count, bool single, Space space, Stream stream)
{
  PetscFunctionBegin;
  full_ = single ? nullptr : values;
  if (!single) {
    single_ = Array<SingleScalar>();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(single_.Allocate(static_cast<size_t>(count), space));
  if (space == Space::Host)
    for (PetscCount k = 0; k < count; k++) single_.data()[k] = Narrow(values[k]);
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) PetscCall(Round_CUDA(count, values, single_.data(), stream));
#else
  (void)stream;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KeptValues::Widened(Array<Scalar> *values, Stream stream) const
{
  PetscFunctionBegin;
  PetscCall(values->Allocate(single_.size(), single_.space()));
  if (single_.space() == Space::Host)
    for (size_t k = 0; k < single_.size(); k++) values->data()[k] = Widen(single_.data()[k]);
#if defined(SPARSEGPU_HAVE_CUDA)
  if (single_.space() == Space::Device)
    PetscCall(Widen_CUDA(static_cast<PetscCount>(single_.size()), single_.data(), values->data(), stream));
#else
  (void)stream;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RoundingLoses(const Scalar *values, PetscCount count, const PetscInt *diagonal, PetscInt rows,
                             Space space, bool *loses)
{
  int found = 0;

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space == Space::Device) {
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(RoundingLoses_CUDA(values, count, diagonal, rows, &found, stream));
  }
#endif
  if (space == Space::Host) {
    for (PetscCount k = 0; k < count; k++) found |= TooLarge(values[k]);
    for (PetscInt r = 0; r < rows; r++) found |= Vanishes(values[diagonal[r]]);
  }
  *loses = found != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::trisolve
