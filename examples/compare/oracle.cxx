#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace
{
double Uniform(uint64_t stream, uint64_t index) // splitmix64, in (-1, 1)
{
  uint64_t z = (stream << 40) + (index + 1) * 0x9e3779b97f4a7c15ull;
  z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z          = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>(static_cast<int64_t>((z ^ (z >> 31)) | 1)) * 0x1p-63;
}

PetscScalar Entry(Random which, PetscInt index)
{
  const uint64_t  stream = 2 * static_cast<uint64_t>(which) + 1;
  const PetscReal real   = static_cast<PetscReal>(Uniform(stream, index));
#if defined(PETSC_USE_COMPLEX)
  return PetscScalar(real, static_cast<PetscReal>(Uniform(stream + 1, index)));
#else
  return real;
#endif
}

/// The sums of one product while they grow.
struct Sums {
  std::vector<long double> real, imaginary, size,
      terms; ///< [entries] of the value, of |a||x|, and the number of products

  void Resize(PetscInt n)
  {
    for (std::vector<long double> *part : {&real, &imaginary, &size, &terms}) part->resize(n);
  }
  void Add(PetscInt i, PetscScalar a, PetscScalar x)
  {
    const Wide product = Wide(a) * Wide(x);
    real[i] += std::real(product);
    imaginary[i] += std::imag(product);
    size[i] += std::abs(Wide(a)) * std::abs(Wide(x));
    terms[i] += 1;
  }
};

/// Sets `e` to n entries of `sums` from `offset` on, the first of which is entry `first` of the random vector `addend`.
///
/// A sum of n products in any order errs by at most (n + 2) u sum |a||x| to first order, u = eps / 2, the 2 covering a
/// complex product (Higham, Accuracy and Stability of Numerical Algorithms, 3.1 and 3.6); the addend is one more term.
/// Four times that leaves room for the terms of second order and for the error of these sums themselves. A product may
/// also underflow, losing less than the smallest normal number.
PetscErrorCode Finish(const Sums &sums, PetscInt offset, PetscInt n, bool add, Random addend, PetscInt first,
                      Expected *e)
{
  PetscFunctionBeginUser;
  PetscCallCXX(e->value.resize(n));
  PetscCallCXX(e->bound.resize(n));
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt    i     = offset + k;
    const Wide        more  = add ? Wide(Entry(addend, first + k)) : Wide(0);
    const long double terms = sums.terms[i] + (add ? 1 : 0), size = sums.size[i] + std::abs(more);
#if defined(PETSC_USE_COMPLEX)
    e->value[k] = Wide(sums.real[i], sums.imaginary[i]) + more;
#else
    e->value[k] = sums.real[i] + more;
#endif
    e->bound[k] = 2 * (terms + 2) * PETSC_MACHINE_EPSILON * size + terms * std::numeric_limits<PetscReal>::min();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode BuildOracle(Mat A, Oracle *oracle)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscInt       begin, end, left, right, extremes[2] = {-PETSC_MAX_INT, 0};
  Sums           rows, columns;
  double         nonzeros = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &oracle->rows, &oracle->cols));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatGetOwnershipRangeColumn(A, &left, &right));
  PetscCallCXX(rows.Resize(end - begin));
  PetscCallCXX(columns.Resize(oracle->cols));
  for (PetscInt r = begin; r < end; r++) {
    PetscInt           length;
    const PetscInt    *column;
    const PetscScalar *value;
    PetscCall(MatGetRow(A, r, &length, &column, &value));
    for (PetscInt k = 0; k < length; k++) {
      rows.Add(r - begin, value[k], Entry(Random::X, column[k]));
      columns.Add(column[k], value[k], Entry(Random::U, r));
    }
    extremes[0] = std::max(extremes[0], -length);
    extremes[1] = std::max(extremes[1], length);
    nonzeros += length;
    PetscCall(MatRestoreRow(A, r, &length, &column, &value));
  }
  for (std::vector<long double> *part : {&columns.real, &columns.imaginary, &columns.size, &columns.terms})
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, part->data(), static_cast<PetscMPIInt>(part->size()), MPI_LONG_DOUBLE,
                               MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPIU_INT, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(&nonzeros, &oracle->nonzeros, 1, MPI_DOUBLE, MPI_SUM, comm));
  oracle->shortest = oracle->rows ? -extremes[0] : 0;
  oracle->longest  = extremes[1];
  PetscCall(Finish(rows, 0, end - begin, false, Random::RowAddend, begin, &oracle->mult));
  PetscCall(Finish(rows, 0, end - begin, true, Random::RowAddend, begin, &oracle->mult_add));
  PetscCall(Finish(columns, left, right - left, false, Random::ColumnAddend, left, &oracle->transpose));
  PetscCall(Finish(columns, left, right - left, true, Random::ColumnAddend, left, &oracle->transpose_add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FillRandom(Vec v, Random which)
{
  PetscInt     begin, end;
  PetscScalar *array;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArrayWrite(v, &array));
  for (PetscInt i = begin; i < end; i++) array[i - begin] = Entry(which, i);
  PetscCall(VecRestoreArrayWrite(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Poison(Vec v)
{
  PetscInt     n;
  PetscScalar *array;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &array));
  std::fill(array, array + n, std::numeric_limits<PetscReal>::quiet_NaN());
  PetscCall(VecRestoreArrayWrite(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WorstError(Vec v, const Expected &expected, double *worst)
{
  const PetscScalar *array;
  double             mine = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(v, &array));
  for (size_t i = 0; i < expected.value.size(); i++) {
    const long double error = std::abs(Wide(array[i]) - expected.value[i]);
    if (error == 0) continue;
    const double relative = static_cast<double>(error / expected.bound[i]);
    mine = std::isfinite(relative) ? std::max(mine, relative) : std::numeric_limits<double>::infinity();
  }
  PetscCall(VecRestoreArrayRead(v, &array));
  PetscCallMPI(MPI_Allreduce(&mine, worst, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)v)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
