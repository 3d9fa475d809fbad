/// The largest eigenvalue of D^-1 A, which damping and smoothers are chosen by.
#include <petsc/private/matimpl.h>
#include <petscblaslapack.h>
#include <cmath>
#include "device/local_array.hpp"
#include "device/vectors.hpp"
#include "mat/rows/value_operations.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/lanczos.hpp"
#include "pc/aggregate/operations.hpp"
#include "pc/aggregate/source.hpp"
#include "petsc/compat.hpp"

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

/// The largest magnitude of the eigenvalues of h [n * n], by columns; h is lost.
PetscErrorCode SpectralRadius(PetscInt n, std::vector<PetscScalar> *h, PetscReal *radius)
{
  PetscBLASInt             size, most, info, one = 1;
  std::vector<PetscScalar> work, values;
  std::vector<PetscReal>   real;

  PetscFunctionBegin;
  *radius = 0;
  PetscCall(PetscBLASIntCast(n, &size));
  most = 8 * size + 8;
  PetscCallCXX(work.resize(static_cast<size_t>(most)));
  PetscCallCXX(values.resize(static_cast<size_t>(2 * n)));
  PetscCallCXX(real.resize(static_cast<size_t>(2 * n)));
#if defined(PETSC_USE_COMPLEX)
  LAPACKgeev_("N", "N", &size, h->data(), &size, values.data(), nullptr, &one, nullptr, &one, work.data(), &most,
              real.data(), &info);
  for (PetscInt k = 0; k < n; k++) *radius = PetscMax(*radius, PetscAbsScalar(values[static_cast<size_t>(k)]));
#else
  LAPACKgeev_("N", "N", &size, h->data(), &size, values.data(), values.data() + n, nullptr, &one, nullptr, &one,
              work.data(), &most, &info);
  for (size_t k = 0; k < static_cast<size_t>(n); k++)
    *radius = PetscMax(*radius, std::hypot(values[k], values[k + static_cast<size_t>(n)]));
#endif
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "Error %d of LAPACK's geev", static_cast<int>(info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// h [most * most] by columns and its size *n: the matrix of `scaled` in a basis of that many vectors, each orthogonal
/// to the two before it, as Lanczos makes it; basis [3].
PetscErrorCode Project(Scaled *scaled, PetscInt most, Vec *basis, std::vector<PetscScalar> *h, PetscInt *n)
{
  PetscReal norm, scale = 0;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(VecNorm(basis[0], NORM_2, &norm));
  for (PetscInt k = 0; k < most; k++) {
    const Vec   now = basis[k % 3], next = basis[(k + 1) % 3], before = basis[(k + 2) % 3];
    PetscScalar part;
    // an invariant subspace has been found where nothing but rounding is left
    if (!(norm > 100 * PETSC_MACHINE_EPSILON * scale) || PetscIsInfOrNanReal(norm)) break;
    PetscCall(VecScale(now, 1 / norm));
    PetscCall(scaled->Mult(now, next));
    if (k > 0) {
      (*h)[static_cast<size_t>((k - 1) * most + k)] = norm;
      PetscCall(VecDot(next, before, &part));
      PetscCall(VecAXPY(next, -part, before));
      (*h)[static_cast<size_t>(k * most + k - 1)] = part;
    }
    PetscCall(VecDot(next, now, &part));
    PetscCall(VecAXPY(next, -part, now));
    (*h)[static_cast<size_t>(k * most + k)] = part;
    PetscCall(VecNorm(next, NORM_2, &norm));
    scale = PetscMax(scale, PetscAbsScalar(part) + norm);
    ++*n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SPARSEGPU_HAVE_CUDA)
/// Project() of a matrix of one process, where y and z, of its rows, are on the device: the host does not wait in
/// between, and what comes after the last vector is not used.
PetscErrorCode ProjectThere(Mat A, PetscInt most, Vec y, Vec z, std::vector<PetscScalar> *h, PetscInt *n)
{
  LanczosVectors           v;
  LocalArray               array;
  PetscInt                 rows;
  PetscReal                norm, scale = 0;
  std::vector<LanczosSums> sums;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &rows));
  PetscCall(v.SetUp(rows, most));
  PetscCall(MatGetDiagonal(A, z));
  PetscCall(array.Get(z, Space::Device, Access::Read));
  Stream stream;
  PetscCall(DeviceStream(&stream));
  for (Scalar *copy : {v.left(), v.right()})
    PetscCall(DeviceCopyWithin(copy, array.read(), static_cast<size_t>(rows) * sizeof(Scalar), stream));
  PetscCall(array.Restore());
  PetscCall(ForEach(Space::Device, rows, ScaleOfDiagonal{true, v.left()}));
  PetscCall(ForEach(Space::Device, rows, ScaleOfDiagonal{false, v.right()}));
  PetscCall(ForEach(Space::Device, rows, StartOfSearch{0, v.first()}));
  PetscCall(v.Begin());
  for (PetscInt k = 0; k < most; k++) {
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
  for (*n = 0; *n < most; ++*n) { // as Project() ends
    const size_t       k = static_cast<size_t>(*n), size = static_cast<size_t>(most);
    const LanczosSums &step = sums[k + 1];
    if (!(norm > 100 * PETSC_MACHINE_EPSILON * scale) || PetscIsInfOrNanReal(norm)) break;
    if (k > 0) {
      (*h)[(k - 1) * size + k] = norm;
      (*h)[k * size + k - 1]   = number(step.before);
    }
    (*h)[k * size + k] = number(step.now);
    norm               = PetscSqrtReal(PetscRealPart(number(step.square)));
    scale              = PetscMax(scale, PetscAbsScalar(number(step.now)) + norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// By PETSc's vectors.
PetscErrorCode ProjectByVectors(Mat A, PetscInt most, Vec like, std::vector<PetscScalar> *h, PetscInt *n)
{
  Scaled   scaled{A};
  Vec      basis[3];
  PetscInt first;

  PetscFunctionBegin;
  for (Vec &v : basis) PetscCall(VecDuplicate(like, &v));
  PetscCall(scaled.SetUp(basis[0]));
  PetscCall(VecGetOwnershipRange(basis[0], &first, nullptr));
  PetscCall(Write(basis[0], [&](Scalar *x) { return StartOfSearch{first, x}; }));
  PetscCall(Project(&scaled, most, basis, h, n));
  PetscCall(scaled.Destroy());
  for (Vec &v : basis) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode EstimateLargestEigenvalue(Mat A, PetscInt iterations, PetscReal *largest)
{
  const size_t             most = static_cast<size_t>(iterations);
  Vec                      y, z;
  Space                    space, of_y;
  PetscInt                 n = 0;
  PetscMPIInt              size;
  std::vector<PetscScalar> h, square;
  bool                     there = false;

  PetscFunctionBegin;
  PetscCheck(iterations > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " iterations for an eigenvalue: must be positive", iterations);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  // without values on the device A's diagonal would be taken on the host, and then copied
  PetscCall(WorkSpace(A, &space));
  if (space == Space::Device) PetscCall(Source().Take(A, space));
  PetscCall(MatCreateVecs(A, &y, &z));
  PetscCall(SpaceOf(z, &of_y));
  PetscCallCXX(h.assign(most * most, 0));
#if defined(SPARSEGPU_HAVE_CUDA)
  there = size == 1 && space == Space::Device && of_y == Space::Device && A->rmap->n > 0;
  if (there) PetscCall(ProjectThere(A, iterations, y, z, &h, &n));
#endif
  if (!there) PetscCall(ProjectByVectors(A, iterations, z, &h, &n));
  for (PetscInt c = 0; c < n; c++)
    for (PetscInt r = 0; r < n; r++) PetscCallCXX(square.push_back(h[static_cast<size_t>(c * iterations + r)]));
  *largest = 0;
  if (n > 0) PetscCall(SpectralRadius(n, &square, largest));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::aggregate
