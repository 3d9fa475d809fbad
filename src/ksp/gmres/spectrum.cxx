/// What the last cycle tells of the preconditioned operator: eigenvalues of the Hessenberg matrix, and extreme singular
/// values of its triangle, which are those of the matrix with its last row.
#include <algorithm>
#include "ksp/gmres/gmres.hpp"

namespace sparsegpu::gmres
{

/// The singular values of the n x n upper triangle r, from its columns made orthogonal to each other by rotations. One
/// sided: small values are as exact as large ones. Hestenes, J. SIAM 6(1), 1958.
static PetscErrorCode SingularValues(const Scalar *r, PetscInt stride, PetscInt n, std::vector<PetscReal> *values)
{
  constexpr int       SWEEPS = 60; // a handful, and a few more for every power of ten of the condition
  std::vector<Scalar> a;           // [n * n] by columns

  PetscFunctionBegin;
  PetscCallCXX(a.assign(static_cast<size_t>(n) * n, Scalar(0)));
  for (PetscInt c = 0; c < n; c++)
    std::copy_n(r + static_cast<size_t>(c) * stride, c + 1, a.data() + static_cast<size_t>(c) * n);
  bool rotated = true;
  for (int sweep = 0; sweep < SWEEPS && rotated; sweep++) {
    rotated = false;
    for (PetscInt p = 0; p < n; p++)
      for (PetscInt q = p + 1; q < n; q++) {
        Scalar *const u = a.data() + static_cast<size_t>(p) * n, *const v = a.data() + static_cast<size_t>(q) * n;
        PetscReal uu = 0, vv = 0;
        Scalar    uv(0);
        for (PetscInt k = 0; k < n; k++) {
          uu += SquareOf(u[k]);
          vv += SquareOf(v[k]);
          uv += Conj(u[k]) * v[k];
        }
        const PetscReal size = Magnitude(uv);
        if (!(size > PETSC_MACHINE_EPSILON * SquareRoot(uu) * SquareRoot(vv))) continue;
        rotated                = true;
        const PetscReal zeta   = (vv - uu) / (2 * size);
        const PetscReal t      = (zeta >= 0 ? 1 : -1) / (PetscAbsReal(zeta) + SquareRoot(1 + zeta * zeta));
        const PetscReal cosine = 1 / SquareRoot(1 + t * t);
        const Scalar    phase = Quotient(uv, size), sine = Scalar(cosine * t) * phase;
        for (PetscInt k = 0; k < n; k++) {
          const Scalar uk = u[k], vk = v[k];
          u[k] = Scalar(cosine) * uk - Conj(sine) * vk;
          v[k] = sine * uk + Scalar(cosine) * vk;
        }
      }
  }
  PetscCallCXX(values->assign(n, 0));
  for (PetscInt c = 0; c < n; c++) {
    PetscReal square = 0;
    for (PetscInt k = 0; k < n; k++) square += SquareOf(a[static_cast<size_t>(c) * n + k]);
    (*values)[c] = SquareRoot(square);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeExtremeSingularValues_SparseGPUGMRES(KSP ksp, PetscReal *most, PetscReal *least)
{
  const Gmres           *gmres = GmresOf(ksp);
  std::vector<PetscReal> values;

  PetscFunctionBegin;
  *most = *least = 1;
  if (gmres->known == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const Hessenberg &H = gmres->arnoldi.Triangle();
  PetscCall(SingularValues(H.r, H.stride, gmres->known, &values));
  const auto range = std::minmax_element(values.begin(), values.end());
  *least           = *range.first;
  *most            = *range.second;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeEigenvalues_SparseGPUGMRES(KSP ksp, PetscInt room, PetscReal *re, PetscReal *im,
                                                    PetscInt *count)
{
  const Gmres *gmres = GmresOf(ksp);
  Mat          H;
  KSP          dense;
  PC           pc;
  PetscScalar *entries;
  PetscInt     n = gmres->known;

  PetscFunctionBegin;
  PetscCheck(room >= n, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_SIZ,
             "There are %" PetscInt_FMT " eigenvalues, and room for %" PetscInt_FMT, n, room);
  *count = n;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, nullptr, &H));
  PetscCall(MatDenseGetArrayWrite(H, &entries));
  const PetscInt stride = gmres->arnoldi.Triangle().stride;
  for (PetscInt c = 0; c < n; c++)
    for (PetscInt r = 0; r < n; r++)
      reinterpret_cast<Scalar *>(entries)[static_cast<size_t>(c) * n + r] =
          r <= c + 1 ? gmres->arnoldi.Operator()[static_cast<size_t>(c) * stride + r] : Scalar(0);
  PetscCall(MatDenseRestoreArrayWrite(H, &entries));
  PetscCall(MatAssemblyBegin(H, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(H, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &dense)); // PETSc's way to LAPACK
  PetscCall(KSPSetOperators(dense, H, H));
  PetscCall(KSPGetPC(dense, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetType(dense, KSPRICHARDSON));
  PetscCall(KSPSetUp(dense));
  PetscCall(KSPComputeEigenvaluesExplicitly(dense, n, re, im));
  PetscCall(KSPDestroy(&dense));
  PetscCall(MatDestroy(&H));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
