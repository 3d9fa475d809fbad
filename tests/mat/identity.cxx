static const char help[] =
    "New matrices with the addresses, sizes and object states of earlier ones are recognised as new.\n\n";

#include <petsc/private/petscimpl.h> // object states, in older PETSc
#include "../device_array.hpp"
#include "../family.hpp"

using namespace testing;

/// Row r has its diagonal and, if even, column (r + n / 2 + shift) mod n: all shifts have as many entries a row, and
/// ghosts.
static Problem Shifted(PetscInt n, PetscInt shift, unsigned long long seed)
{
  Problem p = conformance::Banded("shifted_" + std::to_string((int)shift), n, n, {0});

  for (PetscInt r = 0; r < n; r += 2) p.entries.push_back({r, (r + n / 2 + shift) % n, PetscScalar(1)});
  for (size_t k = 0; k < p.entries.size(); ++k) p.entries[k].v = conformance::Value(seed + k);
  return p;
}

/// The coordinates and the values of the entries in the calling process's rows.
static PetscErrorCode Assemble(Mat A, const Problem &p, bool preallocate, bool device)
{
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> v;
  PetscInt                 begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (const conformance::Entry &e : p.entries)
    if (e.i >= begin && e.i < end) {
      i.push_back(e.i);
      j.push_back(e.j);
      v.push_back(e.v);
    }
  const PetscCount n = (PetscCount)i.size();
  if (preallocate && device)
    PetscCall(MatSetPreallocationCOO(A, n, IndexArray(i, true).Get(), IndexArray(j, true).Get()));
  else if (preallocate)
    PetscCall(MatSetPreallocationCOO(A, n, i.data(), j.data()));
  PetscCall(MatSetValuesCOO(A, ScalarArray(v, device).Get(), INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Check> static PetscErrorCode ForFormats(Check check)
{
  std::vector<std::string> formats, backends;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  formats.push_back("auto");
  PetscCall(Backends(&backends));
  for (const std::string &format : formats)
    for (const std::string &backend : backends) PetscCall(check(format, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateEmpty(PetscInt n, const std::string &format, const std::string &backend, Mat *A)
{
  PetscLayout rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSparseGPUSetFormat(*A, format.c_str()));
  PetscCall(MatSparseGPUSetBackend(*A, backend.c_str()));
  PetscCall(MatGetLayouts(*A, &rows, &cols));
  PetscCall(PetscLayoutSetUp(rows));
  PetscCall(PetscLayoutSetUp(cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Preallocated again and again: the new blocks lie where the old ones did and have as many entries, rows and ghosts.
static PetscErrorCode Preallocated()
{
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&found));
  for (bool device : {false, true}) {
    if (device && !found) continue;
    PetscCall(ForFormats([device](const std::string &format, const std::string &backend) -> PetscErrorCode {
      Mat A;
      PetscFunctionBeginUser;
      if (format == "dia" || format == "bitmap") PetscFunctionReturn(PETSC_SUCCESS); // refuses, or is slow
      PetscCall(CreateEmpty(200, format, backend, &A));
      for (PetscInt shift : {0, 1, 0, 2, 3}) {
        const Problem     p    = Shifted(200, shift, 1000 * (unsigned long long)shift);
        const std::string what = format + " on " + backend + ", " + p.name;
        PetscCall(Assemble(A, Shifted(200, shift + 5, 1), true, device)); // takes other addresses, and frees the old
        PetscCall(Assemble(A, p, true, device));
        PetscCall(CheckProducts(A, p, what));
        const Problem q = Shifted(200, shift, 7);
        PetscCall(Assemble(A, q, false, device));
        PetscCall(CheckProducts(A, q, what + ", other values"));
      }
      PetscCall(MatDestroy(&A));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatHeaderReplace() hands over copies of values as they were some changes ago, in an object state that may be any.
static PetscErrorCode Replaced()
{
  PetscFunctionBeginUser;
  PetscCall(ForFormats([](const std::string &format, const std::string &backend) -> PetscErrorCode {
    const Problem p = conformance::Grid("grid_9x7", 9, 7, false);
    Problem       q = p;
    PetscFunctionBeginUser;
    for (conformance::Entry &e : q.entries) e.v *= (PetscReal)10;
    for (PetscObjectState ahead : {-2, -1, 0, 1}) {
      Mat              A, C;
      PetscObjectState state;
      PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format.c_str(), Layout::Even, &A));
      PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format.c_str(), Layout::Even, &C));
      for (Mat M : {A, C}) PetscCall(MatSparseGPUSetBackend(M, backend.c_str()));
      PetscCall(CheckProducts(C, p, format + ": before"));
      PetscCall(PetscObjectStateGet((PetscObject)C, &state));
      PetscCall(MatScale(C, 10));
      PetscCall(PetscObjectStateSet((PetscObject)A, state + ahead));
      PetscCall(MatHeaderReplace(A, &C));
      PetscCall(CheckProducts(A, q, format + " on " + backend + ", replaced, state ahead by " + std::to_string(ahead)));
      PetscCall(MatDestroy(&A));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatRetrieveValues() changes values and not the object state.
static PetscErrorCode Retrieved()
{
  PetscFunctionBeginUser;
  for (bool blocks_alone : {false, true}) // of our type, within PETSc's parallel one
    PetscCall(ForFormats([blocks_alone](const std::string &format, const std::string &backend) -> PetscErrorCode {
      const Problem p = conformance::Grid("grid_9x7", 9, 7, false);
      Problem       q = p;
      const Options options(blocks_alone ? "-mat_seqaij_type seqaijsparsegpu -mat_sparsegpu_format " + format +
                                               " -sparsegpu_backend " + backend
                                         : "-unused 0");
      Mat           A;
      PetscFunctionBeginUser;
      for (conformance::Entry &e : q.entries) e.v *= (PetscReal)3;
      PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, blocks_alone ? MATAIJ : MATSPARSEGPU,
                             blocks_alone ? nullptr : format.c_str(), Layout::Even, &A));
      if (!blocks_alone) PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
      PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
      PetscCall(MatStoreValues(A));
      for (int times = 0; times < 2; ++times) {
        PetscCall(MatScale(A, 3));
        for (int k = 0; k < 3; ++k) PetscCall(CheckProducts(A, q, format + " on " + backend + ": scaled"));
        PetscCall(MatRetrieveValues(A));
        PetscCall(CheckProducts(A, p, format + " on " + backend + ": retrieved"));
      }
      PetscCall(MatDestroy(&A));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A sub-matrix taken again with other columns in rows of the same lengths: they come into the old arrays.
static PetscErrorCode TakenAgain()
{
  PetscFunctionBeginUser;
  PetscCall(ForFormats([](const std::string &format, const std::string &backend) -> PetscErrorCode {
    constexpr PetscInt HALF = 40;
    Problem            p    = conformance::Banded("two_halves", HALF, 2 * HALF, {0});
    Mat                A, B = nullptr;
    PetscFunctionBeginUser;
    for (PetscInt r = 0; r < HALF; ++r) p.entries.push_back({r, HALF + (7 * r + 3) % HALF, PetscScalar(2)});
    for (size_t k = 0; k < p.entries.size(); ++k) p.entries[k].v = conformance::Value(k + 3);
    PetscCall(CreateMatrix(PETSC_COMM_SELF, p, MATSPARSEGPU, "csr", Layout::Even, &A));
    for (PetscInt half : {0, 1, 0}) {
      const PetscInt first = half * HALF;
      Problem        q     = conformance::Banded("half_" + std::to_string((int)half), HALF, HALF, {});
      IS             rows, cols;
      for (const conformance::Entry &e : p.entries)
        if (e.j >= first && e.j < first + HALF) q.entries.push_back({e.i, e.j - first, e.v});
      PetscCall(ISCreateStride(PETSC_COMM_SELF, HALF, 0, 1, &rows));
      PetscCall(ISCreateStride(PETSC_COMM_SELF, HALF, first, 1, &cols));
      if (B) {
        PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_REUSE_MATRIX, &B));
      } else {
        PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, &B));
        PetscCall(MatSparseGPUSetBackend(B, backend.c_str()));
        PetscCall(MatSparseGPUSetFormat(B, format == "dia" ? "sell" : format.c_str())); // dia refuses
      }
      PetscCall(CheckProducts(B, q, format + " on " + backend + ": " + q.name));
      PetscCall(ISDestroy(&rows));
      PetscCall(ISDestroy(&cols));
    }
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatConvert() between the sequential and the parallel type, which one process may have both.
static PetscErrorCode Kinds()
{
  const Problem p       = conformance::Grid("grid_9x7", 9, 7, false);
  const char   *kinds[] = {MATSEQAIJSPARSEGPU, MATMPIAIJSPARSEGPU};

  PetscFunctionBeginUser;
  for (int from : {0, 1})
    for (MatReuse reuse : {MAT_INITIAL_MATRIX, MAT_INPLACE_MATRIX, MAT_REUSE_MATRIX}) {
      Mat         A, B = nullptr;
      MatType     type;
      std::string what = std::string(kinds[from]) + ", reuse " + std::to_string((int)reuse);
      PetscCall(CreateMatrix(PETSC_COMM_SELF, p, kinds[from], "sell", Layout::Even, &A));
      PetscCall(CheckProducts(A, p, what + ": before"));
      if (reuse == MAT_INPLACE_MATRIX) B = A;
      if (reuse == MAT_REUSE_MATRIX) {
        PetscCall(MatConvert(A, kinds[1 - from], MAT_INITIAL_MATRIX, &B));
        PetscCall(MatZeroEntries(B));
      }
      PetscCall(MatConvert(A, kinds[1 - from], reuse, &B));
      PetscCall(MatGetType(B, &type));
      PetscCheck(!strcmp(type, kinds[1 - from]), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: became %s", what.c_str(), type);
      PetscCall(CheckProducts(B, p, what));
      PetscCall(CheckRanOn(B, "sell", what));
      PetscCall(MatConvert(B, kinds[from], MAT_INPLACE_MATRIX, &B));
      PetscCall(MatGetType(B, &type));
      PetscCheck(!strcmp(type, kinds[from]), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: back is %s", what.c_str(), type);
      PetscCall(CheckProducts(B, p, what + " and back"));
      if (B != A) PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Duplicates take values by the coordinates of the original, from arrays on the device, too.
static PetscErrorCode Duplicated()
{
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&found));
#if PETSC_VERSION_LT(3, 20, 0)
  if (!found || PetscGlobalSize > 1) { // PETSc's MatDuplicate() forgets the coordinates, and it is PETSc that sums
    PetscCall(Skip("this PETSc's duplicates take no values by coordinates"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(ForFormats([found](const std::string &format, const std::string &backend) -> PetscErrorCode {
    PetscFunctionBeginUser;
    if (format == "dia" || format == "bitmap") PetscFunctionReturn(PETSC_SUCCESS); // refuses, or is slow
    for (MatDuplicateOption option : {MAT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN, MAT_DO_NOT_COPY_VALUES}) {
      Mat           A, B;
      const Problem p = Shifted(200, 1, 3), q = Shifted(200, 1, 4000);
      const bool    device = found && (backend == "cuda" || PETSC_VERSION_GE(3, 20, 0));
      if (!device && PETSC_VERSION_LT(3, 20, 0)) continue;
      PetscCall(CreateEmpty(200, format, backend, &A));
      PetscCall(Assemble(A, p, true, device));
      PetscCall(CheckProducts(A, p, format));
      PetscCall(MatDuplicate(A, option, &B));
      PetscCall(MatDestroy(&A));
      PetscCall(Assemble(B, q, false, device));
      PetscCall(CheckProducts(B, q, format + " on " + backend + ": a duplicate"));
      PetscCall(MatDestroy(&B));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"preallocated", Preallocated},
               {"replaced", Replaced},
               {"retrieved", Retrieved},
               {"taken_again", TakenAgain},
               {"kinds", Kinds},
               {"duplicated", Duplicated}});
}
