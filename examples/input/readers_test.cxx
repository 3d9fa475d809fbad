static char help[] =
    "Reads every field and symmetry of MatrixMarket, PETSc's binary files, and both compressed; compares each\n"
    "entry with what is written down here.\n";

#include <cstdio>
#include <string>

#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include "load.hpp"

namespace
{
struct Sample {
  const char *name, *text;
  PetscInt    rows, cols;
  PetscScalar dense[9]; ///< row by row
};

const Sample Samples[] = {
    {"real general",
     "%%MatrixMarket matrix coordinate real general\n% comment\n\n2 3 3\n1 1 1.5\n2 3 -2e-1\n2 1 .25\n",
     2,
     3,
     {1.5, 0, 0, 0.25, 0, -0.2}},
    {"no line end", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7", 1, 1, {7}},
    {"DOS line ends, capitals", "%%MATRIXMARKET Matrix Coordinate REAL General\r\n1 2 1\r\n1 2 +3\r\n", 1, 2, {0, 3}},
    {"no entries", "%%MatrixMarket matrix coordinate real general\n2 2 0\n", 2, 2, {}},
    {"duplicates add up", "%%MatrixMarket matrix coordinate real general\n1 2 3\n1 2 3\n1 1 4\n1 2 5\n", 1, 2, {4, 8}},
    {"integer symmetric",
     "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 3\n2 1 -4\n",
     2,
     2,
     {3, -4, -4, 0}},
    {"upper triangle", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n1 2 4\n", 2, 2, {3, 4, 4, 0}},
    {"unsigned", "%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 9\n", 1, 1, {9}},
    {"pattern symmetric", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", 2, 2, {0, 1, 1, 0}},
    {"real skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n", 2, 2, {0, -5, 5, 0}},
    {"array general", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n0\n4\n", 2, 2, {1, 0, 2, 4}},
    {"array symmetric",
     "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
     3,
     3,
     {1, 2, 3, 2, 4, 5, 3, 5, 6}},
    {"array skew",
     "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
     3,
     3,
     {0, -1, -2, 1, 0, -3, 2, 3, 0}},
#if defined(PETSC_USE_COMPLEX)
    {"complex general",
     "%%MatrixMarket matrix coordinate complex general\n1 2 1\n1 2 1 -2\n",
     1,
     2,
     {0, PetscScalar(1, -2)}},
    {"hermitian",
     "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 2\n",
     2,
     2,
     {3, PetscScalar(1, -2), PetscScalar(1, 2), 0}},
    {"complex symmetric",
     "%%MatrixMarket matrix coordinate complex symmetric\n2 2 1\n2 1 1 2\n",
     2,
     2,
     {0, PetscScalar(1, 2), PetscScalar(1, 2), 0}},
    {"complex skew",
     "%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 1 2\n",
     2,
     2,
     {0, PetscScalar(-1, -2), PetscScalar(1, 2), 0}},
    {"array hermitian",
     "%%MatrixMarket matrix array complex hermitian\n2 2\n3 0\n1 2\n4 0\n",
     2,
     2,
     {3, PetscScalar(1, -2), PetscScalar(1, 2), 4}},
#endif
};

enum class Packing {
  Plain,
  Gzip,
  TwoGzips,
  Xz
};

PetscErrorCode Write(const std::string &file, const std::string &bytes, Packing packing)
{
  PetscFunctionBeginUser;
  if (packing == Packing::Gzip || packing == Packing::TwoGzips) {
    const size_t cut = packing == Packing::Gzip ? 0 : bytes.size() / 2; // gzip's members follow each other
    remove(file.c_str());
    for (const std::string &part : {bytes.substr(0, cut), bytes.substr(cut)}) {
      gzFile out = gzopen(file.c_str(), "ab");
      PetscCheck(out && gzwrite(out, part.data(), static_cast<unsigned>(part.size())) == static_cast<int>(part.size()),
                 PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", file.c_str());
      gzclose(out);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::string packed = bytes;
  if (packing == Packing::Xz) {
    size_t size = 0;
    packed.resize(lzma_stream_buffer_bound(bytes.size()));
    PetscCheck(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t *>(bytes.data()),
                                       bytes.size(), reinterpret_cast<uint8_t *>(&packed[0]), &size,
                                       packed.size()) == LZMA_OK,
               PETSC_COMM_SELF, PETSC_ERR_LIB, "xz");
    packed.resize(size);
  }
  FILE *out = fopen(file.c_str(), "wb");
  PetscCheck(out && fwrite(packed.data(), 1, packed.size(), out) == packed.size(), PETSC_COMM_SELF,
             PETSC_ERR_FILE_WRITE, "%s", file.c_str());
  fclose(out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Loads `file` and compares every entry of the local rows.
PetscErrorCode Check(const std::string &file, const Sample &s, const char how[])
{
  Mat      A;
  PetscInt rows, cols, begin, end;

  PetscFunctionBeginUser;
  PetscCall(LoadMatrix(PETSC_COMM_WORLD, file.c_str(), &A));
  PetscCall(MatGetSize(A, &rows, &cols));
  PetscCheck(rows == s.rows && cols == s.cols, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s, %s: %" PetscInt_FMT " x %" PetscInt_FMT " instead of %" PetscInt_FMT " x %" PetscInt_FMT, s.name, how,
             rows, cols, s.rows, s.cols);
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    for (PetscInt j = 0; j < cols; j++) {
      PetscScalar       value;
      const PetscScalar expected = s.dense[i * cols + j];
      PetscCall(MatGetValues(A, 1, &i, 1, &j, &value));
      PetscCheck(value == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, %s: entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is %g%+gi instead of %g%+gi", s.name, how, i, j,
                 (double)PetscRealPart(value), (double)PetscImaginaryPart(value), (double)PetscRealPart(expected),
                 (double)PetscImaginaryPart(expected));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Writes the sample as PETSc does, once sparse and once dense.
PetscErrorCode WriteBinary(const std::string &file, const Sample &s, MatType type)
{
  Mat         A;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, s.rows, s.cols, s.rows, s.cols));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSetUp(A));
  for (PetscInt i = 0; i < s.rows; i++)
    for (PetscInt j = 0; j < s.cols; j++) PetscCall(MatSetValue(A, i, j, s.dense[i * s.cols + j], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, file.c_str(), FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_NATIVE));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run(const std::string &file)
{
  const struct {
    Packing     packing;
    const char *name;
  } packings[] = {
      {Packing::Plain, "plain"}, {Packing::Gzip, "gzip"}, {Packing::TwoGzips, "two gzips"}, {Packing::Xz, "xz"}};
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (const Sample &s : Samples) {
    for (const auto &packing : packings) {
      if (rank == 0) PetscCall(Write(file, s.text, packing.packing));
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      PetscCall(Check(file, s, packing.name));
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    }
    for (const char *type : {MATSEQAIJ, MATSEQDENSE}) {
      if (rank == 0) PetscCall(WriteBinary(file, s, type));
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      PetscCall(Check(file, s, type));
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    }
  }
  if (rank == 0) unlink(file.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  char        name[PETSC_MAX_PATH_LEN] = "";
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) snprintf(name, sizeof(name), "readers_test.%ld", static_cast<long>(getpid()));
  PetscCallMPI(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCall(Run(name));
  PetscCall(PetscFinalize());
  return 0;
}
