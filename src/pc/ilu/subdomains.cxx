/// The subdomains of a factor: the cut, its order of elimination, and solves that keep subdomains together.
#include "petsc/compat.hpp"
#include "pc/ilu/factor.hpp"
#include "pc/subdomains/solve.hpp"

namespace sparsegpu::ilu
{

/// *row and *column become the order that the cut takes, for the caller to destroy where they differ from those given.
PetscErrorCode Factor::MakeSubdomains(const MatrixRows &A, IS *row, IS *column, Space space)
{
  const PetscInt  n      = A.csr.rows;
  const bool      pays   = space == Space::Device && options.engine == Engine::Auto;
  const PetscInt  wanted = !subdomains.automatic ? subdomains.count : pays ? AutomaticCount(n) : 1;
  const PetscInt *r, *c;
  PetscBool       natural[2], same;
  HostRows        host;

  PetscFunctionBegin;
  cut_  = Cut();
  kept_ = A.csr.nonzeros;
  if (wanted == 1 || n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(host.Take(A, false));
  PetscCall(MatGetBlockSize(A.matrix, &host.csr.block_size));
  PetscCall(ISIdentity(*row, &natural[0]));
  PetscCall(ISIdentity(*column, &natural[1]));
  PetscCall(ISEqual(*row, *column, &same));
  PetscCall(ISGetIndices(*row, &r));
  PetscCall(ISGetIndices(*column, &c));
  const PetscInt *given = natural[0] && natural[1] ? nullptr : r;
  PetscCall(MakeCut(host.csr, wanted, subdomains.kind, given, same ? given : c, &cut_));
  PetscCall(ISRestoreIndices(*row, &r));
  PetscCall(ISRestoreIndices(*column, &c));
  if (cut_.row.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, cut_.row.data(), PETSC_COPY_VALUES, row));
  if (cut_.column.empty()) {
    PetscCall(PetscObjectReference((PetscObject)*row));
    *column = *row;
  } else {
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, cut_.column.data(), PETSC_COPY_VALUES, column));
  }
  cut_.row = cut_.column = std::vector<PetscInt>();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::NewSolver(std::unique_ptr<Trisolve> *solver) const
{
  const bool cut = cut_.count > 1 && options.engine == Engine::Auto;

  PetscFunctionBegin;
  if (space_ == Space::Host) {
    if (cut)
      PetscCallCXX(*solver = std::make_unique<HostSubdomains>(cut_.begin));
    else
      PetscCallCXX(*solver = MakeTrisolve_Host(options.engine));
  }
#if defined(SPARSEGPU_HAVE_CUDA)
  if (space_ == Space::Device) {
    bool fits = false;
    if (cut) PetscCall(DeviceSubdomains::Fits(cut_.largest, &fits));
    if (cut && !fits)
      PetscCall(PetscInfo(nullptr,
                          "A subdomain of %" PetscInt_FMT " rows does not fit shared memory: rows are solved "
                          "with as without subdomains\n",
                          cut_.largest));
    if (fits)
      PetscCallCXX(*solver = std::make_unique<DeviceSubdomains>(cut_.begin));
    else
      PetscCallCXX(*solver = MakeTrisolve(options.engine));
  }
#endif
  if (*solver) (*solver)->options = options;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ilu
