/// Turns a conformance::Problem into a Mat, and checks the whole family of its matrix-vector products against the
/// oracle.
#pragma once

#include "oracle.hpp"
#include "testing.hpp"

#include <cstdio>
#include <limits>
#include <unistd.h>

namespace testing
{

using conformance::Problem;
using oracle::Op;

/// How rows and columns lie on the ranks.
enum class Layout {
  Even,
  FirstEmpty, ///< rank 0 owns neither rows nor columns
  AllOnLast,  ///< the last rank owns everything
  Opposite    ///< rank 0 owns all the rows, the last rank all the columns
};
constexpr Layout   LAYOUTS[] = {Layout::Even, Layout::FirstEmpty, Layout::AllOnLast, Layout::Opposite};
inline const char *Name(Layout layout)
{
  static const char *const names[] = {"even", "first rank empty", "all on the last rank", "rows and columns apart"};
  return names[static_cast<int>(layout)];
}

/// The share of `n` rows (or columns) of the calling process.
inline PetscErrorCode LocalSize(MPI_Comm comm, Layout layout, bool rows, PetscInt n, PetscInt *local)
{
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (layout == Layout::FirstEmpty && size > 1)
    *local = rank == 0 ? 0 : n / (size - 1) + (rank - 1 < n % (size - 1));
  else if (layout == Layout::AllOnLast || (layout == Layout::Opposite && !rows))
    *local = rank == size - 1 ? n : 0;
  else if (layout == Layout::Opposite)
    *local = rank == 0 ? n : 0;
  else
    *local = n / size + (rank < n % size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An assembled matrix of the given type; the format is left alone where nullptr. Collective on `comm`.
inline PetscErrorCode CreateMatrix(MPI_Comm comm, const Problem &p, const char type[], const char format[],
                                   Layout layout, Mat *A)
{
  PetscInt    m = 0, n = 0, row0, row1, col0, col1;
  PetscLayout rows, cols;

  PetscFunctionBeginUser;
  PetscCall(LocalSize(comm, layout, true, p.rows, &m));
  PetscCall(LocalSize(comm, layout, false, p.cols, &n));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, m, n, p.rows, p.cols));
  PetscCall(MatSetType(*A, type));
  if (format) PetscCall(MatSparseGPUSetFormat(*A, format));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatGetLayouts(*A, &rows, &cols));
  PetscCall(PetscLayoutSetUp(rows));
  PetscCall(PetscLayoutSetUp(cols));
  PetscCall(PetscLayoutGetRange(rows, &row0, &row1));
  PetscCall(PetscLayoutGetRange(cols, &col0, &col1));
  std::vector<PetscInt> diagonal((size_t)m + 1, 0), off((size_t)m + 1, 0);
  for (const conformance::Entry &e : p.entries)
    if (e.i >= row0 && e.i < row1) ++(e.j >= col0 && e.j < col1 ? diagonal : off)[(size_t)(e.i - row0)];
  PetscCall(MatSeqAIJSetPreallocation(*A, 0, diagonal.data()));
  PetscCall(MatMPIAIJSetPreallocation(*A, 0, diagonal.data(), 0, off.data()));
  for (const conformance::Entry &e : p.entries)
    if (e.i >= row0 && e.i < row1) PetscCall(MatSetValue(*A, e.i, e.j, e.v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode CreateMatrix(const Problem &p, const char type[], const char format[], Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_SELF, p, type, format, Layout::Even, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All entries of a matrix on every rank, read row by row. Collective.
inline PetscErrorCode Gather(Mat A, Problem *p)
{
  const MPI_Comm                  comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt                     size, mine;
  PetscInt                        row0, row1, n;
  const PetscInt                 *j;
  const PetscScalar              *v;
  const char                     *name;
  std::vector<conformance::Entry> own;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectGetName((PetscObject)A, &name));
  p->name = name;
  PetscCall(MatGetSize(A, &p->rows, &p->cols));
  PetscCall(MatGetOwnershipRange(A, &row0, &row1));
  for (PetscInt i = row0; i < row1; ++i) {
    PetscCall(MatGetRow(A, i, &n, &j, &v));
    for (PetscInt k = 0; k < n; ++k) own.push_back({i, j[k], v[k]});
    PetscCall(MatRestoreRow(A, i, &n, &j, &v));
  }
  PetscCallMPI(MPI_Comm_size(comm, &size));
  std::vector<PetscMPIInt> bytes((size_t)size), start((size_t)size + 1, 0);
  PetscCall(PetscMPIIntCast((PetscInt)(own.size() * sizeof(conformance::Entry)), &mine));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, bytes.data(), 1, MPI_INT, comm));
  std::partial_sum(bytes.begin(), bytes.end(), start.begin() + 1);
  p->entries.resize((size_t)start.back() / sizeof(conformance::Entry));
  PetscCallMPI(
      MPI_Allgatherv(own.data(), mine, MPI_BYTE, p->entries.data(), bytes.data(), start.data(), MPI_BYTE, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What `view` writes to an ASCII viewer, on rank 0; by way of a file called `name` and the number of ranks.
template <class View> PetscErrorCode TextOf(MPI_Comm comm, const std::string &name, std::string *text, View view)
{
  const std::string file = name + "_" + std::to_string(getpid()) + ".txt"; // other tests run in the same folder
  PetscViewer       viewer;
  FILE             *f;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpen(comm, file.c_str(), &viewer));
  PetscCall(view(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  text->clear();
  if (PetscGlobalRank > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFOpen(PETSC_COMM_SELF, file.c_str(), "r", &f));
  for (int c = fgetc(f); c != EOF; c = fgetc(f)) *text += (char)c;
  PetscCall(PetscFClose(PETSC_COMM_SELF, f));
  (void)std::remove(file.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// What MatView() writes in this ASCII format.
inline PetscErrorCode ViewText(Mat A, PetscViewerFormat format, const std::string &name, std::string *text)
{
  PetscFunctionBeginUser;
  PetscCall(TextOf(PetscObjectComm((PetscObject)A), name, text, [&](PetscViewer viewer) {
    PetscFunctionBeginUser;
    PetscCall(PetscViewerPushFormat(viewer, format));
    PetscCall(MatView(A, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The text of a view with our type's name made aij's.
inline std::string AsAIJ(std::string text)
{
  const std::string ours = "aijsparsegpu";
  for (size_t at = text.find(ours); at != std::string::npos; at = text.find(ours)) text.replace(at, ours.size(), "aij");
  return text;
}

/// A vector that A op can be applied to (input), or that can hold the result.
inline PetscErrorCode CreateVector(Mat A, Op op, bool input, const std::string &type, Vec *v)
{
  PetscInt m, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)A), v));
  PetscCall(VecSetSizes(*v, (op == Op::Plain) == input ? n : m, PETSC_DETERMINE));
  PetscCall(VecSetType(*v, type.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Copies the part of `values` [global size] that the calling process owns into v.
inline PetscErrorCode SetVector(Vec v, const std::vector<PetscScalar> &values)
{
  PetscInt     begin, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  std::copy(values.begin() + begin, values.begin() + end, a);
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Is the calling process's part of v bit for bit that of `values`?
inline PetscErrorCode CheckUnchanged(Vec v, const std::vector<PetscScalar> &values, const std::string &what)
{
  PetscInt           begin, end;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = begin; i < end; ++i)
    PetscCheck(!memcmp(&a[i - begin], &values[(size_t)i], sizeof(PetscScalar)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: entry %" PetscInt_FMT " of an input vector changed", what.c_str(), i);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode CheckResult(Vec y, const std::vector<oracle::Expected> &expected, const std::string &what)
{
  PetscInt           begin, end;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(y, &begin, &end));
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt i = begin; i < end; ++i) {
    const std::string fault = oracle::Fault(a[i - begin], expected[(size_t)i]);
    PetscCheck(fault.empty(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, row %" PetscInt_FMT ": %s", what.c_str(), i,
               fault.c_str());
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is this one of our types, of the right kind for its communicator?
inline PetscErrorCode CheckIsOurs(Mat A, const std::string &what)
{
  PetscMPIInt size;
  MatType     type;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(MatGetType(A, &type));
  PetscCheck(!strcmp(type, size == 1 ? MATSEQAIJSPARSEGPU : MATMPIAIJSPARSEGPU), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: the type is %s", what.c_str(), type);
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Did the last product run on this format?
inline PetscErrorCode CheckRanOn(Mat A, const std::string &format, const std::string &what)
{
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatSparseGPUGetInfo(A, &info));
  PetscCheck(info.format == format, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: ran on %s, not %s", what.c_str(), info.format,
             format.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum class Poison { ///< where x holds Inf and NaN; column 0 and the last are where padding likes to point
  None,
  First,
  Last,
  Inside
};
inline std::vector<PetscScalar> Input(PetscInt n, unsigned long long seed, Poison poison)
{
  std::vector<PetscScalar> x((size_t)n);
  for (PetscInt i = 0; i < n; ++i) x[(size_t)i] = conformance::Value(seed + (unsigned long long)i);
  if (n > 0 && poison == Poison::First) x[0] = std::numeric_limits<PetscReal>::infinity();
  if (n > 0 && poison == Poison::Last) x[(size_t)n - 1] = std::numeric_limits<PetscReal>::quiet_NaN();
  if (n > 0 && poison == Poison::Inside) {
    x[(size_t)n / 2] = -std::numeric_limits<PetscReal>::infinity();
    x[(size_t)n / 3] = std::numeric_limits<PetscReal>::quiet_NaN();
  }
  return x;
}

/// y = op(A) x, y = op(A) x + z and y += op(A) x with x, z of one vector type and y of another, y being NaN before
/// where it may be. Inputs must stay as they are, and the same product twice must give the same bits.
inline PetscErrorCode CheckOneProduct(Mat A, const Problem &p, Op op, Poison poison, const std::string &xtype,
                                      const std::string &ytype, const std::string &name)
{
  const PetscInt                 in = op == Op::Plain ? p.cols : p.rows, out = op == Op::Plain ? p.rows : p.cols;
  const std::vector<PetscScalar> xs = Input(in, 17, poison), zs = Input(out, 9001, Poison::None);
  const std::string              what = name + ", x " + xtype + ", y " + ytype + ", MatMult" + oracle::Name(op);
  auto *const mult     = op == Op::Plain ? MatMult : op == Op::Transpose ? MatMultTranspose : MatMultHermitianTranspose;
  auto *const mult_add = op == Op::Plain       ? MatMultAdd
                         : op == Op::Transpose ? MatMultTransposeAdd
                                               : MatMultHermitianTransposeAdd;
  const auto  expected = oracle::Product(p, op, xs, {}), expected_add = oracle::Product(p, op, xs, zs);
  Vec         x, y, z, again;
  PetscBool   same;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(A, op, true, xtype, &x));
  PetscCall(CreateVector(A, op, false, ytype, &y));
  PetscCall(CreateVector(A, op, false, xtype, &z));
  PetscCall(SetVector(x, xs));
  PetscCall(SetVector(z, zs));
  PetscCall(VecSet(y, std::numeric_limits<PetscReal>::quiet_NaN()));
  PetscCall(mult(A, x, y));
  PetscCall(CheckResult(y, expected, what));
  // In parallel PETSc's star forest adds what neighbours send for the same column, on a device in no fixed order.
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  const bool reproducible = op == Op::Plain || size <= 2 || (xtype == VECSTANDARD && ytype == VECSTANDARD);
  if (poison == Poison::None && reproducible) {
    PetscCall(VecDuplicate(y, &again));
    PetscCall(mult(A, x, again));
    PetscCall(VecEqual(y, again, &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the second product has other bits than the first",
               what.c_str());
    PetscCall(VecDestroy(&again));
  }
  PetscCall(VecSet(y, std::numeric_limits<PetscReal>::quiet_NaN()));
  PetscCall(mult_add(A, x, z, y));
  PetscCall(CheckResult(y, expected_add, what + "Add"));
  PetscCall(SetVector(y, zs));
  PetscCall(mult_add(A, x, y, y));
  PetscCall(CheckResult(y, expected_add, what + "Add in place"));
  PetscCall(CheckUnchanged(x, xs, what));
  PetscCall(CheckUnchanged(z, zs, what));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr Op OPS[] = {Op::Hermitian, Op::Transpose,
                      Op::Plain}; ///< MatSparseGPUGetInfo() tells of the last: the matrix itself

/// The whole family for every mix of vector types, without Inf and NaN.
inline PetscErrorCode CheckProducts(Mat A, const Problem &p, const std::string &name)
{
  std::vector<std::string> types;

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
  for (Op op : OPS)
    for (const std::string &xtype : types)
      for (const std::string &ytype : types) PetscCall(CheckOneProduct(A, p, op, Poison::None, xtype, ytype, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// As above, then with Inf and NaN in x.
inline PetscErrorCode CheckProductsPoisoned(Mat A, const Problem &p, const std::string &name)
{
  PetscFunctionBeginUser;
  PetscCall(CheckProducts(A, p, name));
  for (Op op : OPS)
    for (Poison poison : {Poison::First, Poison::Last, Poison::Inside})
      PetscCall(CheckOneProduct(A, p, op, poison, VECSTANDARD, VECSTANDARD, name + ", Inf and NaN in x"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
