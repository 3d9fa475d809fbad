/// A solve asks once which rows have ghosts; the reducer lives as long as the solver, or as the peers.
#include "ksp/common/ranks.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ksp
{

PetscErrorCode Ranks::Begin(Mat A, Space vectors, bool there)
{
  std::string why;

  PetscFunctionBegin;
  active_ = csr_ = false;
  Gate(nullptr, 0);
  PetscCall(GetBlocksForSolve(A, vectors, &blocks_, there));
  if (!blocks_.channel) PetscFunctionReturn(PETSC_SUCCESS);
  const std::shared_ptr<comm::Peers> &peers = blocks_.channel->peers();
  if (!reducer_.made() || peers_ != peers.get()) {
    PetscCall(reducer_.Create(peers, blocks_.channel->timeout(), &why));
    if (!why.empty()) {
      PetscCall(PetscInfo(A, "No sums over ranks by peer memory: %s\n", why.c_str()));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    peers_ = peers.get();
  }
  active_ = true;
  if (blocks_.space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  const Csr *csr = AsCsr(blocks_.off);
  csr_           = csr && csr->Layout().chunks == 0;
  if (csr_) {
    off_ = csr->Layout();
    PetscCall(MarkGhosts(off_.rows));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ranks::MarkGhosts(PetscInt rows)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  Stream stream;
  PetscCall(DeviceStream(&stream));
  PetscCall(with_ghosts_.Reserve(static_cast<size_t>(rows / 32 + 1) * sizeof(std::uint32_t)));
  PetscCall(MarkRows_CUDA(off_, static_cast<std::uint32_t *>(with_ghosts_.data()), stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ranks::Free()
{
  PetscFunctionBegin;
  active_ = csr_ = false;
  reducer_.Free();
  PetscCall(with_ghosts_.Free());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ranks::Next(bool complete)
{
  PetscFunctionBegin;
  PetscCall(blocks_.channel->Next(&exchange_));
  Last();
  exchange_.complete = complete && blocks_.complete;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Ranks::Last()
{
  exchange_            = blocks_.channel->Current();
  exchange_.stopped_at = stopped_at_;
  exchange_.number     = number_;
}

PetscErrorCode Ranks::Check()
{
  PetscFunctionBegin;
  if (!active_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(blocks_.channel->Check());
  PetscCall(reducer_.Check());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SumOverProcesses(MPI_Comm comm, Ranks *ranks, PetscReal *sums, PetscMPIInt count)
{
  Scalar values[comm::ReduceSide::VALUES];

  PetscFunctionBegin;
  if (!ranks || !ranks->active()) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, count, MPIU_REAL, MPIU_SUM, comm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscMPIInt k = 0; k < count; k++) values[k] = Scalar(sums[k]);
  PetscCall(ranks->reducer().Sum(count, values, nullptr));
  for (PetscMPIInt k = 0; k < count; k++) sums[k] = RealPart(values[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ksp
