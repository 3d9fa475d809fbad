/// Engine `isai`: incomplete sparse approximate inverses M of the factors, so that a solve is two products. Anzt,
/// Huckle, Braeckle, Dongarra, "Incomplete sparse approximate inverses for parallel preconditioning", Parallel
/// Computing 71, 2018. Of the lower factor L a row of M has the pattern S of that row of L, or of L^2, and (M L)_ij =
/// I_ij on S: a triangular system of as many unknowns as the row has entries. Of the upper factor U a column of M has
/// the pattern of that column, and (U M)_ij = I_ij. So M of L^T is the transpose of M of L: the engine on the
/// transposed factors gives the transposed solve, and the preconditioner of a symmetric factorization is symmetric.
/// Relaxation: y <- y + M (b - L y), each of which costs a product with L and one with M.
#pragma once

#include "pc/trisolve/host.hpp"
#include "pc/trisolve/kept.hpp"
#include "pc/trisolve/schedule.hpp"
#include "pc/trisolve/transpose.hpp"

namespace sparsegpu::trisolve
{

/// The pattern of both inverses in one CSR, as FactorView has that of the factors; that of L^2 and U^2. For power 1 it
/// is the factors' own.
struct InversePattern {
  Array<PetscInt> i, j, diagonal;

  /// In the space of F. May wait. Errors: PETSC_ERR_ARG_OUTOFRANGE if entries are too many for PetscInt.
  PetscErrorCode Build(const FactorView &F, Space space);
  FactorView     View(const FactorView &F) const;
  size_t         Bytes() const { return i.bytes() + j.bytes() + diagonal.bytes(); }
};

/// On the device.
class Isai : public WithoutLevels
{
public:
  PetscErrorCode Analyse(const FactorView &factors, Stream stream) override;
  PetscErrorCode SetValues(const Scalar *values, Stream stream) override;
  PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream stream) override;
  size_t         Bytes() const override;

private:
  PetscErrorCode Half(bool upper, const Scalar *in, Scalar *out, Stream stream);
  PetscErrorCode Product(bool upper, const Scalar *in, const PetscInt *in_at, const Scalar *base, Scalar *out,
                         const PetscInt *out_at, Stream stream);

  InversePattern    pattern_;            ///< of power 2
  FactorView        inverse_ = {};       ///< the pattern of the inverses
  TransposedFactors transposed_;         ///< the factors
  TransposedFactors transposed_inverse_; ///< the pattern of power 2
  Array<Scalar>     wide_;  ///< [entries of inverse_] the diagonal's place holds that of the factor that carries it
  KeptValues        m_, a_; ///< the inverses; the factors, for relaxation
  Array<Scalar>     lower_, upper_, residual_; ///< [rows]
};

/// On the host, in parallel by Kokkos.
class HostIsai : public Trisolve
{
public:
  PetscErrorCode Analyse(const FactorView &factors, Stream) override;
  PetscErrorCode SetValues(const Scalar *values, Stream) override;
  PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream) override;
  size_t         Bytes() const override;

private:
  PetscErrorCode Half(bool upper, const Scalar *in, Scalar *out);
  PetscErrorCode Product(bool upper, const Scalar *in, const PetscInt *in_at, const Scalar *base, Scalar *out,
                         const PetscInt *out_at);

  FactorView          factors_ = {};
  InversePattern      pattern_;
  FactorView          inverse_ = {};
  HostTransposed      transposed_, transposed_inverse_;
  Array<Scalar>       wide_;
  KeptValues          m_, a_;
  std::vector<Scalar> lower_, upper_, residual_;
};

} // namespace sparsegpu::trisolve
