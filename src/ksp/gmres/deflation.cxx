/// The space is found on the host, by one process for all; the columns are combined where the basis is.
#include "ksp/gmres/deflation.hpp"
#include "petsc/compat.hpp"
#include "petsc/on_all.hpp"

namespace sparsegpu::gmres
{

PetscErrorCode Deflation::Allocate(Vec like, PetscInt most, bool own_operands, bool device_only)
{
  PetscFunctionBegin;
  Forget();
  most_ = most;
  if (most > 0 && own_operands)
    PetscCall(operands_.Allocate(like, most, device_only));
  else
    PetscCall(operands_.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Deflation::Reserve(PetscInt steps, Space space)
{
  const size_t entries = static_cast<size_t>(most_) * (2 * static_cast<size_t>(steps) + 1);

  PetscFunctionBegin;
  if (space == Space::Device && coefficients_.size() < entries)
    PetscCall(coefficients_.Allocate(entries, Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Deflation::Free()
{
  PetscFunctionBegin;
  Forget();
  most_ = 0;
  PetscCall(operands_.Free());
  coefficients_ = Array<Scalar>();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All processes get what the first one has found: other bits of one would be another basis.
PetscErrorCode Deflation::Agree(MPI_Comm comm, PetscInt steps, KeptSpace *space) const
{
  const size_t images = static_cast<size_t>(steps + 1), operands = static_cast<size_t>(steps);
  PetscMPIInt  size, rank, count;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Bcast(&space->kept, 1, MPIU_INT, 0, comm));
  if (space->kept == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const size_t kept = static_cast<size_t>(space->kept);
  PetscCallCXX(space->image.resize(images * kept));
  PetscCallCXX(space->operand.resize(operands * kept));
  PetscCallCXX(space->inside.resize((kept + 1) * kept));
  for (std::vector<Scalar> *part : {&space->image, &space->operand, &space->inside}) {
    PetscCall(PetscMPIIntCast(static_cast<PetscInt>(part->size()), &count));
    PetscCallMPI(MPI_Bcast(part->data(), count, MPIU_SCALAR, 0, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Deflation::Renew(MPI_Comm comm, Arnoldi *arnoldi, PetscInt steps, Columns *basis,
                                Columns *preconditioned)
{
  KeptSpace   space;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(OnAll(comm, [&] {
    PetscFunctionBegin;
    if (rank > 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(arnoldi->ReadTriangle(steps));
    PetscCall(FindKeptSpace(arnoldi->Triangle(), steps, most_, space_, &space));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(Agree(comm, steps, &space));
  const PetscInt before = kept();
  space_                = std::move(space);
  if (kept() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  Columns *const head = preconditioned ? preconditioned : &operands_, *const tail = preconditioned ? head : basis;
  Recombination r{basis->view(), head->view(), tail->view(),        steps,
                  before,        kept(),       space_.image.data(), space_.operand.data()};
  if (basis->space() == Space::Host) {
    PetscCall(Recombine_Host(r));
  } else {
#if defined(SPARSEGPU_HAVE_CUDA)
    const size_t images = space_.image.size(), operands = space_.operand.size();
    Stream       stream;
    PetscCall(DeviceStream(&stream));
    r.image   = coefficients_.data();
    r.operand = coefficients_.data() + images;
    PetscCall(CopyFromHost(Space::Device, space_.image.data(), images, coefficients_.data()));
    PetscCall(CopyFromHost(Space::Device, space_.operand.data(), operands, coefficients_.data() + images));
    PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>((images + operands) * sizeof(Scalar))));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(Recombine_CUDA(r, stream));
    PetscCall(PetscLogGpuTimeEnd());
#endif
  }
  const PetscLogDouble flops = 2.0 * r.V.rows * (2 * steps + 1) * kept();
  PetscCall(basis->space() == Space::Host ? PetscLogFlops(flops) : PetscLogGpuFlops(flops));
  for (PetscInt q = 0; q < kept(); q++) {
    PetscCall(basis->Changed(q));
    if (preconditioned) PetscCall(preconditioned->Changed(q));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
