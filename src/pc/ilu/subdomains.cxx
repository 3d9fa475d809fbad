/// The subdomains of a factor: the cut, its order of elimination, and solves that keep subdomains together.
#include "pc/ilu/factor.hpp"
#include <algorithm>
#include "pc/subdomains/solve.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ilu
{

/// The cut, and the order of elimination that it takes in place of the given one, in cut_ or in device_cut_.
PetscErrorCode Factor::MakeSubdomains(const MatrixRows &A, IS row, IS column, Space space)
{
  const PetscInt n      = A.csr.rows;
  const bool     pays   = space == Space::Device && options.engine == Engine::Auto;
  const PetscInt wanted = !subdomains.automatic ? subdomains.count : pays ? AutomaticCount(n) : 1;
  PetscBool      natural[2];
  HostRows       host;

  PetscFunctionBegin;
  cut_        = Cut();
  device_cut_ = DeviceCut();
  kept_       = A.csr.nonzeros;
  if (wanted == 1 || n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(host.Take(A, false));
  PetscCall(MatGetBlockSize(A.matrix, &host.csr.block_size));
  PetscCall(ISIdentity(row, &natural[0]));
  PetscCall(ISIdentity(column, &natural[1]));
#if defined(SPARSEGPU_HAVE_CUDA)
  if (natural[0] && natural[1] && space == Space::Device && subdomains.kind == CutKind::Auto) {
    GridCut grid;
    bool    found;
    PetscCall(FindBoxes(host.csr, wanted, &grid, &found));
    if (found) {
      Stream stream;
      PetscCall(DeviceStream(&stream));
      PetscCall(CutOnDevice(grid, &cut_, &device_cut_.of_row, &device_cut_.row, stream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  PetscCall(CutOnHost(host.csr, wanted, row, column, natural[0] && natural[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor::CutOnHost(const CsrView &A, PetscInt count, IS row, IS column, bool natural)
{
  const PetscInt *r, *c;
  PetscBool       same;

  PetscFunctionBegin;
  if (natural) {
    PetscCall(MakeCut(A, count, subdomains.kind, nullptr, nullptr, &cut_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ISEqual(row, column, &same));
  PetscCall(ISGetIndices(row, &r));
  PetscCall(ISGetIndices(column, &c));
  PetscCall(MakeCut(A, count, subdomains.kind, r, same ? r : c, &cut_));
  PetscCall(ISRestoreIndices(row, &r));
  PetscCall(ISRestoreIndices(column, &c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The cut's arrays on the host, where they were made on the device.
PetscErrorCode Factor::BringCutHome()
{
  PetscFunctionBegin;
  if (device_cut_.row.size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(cut_.row.resize(device_cut_.row.size()));
  PetscCallCXX(cut_.of_row.resize(device_cut_.of_row.size()));
  PetscCall(device_cut_.row.ToHost(cut_.row.data()));
  PetscCall(device_cut_.of_row.ToHost(cut_.of_row.data()));
  device_cut_ = DeviceCut();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The largest shift that a positive definite matrix can need: the worst lack of diagonal dominance, plus a tenth.
PetscErrorCode Factor::TopShift(const MatrixRows &A, PetscReal *top) const
{
  std::vector<PetscInt> of_row;
  HostRows              host;

  PetscFunctionBegin;
  PetscCall(host.Take(A)); // rarely needed
  PetscCall(MatGetBlockSize(A.matrix, &host.csr.block_size));
  const CsrView  &csr = host.csr;
  const PetscInt *row = cut_.of_row.data(), *column = cut_.OfColumn();
  if (cut_.count > 1 && cut_.of_row.empty()) { // it was made on the device, and forgotten
    bool found;
    PetscCall(CutBoxes(csr, cut_.count, &of_row, &found));
    PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The pattern of the matrix has changed");
    row = column = of_row.data();
  }
  *top = 0;
  for (PetscInt r = 0; r < csr.rows; r++) {
    PetscReal lack = 0;
    for (PetscInt e = csr.i[r]; e < csr.i[r + 1]; e++)
      if (cut_.count == 1 || row[r] == column[csr.j[e]])
        lack += csr.j[e] == r ? -RealPart(csr.a[e]) : Magnitude(csr.a[e]);
    *top = std::max(*top, lack);
  }
  *top *= static_cast<PetscReal>(1.1);
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
