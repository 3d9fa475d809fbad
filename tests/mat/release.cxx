static const char help[] = "-mat_sparsegpu_release_csr: auxiliary data is freed, and rebuilt when it is needed.\n\n";

#include "codecs.hpp"

using namespace testing;

/// Products after assembly, after new values and after a new pattern, with what is kept and released then.
struct Story {
  std::vector<Run>              runs;
  std::vector<MatSparseGPUInfo> info;
};
static PetscErrorCode Tell(Mat A, const Problem &p, Story *story)
{
  Run              run;
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(Products(A, p, &run));
  PetscCall(MatSparseGPUGetInfo(A, &info));
  info.format = info.backend = info.reason = info.details = nullptr; // the matrix's own
  story->runs.push_back(run);
  story->info.push_back(info);
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Live(const Problem &p, const std::string &format, const std::string &backend, bool release,
                           Story *story)
{
  const Option option("-mat_sparsegpu_release_csr", release ? "1" : "0");
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSPARSEGPU, format.c_str(), &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  PetscCall(Tell(A, p, story));
  for (PetscReal factor : {3.0, 0.7}) { // twice, as released data is rebuilt each time
    PetscCall(MatScale(A, (PetscScalar)factor));
    PetscCall(Tell(A, p, story));
  }
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(A, 3, 77, 5, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Tell(A, p, story));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same bits with and without; nothing kept with, where something was without.
static PetscErrorCode SameBits()
{
  const Problem            p = conformance::Banded("bands_400", 400, 400, {-20, -2, -1, 0, 1, 2, 20});
  std::vector<std::string> formats, backends;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const std::string &format : formats) {
      Story             with, without;
      const std::string what = format + " on " + backend;
      if (format == "stencil") continue; // refuses values of full mantissa
      PetscCall(Live(p, format, backend, true, &with));
      PetscCall(Live(p, format, backend, false, &without));
      for (size_t k = 0; k < with.runs.size(); ++k) {
        const MatSparseGPUInfo &on = with.info[k], &off = without.info[k];
        PetscCall(CheckBits(with.runs[k], without.runs[k], true, what));
        PetscCheck(on.bytes_kept == 0 && off.bytes_released == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s, step %zu: %g bytes kept with the option, %g released without", what.c_str(), k, on.bytes_kept,
                   off.bytes_released);
        // Values that change on a GPU are kept there, but changed on the host where nothing is.
        const bool there = backend == "cuda" && PetscDefined(HAVE_CUDA);
        PetscCheck(on.bytes_released > 0 && (there || on.bytes_released == off.bytes_kept), PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "%s, step %zu: %g bytes released, but %g kept without the option", what.c_str(), k,
                   on.bytes_released, off.bytes_kept);
        PetscCheck(on.bytes_stored == off.bytes_stored, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s: %g bytes stored with the option, %g without", what.c_str(), on.bytes_stored, off.bytes_stored);
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Off by default; the view tells the bytes.
static PetscErrorCode View()
{
  const Problem p = conformance::Banded("bands_400", 400, 400, {-20, -1, 0, 1, 20});

  PetscFunctionBeginUser;
  for (bool release : {false, true}) {
    const Option     option(release ? "-mat_sparsegpu_release_csr" : "-not_an_option_of_ours", "");
    Run              run;
    MatSparseGPUInfo info;
    std::string      text;
    Mat              A;
    PetscCall(CreateMatrix(p, MATSPARSEGPU, "dia", &A));
    PetscCall(Products(A, p, &run));
    PetscCall(MatScale(A, 2));
    PetscCall(Products(A, p, &run));
    PetscCall(MatSparseGPUGetInfo(A, &info));
    PetscCheck((release ? info.bytes_released : info.bytes_kept) > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%g bytes kept, %g released", info.bytes_kept, info.bytes_released);
    PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO_DETAIL, "release_view", &text));
    PetscCall(CheckText("view", text,
                        {"kept for changes of values: " + std::to_string((long long)info.bytes_kept) +
                         " bytes, released: " + std::to_string((long long)info.bytes_released) + " bytes"}));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values that device arrays set are not lost: products, other formats, rows and factorizations still find them.
static PetscErrorCode Coordinates()
{
  const Option          option("-mat_sparsegpu_release_csr", "");
  const Problem         p = conformance::Grid("grid_13x9", 13, 9, false);
  std::vector<PetscInt> i, j;
  PetscBool             device;
  Mat                   A;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  for (const conformance::Entry &e : p.entries) {
    i.push_back(e.i);
    j.push_back(e.j);
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, p.rows, p.cols, p.rows, p.cols));
  PetscCall(MatSetType(A, MATSPARSEGPU));
  if (device) PetscCall(MatSparseGPUSetBackend(A, "cuda"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetPreallocationCOO(A, (PetscCount)i.size(), i.data(), j.data()));
  for (int round = 0; round < 3; ++round) {
    Problem                  q = p;
    std::vector<PetscScalar> v;
    MatSparseGPUInfo         info;
    for (conformance::Entry &e : q.entries) {
      e.v = e.i == e.j ? PetscScalar(8 + round) : e.v * (PetscScalar)(round + 1);
      v.push_back(e.v);
    }
    PetscCall(MatSetValuesCOO(A, ScalarArray(v, device).Get(), INSERT_VALUES));
    PetscCall(CheckProducts(A, q, "coordinates"));
    PetscCall(MatSparseGPUGetInfo(A, &info));
    PetscCheck(info.bytes_kept == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes kept", info.bytes_kept);
    PetscCheck(!device || info.bytes_released >= (PetscLogDouble)(v.size() * sizeof(PetscScalar)), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%g bytes released: the values on the device are not among them", info.bytes_released);
    Problem rows;
    PetscCall(Gather(A, &rows));
    for (const conformance::Entry &e : rows.entries)
      for (const conformance::Entry &f : q.entries)
        PetscCheck(e.i != f.i || e.j != f.j || e.v == f.v, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "Entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is not what was set", e.i, e.j);
    PetscCheck(rows.entries.size() == q.entries.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu entries, not %zu",
               rows.entries.size(), q.entries.size());
    PetscCall(MatSparseGPUSetFormat(A, round ? "ell" : "sell")); // another one, from the host's arrays
    PetscCall(CheckProducts(A, q, "another format"));
    KSP       ksp; // ILU reads the values where they are
    PC        pc;
    Vec       x, b, r;
    PetscReal norm, bnorm;
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(VecSet(b, 1));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCSPARSEGPU));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAXPY(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &norm));
    PetscCall(VecNorm(b, NORM_2, &bnorm));
    PetscCheck(norm <= PetscSqrtReal(PETSC_MACHINE_EPSILON) * 1e4 * bnorm, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Residual %g of %g: not this matrix's factors", (double)norm, (double)bnorm);
    PetscCall(KSPDestroy(&ksp));
    for (Vec *u : {&x, &b, &r}) PetscCall(VecDestroy(u));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same_bits", SameBits}, {"view", View}, {"coordinates", Coordinates}});
}
