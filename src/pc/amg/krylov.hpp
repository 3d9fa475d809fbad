/// Two steps of a flexible Krylov method for a level of a K-cycle: the cycles below are its preconditioner, which is
/// another operator in each step. Notay & Vassilevski, Numer. Linear Algebra Appl. 15(5), 2008: conjugate gradients of
/// Hermitian operators, generalized conjugate residuals of others, which large contrasts of coefficients mislead.
/// Always two steps: nothing is asked of the norms, so that the host need not hear of them. Sums stay where the vectors
/// are.
#pragma once

#include <petscmat.h>
#include "device/buffer.hpp"
#include "pc/amg/update.hpp"

namespace sparsegpu::amg
{

/// Products of up to three pairs of vectors, left^H right.
struct DotPairs {
  static constexpr int MOST = 3;

  const Scalar *left[MOST], *right[MOST];
};

/// sums[c] = left[c]^H right[c] for c < count, which is 2 or 3, on the device. `partial` and `arrived` are scratch,
/// *arrived is 0. Asynchronous; the bits repeat.
PetscErrorCode Dots_CUDA(PetscInt rows, const DotPairs &pairs, int count, Scalar *partial, unsigned *arrived,
                         Scalar *sums);
/// Entries that `partial` has to have.
size_t DotsScratch_CUDA();
/// Sets *arrived to 0, asynchronously.
PetscErrorCode DotsBegin_CUDA(unsigned *arrived);

/// Whether A is Hermitian: known of it, or so for a pair of vectors of random numbers on `coarse`, the next level, but
/// for rounding. Collective.
PetscErrorCode IsHermitian(Mat A, Mat coarse, bool *hermitian);
/// Whether A is Hermitian, as IsHermitian() has it, and not symmetric, so that its prolongators are complex and P^H,
/// not P^T, restricts. Collective.
PetscErrorCode NeedsConjugates(Mat A, bool *needs);

class FlexibleSteps
{
public:
  FlexibleSteps()                                 = default;
  FlexibleSteps(const FlexibleSteps &)            = delete;
  FlexibleSteps &operator=(const FlexibleSteps &) = delete;
  ~FlexibleSteps() { PetscCallAbort(PETSC_COMM_SELF, Clear()); }

  /// For vectors like `like`, of a level of which `processes` processes have rows. Collective.
  PetscErrorCode SetUp(Vec like, PetscInt processes, bool hermitian);
  PetscErrorCode Clear();
  /// x ~ A^-1 b by apply(r, z), z ~ A^-1 r, twice; `product` is scratch. Collective.
  template <class Apply> PetscErrorCode Run(Mat A, Vec b, Vec product, Vec x, const Apply &apply)
  {
    PetscFunctionBegin;
    PetscCall(apply(b, first_));
    PetscCall(MatMult(A, first_, image_));
    PetscCall(EndFirst(b));
    PetscCall(apply(residual_, x));
    PetscCall(MatMult(A, x, product));
    PetscCall(EndSecond(product, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode                      EndFirst(Vec b);
  PetscErrorCode                      EndSecond(Vec product, Vec x);
  template <int COUNT> PetscErrorCode Dots(const Vec (&left)[COUNT], const Vec (&right)[COUNT], size_t at);
  PetscErrorCode                      RoomOnDevice();
  PetscErrorCode                      AddUp(Space space, size_t at, int count);
  PetscErrorCode                      SumsIn(Space space, const Scalar **sums) const;

  Vec             first_ = nullptr, image_ = nullptr, residual_ = nullptr; ///< direction, A of it, residual after it
  PetscInt        processes_ = 1;
  bool            hermitian_ = false;
  Space           space_     = Space::Host; ///< of the sums that are up to date
  Scalar          host_[STEP_SUMS];
  Array<Scalar>   device_, partial_; ///< [STEP_SUMS], [DotsScratch_CUDA()]
  Array<unsigned> arrived_;
};

} // namespace sparsegpu::amg
