/// A solve takes the same decisions as a product does (settings, choice of a format, conversion), before it begins.
#include "mat/face/solver_access.hpp"
#include <cstring>
#include "mat/face/context.hpp"
#include "mat/face/parallel_away.hpp"

namespace sparsegpu::face
{

PetscErrorCode MatVersion(Mat A, Version *version)
{
  PetscBool seq, mpi;
  Context  *context;

  PetscFunctionBegin;
  *version = 0;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq && !mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  PetscCall(GetVersion(A, context, version));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceServes(const Settings &settings, Space vectors, bool *serves)
{
  const Backend backend = settings.bound_to_cpu ? Backend::Kokkos : settings.backend;
  PetscBool     found;

  PetscFunctionBegin;
  *serves = false;
  if (backend == Backend::Kokkos) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(PETSC_HAVE_CUDA) // vectors on the host are there on purpose
  if (vectors == Space::Host && backend == Backend::Auto) PetscFunctionReturn(PETSC_SUCCESS);
#endif
  PetscCall(DeviceFound(&found));
  *serves = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormatForSolve(Mat A, Space vectors, Format **format, PetscInt *nonzeros)
{
  PetscBool        seq, mpi;
  Context         *context;
  ConvertedMatrix *converted;
  bool             serves;

  PetscFunctionBegin;
  *format = nullptr;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (!seq) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  PetscCall(DeviceServes(context->settings, vectors, &serves));
  if (!serves) PetscFunctionReturn(PETSC_SUCCESS);
  context->read_here = true;
  PetscCall(GetConverted(A, context, Operation::Normal, Space::Device, Use::Solve, &converted));
  *format = converted->format.get();
  if (nonzeros) *nonzeros = converted->pattern.nonzeros;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostBytesForSolve(Mat A, PetscLogDouble *bytes)
{
  Context         *context;
  ConvertedMatrix *converted;

  PetscFunctionBegin;
  PetscCall(GetContext(A, &context));
  PetscCall(Decide(A, context));
  context->read_here = true;
  PetscCall(GetConverted(A, context, Operation::Normal, Space::Host, Use::Prepare, &converted));
  *bytes = converted->format->BytesStored();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KeepsRounded(Mat A, bool *keeps)
{
  PetscBool   seq, mpi;
  PetscMPIInt any       = 0;
  Mat         blocks[2] = {A, nullptr};

  PetscFunctionBegin;
  PetscCall(IsOurs(A, &seq, &mpi));
  if (mpi) PetscCall(GetBlocks(A, blocks));
  for (Mat block : blocks) {
    Context *context;
    if (!block) continue;
    PetscCall(IsOurs(block, &seq, &mpi));
    if (!seq) continue;
    PetscCall(GetContext(block, &context));
    for (const auto &space : context->converted)
      for (const ConvertedMatrix &converted : space) any |= converted.format && converted.format->BytesRounded() > 0;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  *keeps = any;
  PetscFunctionReturn(PETSC_SUCCESS);
}

Csr *AsCsr(Format *format)
{
  return strcmp(format->Name(), "csr") ? nullptr : static_cast<Csr *>(format);
}

PetscErrorCode BuildCsrForSolve(Mat A, std::unique_ptr<Format> *format)
{
  CsrView view;

  PetscFunctionBegin;
  PetscCall(GetCsr(A, &view, nullptr));
  std::unique_ptr<Format> built = MakeFormat("csr");
  PetscCall(built->Build(view, FormatOptions(), Space::Device));
  *format = std::move(built);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
