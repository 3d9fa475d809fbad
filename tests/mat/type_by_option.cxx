static const char help[] =
    "The ways to create a matrix of our type: options, MatSetType(), MatConvert(), MatLoad(), arrays.\n\n";

#include "../family.hpp"
#include <petsc/private/petscimpl.h>

using namespace testing;

static Problem Subject()
{
  return conformance::Banded("bands_50", 50, 50, {-7, -1, 0, 2, 20});
}

/// Fills A, whose sizes and type are set, with Subject(), every rank giving all entries of some rows of others'.
static PetscErrorCode Fill(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetUp(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (const conformance::Entry &e : Subject().entries)
    if (e.i % PetscGlobalSize == PetscGlobalRank) PetscCall(MatSetValue(A, e.i, e.j, e.v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Create(Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, 50, 50));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Products, type and format; then the end of A.
static PetscErrorCode Finish(Mat *A, const std::string &format, const std::string &what)
{
  PetscFunctionBeginUser;
  PetscCall(CheckIsOurs(*A, what));
  PetscCall(CheckProducts(*A, Subject(), what));
  PetscCall(CheckRanOn(*A, format, what));
  PetscCall(MatDestroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatTypeOption()
{
  const Option format("-mat_sparsegpu_format", "ell");
  Mat          A;

  PetscFunctionBeginUser;
  for (const char *type :
       {MATSPARSEGPU, MATAIJSPARSEGPU, PetscGlobalSize == 1 ? MATSEQAIJSPARSEGPU : MATMPIAIJSPARSEGPU}) {
    const Option option("-mat_type", type);
    PetscCall(Create(&A));
    PetscCall(MatSetFromOptions(A));
    PetscCall(Fill(A));
    PetscCall(Finish(&A, "ell", std::string("-mat_type ") + type));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The prefixed options rule the matrix that has the prefix, and no other.
static PetscErrorCode PrefixOption()
{
  const Option     type("-first_mat_type", MATSPARSEGPU), format("-first_mat_sparsegpu_format", "hyb");
  const Option     backend("-first_sparsegpu_backend", "kokkos"), other("-mat_sparsegpu_format", "dia");
  Mat              A, B;
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(Create(&A));
  PetscCall(MatSetOptionsPrefix(A, "first_"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(Fill(A));
  PetscCall(CheckProducts(A, Subject(), "-first_mat_type"));
  PetscCall(MatSparseGPUGetInfo(A, &info));
  PetscCheck(!strcmp(info.backend, "kokkos"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Ran on %s", info.backend);
  PetscCall(Finish(&A, "hyb", "-first_mat_type"));
  PetscCall(Create(&B));
  PetscCall(MatSetType(B, MATSPARSEGPU));
  PetscCall(MatSetFromOptions(B));
  PetscCall(Fill(B));
  PetscCall(Finish(&B, "dia", "no prefix"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatSetType() before MatSetFromOptions(), after it, and instead of it.
static PetscErrorCode SetType()
{
  const Option format("-mat_sparsegpu_format", "coo");
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(Create(&A));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(MatSetFromOptions(A));
  PetscCall(Fill(A));
  PetscCall(Finish(&A, "coo", "MatSetType() before"));
  PetscCall(Create(&A));
  PetscCall(MatSetFromOptions(A)); // aij
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(Fill(A));
  PetscCall(Finish(&A, "coo", "MatSetType() after"));
  PetscCall(Create(&A));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(Fill(A));
  PetscCall(Finish(&A, "coo", "never MatSetFromOptions()"));
  {
    const Option type("-mat_type", MATSPARSEGPU);
    PetscCall(Create(&A));
    PetscCall(MatSetType(A, MATAIJ));
    PetscCall(MatSetFromOptions(A));
    PetscCall(Fill(A));
    PetscCall(Finish(&A, "coo", "-mat_type after MatSetType(aij)"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A program that hard-wires MATAIJ: on several ranks the type stays mpiaij, and the blocks are ours.
static PetscErrorCode SeqAIJOption()
{
  const Option option("-mat_seqaij_type", MATSEQAIJSPARSEGPU), format("-mat_sparsegpu_format", "ell");
  Mat          A, blocks[2];

  PetscFunctionBeginUser;
  for (bool created : {false, true}) {
    if (created) {
      PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 50, 50, 5, nullptr, 5, nullptr, &A));
    } else {
      PetscCall(Create(&A));
      PetscCall(MatSetType(A, MATAIJ));
    }
    PetscCall(Fill(A));
    PetscCall(CheckProducts(A, Subject(), "-mat_seqaij_type"));
    if (PetscGlobalSize == 1)
      PetscCall(Finish(&A, "ell", "-mat_seqaij_type"));
    else {
      PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
      for (Mat block : blocks) PetscCall(CheckIsOurs(block, "-mat_seqaij_type, a block"));
      PetscCall(CheckRanOn(blocks[0], "ell", "-mat_seqaij_type, the diagonal block"));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatConvert() in place of an assembled aij, with and without the option.
static PetscErrorCode ConvertInPlace()
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Subject(), MATAIJ, nullptr, Layout::Even, &A));
  PetscCall(MatConvert(A, MATSPARSEGPU, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatSparseGPUSetFormat(A, "sccsr"));
  PetscCall(Finish(&A, "sccsr", "MatConvert() in place"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatLoad() of what an aij matrix wrote, and of what we wrote.
static PetscErrorCode Load()
{
  const Option format("-mat_sparsegpu_format", "vab");
  PetscViewer  viewer;
  Mat          A;

  PetscFunctionBeginUser;
  for (const char *writer : {MATAIJ, MATSPARSEGPU})
    for (bool by_option : {false, true}) {
      const std::string file = "reach_load_" + std::to_string(PetscGlobalSize);
      PetscCall(CreateMatrix(PETSC_COMM_WORLD, Subject(), writer, nullptr, Layout::Even, &A));
      PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.c_str(), FILE_MODE_WRITE, &viewer));
      PetscCall(MatView(A, viewer));
      PetscCall(PetscViewerDestroy(&viewer));
      PetscCall(MatDestroy(&A));
      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      if (by_option) {
        const Option type("-mat_type", MATSPARSEGPU);
        PetscCall(MatSetFromOptions(A));
      } else
        PetscCall(MatSetType(A, MATSPARSEGPU));
      PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.c_str(), FILE_MODE_READ, &viewer));
      PetscCall(MatLoad(A, viewer));
      PetscCall(PetscViewerDestroy(&viewer));
      if (PetscGlobalRank == 0) {
        (void)std::remove(file.c_str());
        (void)std::remove((file + ".info").c_str());
      }
      PetscCall(Finish(&A, "vab", std::string("MatLoad() of what ") + writer + " wrote"));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of the calling process in CSR, entries in order of columns.
struct Arrays {
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> a;
};
static PetscErrorCode OwnRows(Arrays *rows, PetscInt *m)
{
  Mat                A;
  PetscInt           begin, end, n;
  const PetscInt    *j;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, Subject(), MATAIJ, nullptr, Layout::Even, &A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  *m = end - begin;
  rows->i.assign(1, 0);
  for (PetscInt row = begin; row < end; ++row) {
    PetscCall(MatGetRow(A, row, &n, &j, &a));
    rows->j.insert(rows->j.end(), j, j + n);
    rows->a.insert(rows->a.end(), a, a + n);
    rows->i.push_back((PetscInt)rows->j.size());
    PetscCall(MatRestoreRow(A, row, &n, &j, &a));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatCreateMPIAIJWithArrays() (on one rank MatCreateSeqAIJWithArrays()): converted in place, and by -mat_seqaij_type.
static PetscErrorCode WithArrays()
{
  Arrays   rows;
  PetscInt m = 0;
  Mat      A;

  PetscFunctionBeginUser;
  PetscCall(OwnRows(&rows, &m));
  for (bool by_option : {false, true}) {
    PetscCall(PetscOptionsSetValue(nullptr, "-mat_seqaij_type", by_option ? MATSEQAIJSPARSEGPU : MATSEQAIJ));
    if (PetscGlobalSize == 1)
      PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 50, 50, rows.i.data(), rows.j.data(), rows.a.data(), &A));
    else
      PetscCall(
          MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, m, m, 50, 50, rows.i.data(), rows.j.data(), rows.a.data(), &A));
    PetscCall(PetscOptionsClearValue(nullptr, "-mat_seqaij_type"));
    if (!by_option) PetscCall(MatConvert(A, MATSPARSEGPU, MAT_INPLACE_MATRIX, &A));
    if (!by_option || PetscGlobalSize == 1) PetscCall(CheckIsOurs(A, "with arrays"));
    PetscCall(CheckProducts(A, Subject(), "with arrays"));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values written into the program's own arrays behind PETSc's back are seen once it is told in one of three ways.
static PetscErrorCode OwnArrays()
{
  Problem  p = Subject();
  Arrays   rows;
  PetscInt m = 0;
  Mat      A;

  PetscFunctionBeginUser;
  PetscCall(OwnRows(&rows, &m));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 50, 50, rows.i.data(), rows.j.data(), rows.a.data(), &A));
  PetscCall(MatConvert(A, MATSPARSEGPU, MAT_INPLACE_MATRIX, &A));
  for (const char *format : {"dia", "sell", "hyb"}) {
    PetscCall(MatSparseGPUSetFormat(A, format));
    PetscCall(CheckProducts(A, p, std::string("own arrays, ") + format));
    for (const char *told : {"PetscObjectStateIncrease()", "MatAssemblyEnd()", "MatSeqAIJRestoreArray()"}) {
      const bool   array = !strcmp(told, "MatSeqAIJRestoreArray()");
      PetscScalar *a     = rows.a.data();
      if (array) PetscCall(MatSeqAIJGetArray(A, &a));
      for (size_t e = 0; e < rows.a.size(); ++e) a[e] *= -3;
      for (conformance::Entry &e : p.entries) e.v *= -3;
      if (array) {
        PetscCall(MatSeqAIJRestoreArray(A, &a));
      } else if (!strcmp(told, "MatAssemblyEnd()")) {
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      } else {
        PetscCall(PetscObjectStateIncrease((PetscObject)A));
      }
      PetscCall(CheckProducts(A, p, std::string(format) + ", own arrays, told by " + told));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The functions and the options say the same, and a name that is none of the formats is refused with the list of them.
static PetscErrorCode Settings()
{
  std::vector<std::string> formats;
  std::string              message;
  const char              *name;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  PetscCall(Create(&A));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  PetscCall(MatSparseGPUGetFormat(A, &name));
  PetscCheck(!strcmp(name, "auto"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The default format is %s", name);
  PetscCall(MatSparseGPUGetBackend(A, &name));
  PetscCheck(!strcmp(name, "auto"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The default backend is %s", name);
  for (const std::string &format : formats) {
    PetscCall(MatSparseGPUSetFormat(A, format.c_str()));
    PetscCall(MatSparseGPUGetFormat(A, &name));
    PetscCheck(name == format, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Set %s, got %s", format.c_str(), name);
  }
  PetscCall(MatSparseGPUSetBackend(A, "kokkos"));
  PetscCall(MatSparseGPUGetBackend(A, &name));
  PetscCheck(!strcmp(name, "kokkos"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Set kokkos, got %s", name);
  PetscCall(ExpectError(
      "format", [A] { return MatSparseGPUSetFormat(A, "nonsense"); }, &message));
  PetscCall(CheckText("MatSparseGPUSetFormat(nonsense)", message, {"nonsense", "auto"}));
  PetscCall(CheckText("MatSparseGPUSetFormat(nonsense)", message, formats));
  PetscCall(ExpectError(
      "backend", [A] { return MatSparseGPUSetBackend(A, "nonsense"); }, &message));
  PetscCall(CheckText("MatSparseGPUSetBackend(nonsense)", message, {"nonsense", "auto", "cuda", "kokkos"}));
  {
    const Option option("-mat_sparsegpu_format", "nonsense");
    PetscCall(ExpectError(
        "-mat_sparsegpu_format", [A] { return MatSetFromOptions(A); }, &message));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"mat_type", MatTypeOption},
               {"prefix_mat_type", PrefixOption},
               {"set_type", SetType},
               {"mat_seqaij_type", SeqAIJOption},
               {"convert_in_place", ConvertInPlace},
               {"load", Load},
               {"with_arrays", WithArrays},
               {"own_arrays", OwnArrays},
               {"settings", Settings}});
}
