/// On one process, or where one has all rows of the level, sums are read by the next update where they were made; of
/// several they are added up by MPI, on the host.
#include "pc/amg/krylov.hpp"
#include <petsc/private/petscimpl.h>
#include "device/backend_call.hpp"
#include "device/vectors.hpp"
#include "pc/amg/arrays.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::amg
{

namespace
{
/// Row by row, one after the other: the bits repeat.
PetscErrorCode Dots_Host(PetscInt rows, const DotPairs &pairs, int count, Scalar *sums)
{
  PetscFunctionBegin;
  for (int c = 0; c < count; c++) {
    const Scalar *const left = pairs.left[c], *const right = pairs.right[c];
    Scalar sum(0);
    for (PetscInt k = 0; k < rows; k++) sum += Conj(left[k]) * right[k];
    sums[c] = sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// w^H A v = (v^H A w)^*, or, if `symmetric`, w^T A v = v^T A w?
PetscErrorCode IsMirroredForSome(Mat A, bool symmetric, bool *mirrored)
{
  const auto  dot = symmetric ? VecTDot : VecDot;
  Vec         v, w, image;
  PetscRandom random;
  PetscScalar one, other;
  PetscReal   norms[2];

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &v, &image));
  PetscCall(VecDuplicate(v, &w));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)A), &random)); // of a fixed seed
  PetscCall(VecSetRandom(v, random));
  PetscCall(VecSetRandom(w, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatMult(A, w, image));
  PetscCall((*dot)(image, v, &other));
  PetscCall(MatMult(A, v, image));
  PetscCall((*dot)(image, w, &one));
  PetscCall(VecNorm(image, NORM_2, &norms[0]));
  PetscCall(VecNorm(w, NORM_2, &norms[1]));
  if (!symmetric) other = PetscConj(other);
  *mirrored = PetscAbsScalar(one - other) <= PETSC_SQRT_MACHINE_EPSILON * norms[0] * norms[1];
  for (Vec *u : {&v, &w, &image}) PetscCall(VecDestroy(u));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode IsHermitian(Mat A, Mat coarse, bool *hermitian)
{
  PetscBool known, is;

  PetscFunctionBegin;
  PetscCall(MatIsSPDKnown(A, &known, &is));
  *hermitian = known && is;
  PetscCall(PetscDefined(USE_COMPLEX) ? MatIsHermitianKnown(A, &known, &is) : MatIsSymmetricKnown(A, &known, &is));
  if (known && !*hermitian) *hermitian = is;
  if (!known && !*hermitian) PetscCall(IsMirroredForSome(coarse, false, hermitian));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NeedsConjugates(Mat A, bool *needs)
{
  bool symmetric = false;

  PetscFunctionBegin;
  *needs = false;
  if (!PetscDefined(USE_COMPLEX)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(IsHermitian(A, A, needs));
  if (*needs) PetscCall(IsMirroredForSome(A, true, &symmetric));
  *needs = *needs && !symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FlexibleSteps::Clear()
{
  PetscFunctionBegin;
  for (Vec *v : {&first_, &image_, &residual_}) PetscCall(VecDestroy(v));
  device_  = Array<Scalar>();
  partial_ = Array<Scalar>();
  arrived_ = Array<unsigned>();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FlexibleSteps::SetUp(Vec like, PetscInt processes, bool hermitian)
{
  PetscFunctionBegin;
  processes_ = processes;
  hermitian_ = hermitian;
  if (first_) PetscFunctionReturn(PETSC_SUCCESS);
  for (Vec *v : {&first_, &image_, &residual_}) PetscCall(VecDuplicate(like, v));
  Space space;
  PetscCall(SpaceOf(like, &space));
  if (space == Space::Device) PetscCall(RoomOnDevice());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FlexibleSteps::RoomOnDevice()
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (device_.size()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(partial_.Allocate(DotsScratch_CUDA(), Space::Device));
  PetscCall(arrived_.Allocate(1, Space::Device));
  PetscCall(DotsBegin_CUDA(arrived_.data()));
  PetscCall(device_.Allocate(STEP_SUMS, Space::Device));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The sums of all processes.
PetscErrorCode FlexibleSteps::AddUp(Space space, size_t at, int count)
{
  Stream stream;

  PetscFunctionBegin;
  if (processes_ == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscInt rows;
  PetscCall(VecGetLocalSize(first_, &rows));
  if (space == Space::Device) PetscCall(DeviceStream(&stream));
  if (space == Space::Device && rows > 0) {
    PetscCall(DeviceCopyOut(host_ + at, device_.data() + at, (size_t)count * sizeof(Scalar), stream));
    PetscCall(DeviceSynchronize(stream));
  } else if (rows == 0) {
    for (int c = 0; c < count; c++) host_[at + (size_t)c] = Scalar(0);
  }
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, host_ + at, count, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)first_)));
  if (space == Space::Device)
    PetscCall(DeviceCopyIn(device_.data() + at, host_ + at, (size_t)count * sizeof(Scalar), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// sums[at + c] = left[c]^H right[c], where all of these vectors are.
template <int COUNT> PetscErrorCode FlexibleSteps::Dots(const Vec (&left)[COUNT], const Vec (&right)[COUNT], size_t at)
{
  Vec      read[2 * COUNT];
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(first_, &rows));
  for (int c = 0; c < COUNT; c++) {
    read[c]         = left[c];
    read[COUNT + c] = right[c];
  }
  const auto add = [&](Space space, const Scalar *const *from, Scalar *) {
    DotPairs pairs = {};

    PetscFunctionBegin;
    for (int c = 0; c < COUNT; c++) {
      pairs.left[c]  = from[c];
      pairs.right[c] = from[COUNT + c];
    }
    space_ = space;
    if (space == Space::Device) PetscCall(RoomOnDevice());
    PetscCall(SPARSEGPU_LAUNCH(space,
                               Dots_CUDA(rows, pairs, COUNT, partial_.data(), arrived_.data(), device_.data() + at),
                               Dots_Host(rows, pairs, COUNT, host_ + at)));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (rows > 0) PetscCall(WithArrays(read, nullptr, Access::Read, add));
  PetscCall(AddUp(space_, at, COUNT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FlexibleSteps::SumsIn(Space space, const Scalar **sums) const
{
  PetscFunctionBegin;
  PetscCheck(space == space_, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Sums of a K-cycle are not where its vectors are");
  *sums = space == Space::Device ? device_.data() : host_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The sums of the first step, and the residual after it.
PetscErrorCode FlexibleSteps::EndFirst(Vec b)
{
  const Vec tested  = hermitian_ ? first_ : image_;
  const Vec left[2] = {tested, tested}, right[2] = {image_, b}, read[2] = {b, image_};
  PetscInt  rows;

  PetscFunctionBegin;
  PetscCall(Dots(left, right, FIRST_SQUARE));
  PetscCall(VecGetLocalSize(b, &rows));
  PetscCall(PetscObjectStateIncrease((PetscObject)residual_)); // on all processes
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WithArrays(read, residual_, Access::Write, [&](Space space, const Scalar *const *from, Scalar *to) {
    const Scalar *sums = nullptr;

    PetscFunctionBegin;
    PetscCall(SumsIn(space, &sums));
    PetscCall(ForEach(space, rows, FirstResidual{sums, from[0], from[1], to}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The sums of the second step, whose direction is x; x becomes the solution of both.
PetscErrorCode FlexibleSteps::EndSecond(Vec product, Vec x)
{
  const Vec tested  = hermitian_ ? x : product;
  const Vec left[3] = {image_, tested, tested}, right[3] = {tested, product, residual_}, read[1] = {first_};
  PetscInt  rows;

  PetscFunctionBegin;
  PetscCall(Dots(left, right, BOTH));
  PetscCall(VecGetLocalSize(x, &rows));
  PetscCall(PetscObjectStateIncrease((PetscObject)x));
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WithArrays(read, x, Access::ReadWrite, [&](Space space, const Scalar *const *from, Scalar *to) {
    const Scalar *sums = nullptr;

    PetscFunctionBegin;
    PetscCall(SumsIn(space, &sums));
    PetscCall(ForEach(space, rows, CombineSteps{sums, from[0], to}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
