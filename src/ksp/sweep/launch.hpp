/// The launchers of fused sweeps, one a format; see FusedSweep().
#pragma once

#include "ksp/sweep/names.hpp"
#include "ksp/sweep/sweep.hpp"
#include "mat/formats/bsr/bsr.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/dia/dia.hpp"
#include "mat/formats/ell/ell.hpp"
#include "mat/formats/sell/sell.hpp"
#include "mat/formats/stencil/stencil.hpp"

namespace sparsegpu::sweep
{

constexpr PetscInt JACOBI_DIAGONALS = 256; ///< at most, of dia: their list is in shared memory

PetscErrorCode DiaJacobi_CUDA(const DiaLayout &A, const JacobiSweep &sweep, const JacobiControl &control,
                              Stream stream);
PetscErrorCode EllJacobi_CUDA(const EllLayout &A, const JacobiSweep &sweep, const JacobiControl &control,
                              Stream stream);
PetscErrorCode StencilJacobi_CUDA(const StencilLayout &A, const JacobiSweep &sweep, const JacobiControl &control,
                                  Stream stream);
/// Of matrices without chunks, as the next two.
PetscErrorCode CsrJacobi_CUDA(const CsrLayout &A, const JacobiSweep &sweep, const JacobiControl &control,
                              Stream stream);
PetscErrorCode SellJacobi_CUDA(const SellLayout &A, const ValueLayout &a, const JacobiSweep &sweep,
                               const JacobiControl &control, Stream stream);
PetscErrorCode BsrJacobi_CUDA(const BsrLayout &A, const ValueLayout &a, const JacobiSweep &sweep,
                              const JacobiControl &control, Stream stream);
/// The thread blocks of CsrJacobi_CUDA(), whose norms are added in their order.
PetscErrorCode CsrJacobiBlocks_CUDA(const CsrLayout &A, unsigned *blocks);

} // namespace sparsegpu::sweep
