/// The largest eigenvalue of D^-1 A, which damping and smoothers are chosen by.
#include <petsc/private/matimpl.h>
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "mat/face/pieces.hpp"
#include "mat/rows/value_operations.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/arnoldi.hpp"
#include "pc/aggregate/lanczos.hpp"
#include "pc/aggregate/operations.hpp"
#include "pc/aggregate/source.hpp"
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::aggregate
{

PetscErrorCode BoundLargestEigenvalue(Mat A, Space space, PetscReal *largest)
{
  Source        source;
  Array<Scalar> sums;

  PetscFunctionBegin;
  *largest = 0;
  PetscCall(source.Take(A, space));
  const SparseRows &rows = source.rows;
  if (rows.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(sums.Allocate(static_cast<size_t>(rows.rows), space));
  PetscCall(
      ForEach(space, rows.rows,
              BoundRow(Graph{rows.rows, rows.nonzeros, rows.arrays.i, rows.arrays.j}, rows.arrays.a, sums.data())));
  PetscCall(values::Largest(space, rows.rows, sums.data(), largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Runs `operation`(array) for the local entries of v, which it writes, where these are.
template <class Operation> PetscErrorCode Write(Vec v, const Operation &operation)
{
  LocalArray array;
  Space      space;
  PetscInt   rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &rows));
  PetscCall(SpaceOf(v, &space));
  PetscCall(array.Get(v, space, Access::ReadWrite));
  if (!array.on_device()) space = Space::Host;
  PetscCall(ForEach(space, rows, operation(array.write())));
  PetscCall(array.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// left A right, of diagonal matrices, has the eigenvalues of D^-1 A, and is symmetric where A is.
struct Scaled {
  Mat A;
  Vec left = nullptr, right = nullptr, work = nullptr;

  PetscErrorCode SetUp(Vec like)
  {
    PetscFunctionBegin;
    for (Vec *v : {&left, &right, &work}) PetscCall(VecDuplicate(like, v));
    PetscCall(MatGetDiagonal(A, left));
    PetscCall(VecCopy(left, right));
    PetscCall(Write(left, [](Scalar *d) { return ScaleOfDiagonal{true, d}; }));
    PetscCall(Write(right, [](Scalar *d) { return ScaleOfDiagonal{false, d}; }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Mult(Vec x, Vec y)
  {
    PetscFunctionBegin;
    PetscCall(VecPointwiseMult(y, right, x));
    PetscCall(MatMult(A, y, work));
    PetscCall(VecPointwiseMult(y, left, work));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Destroy()
  {
    PetscFunctionBegin;
    for (Vec *v : {&left, &right, &work}) PetscCall(VecDestroy(v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// The vector to start from, which is always the same.
PetscErrorCode SetStart(Vec x)
{
  PetscInt first;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &first, nullptr));
  PetscCall(Write(x, [&](Scalar *entries) { return StartOfSearch{first, entries}; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What steps of Lanczos' method have found: the matrix in their basis.
struct Projection {
  PetscInt                 most, n = 0;      ///< steps allowed and made
  std::vector<PetscScalar> h;                ///< [most * most] by columns, n rows and columns of which are used
  bool                     hermitian = true; ///< if not, the steps ended there and `h` is of no use

  PetscScalar &At(PetscInt r, PetscInt c) { return h[static_cast<size_t>(c * most + r)]; }
  /// Step n: the products of its vector's image with the vector before (unless n = 0) and with itself; `norm` is that
  /// of what the step before has left, and `scale` the largest column so far.
  void Add(PetscScalar before, PetscScalar now, PetscReal norm, PetscReal scale)
  {
    // Of a Hermitian matrix M both sides of the diagonal are `norm`, but for rounding errors of some epsilon scale^2 /
    // norm; in the first step of another one they differ by (|M v|^2 - v^H M^2 v) / norm, v the first vector.
    const PetscReal slack = scale * PetscMax(PETSC_SQRT_MACHINE_EPSILON, 1000 * PETSC_MACHINE_EPSILON * scale / norm);
    if (n > 0) {
      At(n, n - 1) = norm;
      At(n - 1, n) = before;
      hermitian    = hermitian && !(PetscAbsScalar(before - norm) > slack); // NaN ends the steps without another try
    }
    At(n, n) = now;
    n++;
  }
};

/// Whether the steps end: nothing but rounding is left, so that an invariant subspace has been found, or no number is.
bool Ends(PetscReal norm, PetscReal scale)
{
  return !(norm > 100 * PETSC_MACHINE_EPSILON * scale) || PetscIsInfOrNanReal(norm);
}

/// The matrix of `scaled` in a basis of `most` vectors, each orthogonal to the two before it, as Lanczos makes it;
/// basis [3].
PetscErrorCode Project(Scaled *scaled, Vec *basis, Projection *found)
{
  PetscReal norm, scale = 0;

  PetscFunctionBegin;
  PetscCall(VecNorm(basis[0], NORM_2, &norm));
  for (PetscInt k = 0; k < found->most && found->hermitian && !Ends(norm, scale); k++) {
    const Vec   now = basis[k % 3], next = basis[(k + 1) % 3], before = basis[(k + 2) % 3];
    PetscScalar part = 0, diagonal;
    PetscCall(VecScale(now, 1 / norm));
    PetscCall(scaled->Mult(now, next));
    if (k > 0) {
      PetscCall(VecDot(next, before, &part));
      PetscCall(VecAXPY(next, -part, before));
    }
    PetscCall(VecDot(next, now, &diagonal));
    PetscCall(VecAXPY(next, -diagonal, now));
    found->Add(part, diagonal, norm, scale);
    PetscCall(VecNorm(next, NORM_2, &norm));
    scale = PetscMax(scale, PetscAbsScalar(diagonal) + norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SPARSEGPU_HAVE_CUDA)
/// Project() in `v`, which is set up, where y and z, of A's rows, are on the device of each process: of one process the
/// host does not wait in between. What comes after the last vector is not used.
PetscErrorCode ProjectThere(Mat A, Vec y, Vec z, LanczosVectors &v, Projection *found)
{
  LocalArray               array;
  PetscInt                 rows, first;
  PetscReal                norm, scale = 0;
  std::vector<LanczosSums> sums;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &rows));
  PetscCall(VecGetOwnershipRange(y, &first, nullptr));
  PetscCall(MatGetDiagonal(A, z));
  PetscCall(array.Get(z, Space::Device, Access::Read));
  Stream stream;
  PetscCall(DeviceStream(&stream));
  for (Scalar *copy : {v.left(), v.right()})
    PetscCall(DeviceCopyWithin(copy, array.read(), static_cast<size_t>(rows) * sizeof(Scalar), stream));
  PetscCall(array.Restore());
  PetscCall(ForEach(Space::Device, rows, ScaleOfDiagonal{true, v.left()}));
  PetscCall(ForEach(Space::Device, rows, ScaleOfDiagonal{false, v.right()}));
  PetscCall(ForEach(Space::Device, rows, StartOfSearch{first, v.first()}));
  PetscCall(v.Begin());
  for (PetscInt k = 0; k < found->most; k++) {
    PetscCall(array.Get(y, Space::Device, Access::Write));
    PetscCall(v.Scale(k, array.write()));
    PetscCall(array.Restore());
    PetscCall(MatMult(A, y, z));
    PetscCall(array.Get(z, Space::Device, Access::Read));
    PetscCall(v.Advance(k, array.read()));
    PetscCall(array.Restore());
  }
  PetscCall(v.Get(&sums));
  const auto number = [](const Scalar &s) { return *reinterpret_cast<const PetscScalar *>(&s); };
  norm              = PetscSqrtReal(PetscRealPart(number(sums[0].square)));
  while (found->n < found->most && found->hermitian && !Ends(norm, scale)) { // as in Project()
    const LanczosSums &step = sums[static_cast<size_t>(found->n) + 1];
    const PetscScalar  now  = number(step.now);
    found->Add(number(step.before), now, norm, scale);
    norm  = PetscSqrtReal(PetscRealPart(number(step.square)));
    scale = PetscMax(scale, PetscAbsScalar(now) + norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// By PETSc's vectors.
PetscErrorCode ProjectByVectors(Mat A, Vec like, Projection *found)
{
  Scaled scaled{A};
  Vec    basis[3];

  PetscFunctionBegin;
  for (Vec &v : basis) PetscCall(VecDuplicate(like, &v));
  PetscCall(scaled.SetUp(basis[0]));
  PetscCall(SetStart(basis[0]));
  PetscCall(Project(&scaled, basis, found));
  PetscCall(scaled.Destroy());
  for (Vec &v : basis) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode EstimateLargestEigenvalue(Mat A, PetscInt iterations, PetscReal *largest, LanczosVectors *room)
{
  Mat        block;
  Vec        y, z;
  Space      space, of_y;
  Projection found{iterations, 0, {}, true};
  bool       there = false, lacks = false;

  PetscFunctionBegin;
  PetscCheck(iterations > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " iterations for an eigenvalue: must be positive", iterations);
  // without values on the device A's diagonal would be taken on the host, and then copied
  PetscCall(DiagonalBlock(A, &block));
  PetscCall(WorkSpace(block, &space));
  if (space == Space::Device) PetscCall(MayLackMemory([&] { return Source().Take(block, space); }, &lacks));
  PetscCall(MatCreateVecs(A, &y, &z));
  PetscCall(SpaceOf(z, &of_y));
  PetscCallCXX(found.h.assign(static_cast<size_t>(iterations * iterations), 0));
#if defined(SPARSEGPU_HAVE_CUDA)
  LanczosVectors  own;
  LanczosVectors &vectors = room ? *room : own;

  there = space == Space::Device && !lacks && of_y == Space::Device && A->rmap->N > 0;
  if (there)
    PetscCall(
        MayLackMemory([&] { return vectors.SetUp(PetscObjectComm((PetscObject)A), A->rmap->n, iterations); }, &lacks));
  there = there && !lacks;
  PetscCall(face::AllAgree(PetscObjectComm((PetscObject)A), there, &there));
  if (there) PetscCall(ProjectThere(A, y, z, vectors, &found));
#endif
  if (!there) PetscCall(ProjectByVectors(A, z, &found));
  if (found.hermitian) {
    PetscCall(SpectralRadius(iterations, found.n, found.h, largest));
  } else {
    PetscCall(SetStart(z));
    PetscCall(BoundForChebyshev(A, iterations, z, largest));
  }
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
