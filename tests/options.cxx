static const char help[] =
    "Options with values that are not allowed: an error that names the value, and nothing has changed.\n\n";

#include "pc/factors.hpp"
#include <petscksp.h>
#include <cstring>
#include <limits>

using namespace testing;

namespace
{
struct Value {
  const char *name, *value;
  const char *allowed; ///< what the message must hold
};
} // namespace

static const std::vector<Value> BAD = {{"-mat_sparsegpu_max_padding", "-1", "at least 1"},
                                       {"-mat_sparsegpu_max_padding", "0.5", "at least 1"},
                                       {"-mat_sparsegpu_hyb_fraction", "-0.1", "(0, 1]"},
                                       {"-mat_sparsegpu_hyb_fraction", "0", "(0, 1]"},
                                       {"-mat_sparsegpu_hyb_fraction", "1.5", "(0, 1]"},
                                       {"-mat_sparsegpu_merge_workers", "-3", "positive, or 0"},
                                       {"-mat_sparsegpu_csr_width", "-1", "power of two from 1 to 32, or 0"},
                                       {"-mat_sparsegpu_csr_width", "3", "power of two from 1 to 32, or 0"},
                                       {"-mat_sparsegpu_csr_width", "64", "power of two from 1 to 32, or 0"},
                                       {"-mat_sparsegpu_vab_block", "0", "multiple of 64 from 64 to 1024"},
                                       {"-mat_sparsegpu_vab_block", "100", "multiple of 64 from 64 to 1024"},
                                       {"-mat_sparsegpu_vab_block", "1088", "multiple of 64 from 64 to 1024"},
                                       {"-mat_sparsegpu_sccsr_blocks", "-1", "non-negative"},
                                       {"-mat_sparsegpu_sell_window", "0", "power of two"},
                                       {"-mat_sparsegpu_sell_window", "-2", "power of two"},
                                       {"-mat_sparsegpu_sell_window", "48", "power of two"},
                                       {"-mat_sparsegpu_sell_window", "131072", "power of two"},
                                       {"-mat_sparsegpu_column_bytes", "3", "1, 2, 4, or 0"},
                                       {"-mat_sparsegpu_column_bytes", "8", "1, 2, 4, or 0"},
                                       {"-mat_sparsegpu_column_bytes", "-1", "1, 2, 4, or 0"},
                                       {"-mat_sparsegpu_bsr_block", "1", "2 to 6, or 0"},
                                       {"-mat_sparsegpu_bsr_block", "7", "2 to 6, or 0"},
                                       {"-mat_sparsegpu_values", "half", "full, single or dictionary"},
                                       {"-mat_sparsegpu_device_conversion", "-1", "non-negative"}};

static const std::vector<Value> GOOD = {
    {"-mat_sparsegpu_max_padding", "1", nullptr},     {"-mat_sparsegpu_hyb_fraction", "1", nullptr},
    {"-mat_sparsegpu_merge_workers", "0", nullptr},   {"-mat_sparsegpu_csr_width", "32", nullptr},
    {"-mat_sparsegpu_vab_block", "1024", nullptr},    {"-mat_sparsegpu_sccsr_blocks", "0", nullptr},
    {"-mat_sparsegpu_sell_window", "-1", nullptr},    {"-mat_sparsegpu_sell_window", "1", nullptr},
    {"-mat_sparsegpu_column_bytes", "4", nullptr},    {"-mat_sparsegpu_bsr_block", "6", nullptr},
    {"-mat_sparsegpu_values", "dictionary", nullptr}, {"-mat_sparsegpu_device_conversion", "0", nullptr}};

/// The error that `call` must give under the option `v`.
template <class Call> static PetscErrorCode Refused(const Value &v, const char *named, Call call)
{
  const Option      option(v.name, v.value);
  const std::string what = std::string(v.name) + " " + v.value;
  std::string       message;

  PetscFunctionBeginUser;
  PetscCall(ExpectError(what, call, &message, PETSC_ERR_ARG_OUTOFRANGE));
  PetscCall(CheckText(what, message, {named, v.value, v.allowed}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// At MatSetFromOptions() the error comes at once and the settings stay; a matrix that never sees it has the error at
/// its first product, and products once the option is gone.
static PetscErrorCode Matrix()
{
  const Problem p = conformance::Banded("bands_80", 80, 80, {-9, 0, 1});

  PetscFunctionBeginUser;
  for (const Value &v : BAD) {
    const char *format;
    Mat         A;
    {
      const Option dia("-mat_sparsegpu_format", "dia");
      PetscCall(CreateMatrix(p, MATSPARSEGPU, nullptr, &A));
      PetscCall(MatSetFromOptions(A));
    }
    const Option other("-mat_sparsegpu_format", "csr"); // right, but read together with what is wrong
    PetscCall(Refused(v, v.name, [A] { return MatSetFromOptions(A); }));
    PetscCall(MatSparseGPUGetFormat(A, &format));
    PetscCheck(!strcmp(format, "dia"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "After the wrong %s the format is %s", v.name,
               format);
    PetscCall(CheckProducts(A, p, v.name));
    PetscCall(MatDestroy(&A));

    Vec x, y;
    PetscCall(CreateMatrix(p, MATAIJ, nullptr, &A));
    PetscCall(MatConvert(A, MATSPARSEGPU, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(Refused(v, v.name, [=] { return MatMult(A, x, y); }));
    PetscCall(CheckProducts(A, p, v.name));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  for (const Value &v : GOOD) {
    const Option option(v.name, v.value);
    Mat          A;
    PetscCall(CreateMatrix(p, MATSPARSEGPU, nullptr, &A));
    PetscCall(MatSetFromOptions(A));
    PetscCall(CheckProducts(A, p, v.name));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The preconditioner keeps what it had: the factorization asked for beside a wrong value is not taken.
static PetscErrorCode Preconditioner()
{
  const Problem p = Symmetric(conformance::Grid("grid_9x8", 9, 8, false));
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSPARSEGPU, nullptr, &A));
  for (const Value &v : std::vector<Value>{{"-pc_sparsegpu_levels", "-1", "non-negative"},
                                           {"-pc_factor_levels", "-2", "non-negative"},
                                           {"-pc_sparsegpu_subdomains", "0", "positive number or auto"},
                                           {"-pc_sparsegpu_block_size", "0", "positive"},
                                           {"-pc_sparsegpu_block_size", "-5", "positive"}}) {
    std::string text;
    PC          pc;
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCSPARSEGPU));
    PetscCall(PCSetOperators(pc, A, A));
    const Option other("-pc_sparsegpu_factor", "icc");
    PetscCall(Refused(v, "", [pc] { return PCSetFromOptions(pc); }));
    PetscCall(PCSetUp(pc));
    PetscCall(TextOf(PETSC_COMM_SELF, "options_pc", &text, [pc](PetscViewer viewer) { return PCView(pc, viewer); }));
    PetscCall(CheckText(v.name, text, {"diagonal blocks: ilu(0)"}));
    PetscCall(PCDestroy(&pc));
  }
  for (const Value &v : std::vector<Value>{{"-mat_sparsegpu_trisolve_spins", "0", "positive"},
                                           {"-mat_sparsegpu_trisolve_warps", "-1", "positive, or 0"},
                                           {"-mat_sparsegpu_trisolve_tile", "2", "1, 4 or 8"},
                                           {"-mat_sparsegpu_trisolve_sweeps", "-1", "non-negative"}}) {
    PC pc;
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCSPARSEGPU));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(Refused(v, v.name, [pc] { return PCSetUp(pc); }));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The solvers keep what they had.
static PetscErrorCode Solvers()
{
  PetscFunctionBeginUser;
  for (const Value &v : std::vector<Value>{{"-ksp_gmres_restart", "0", "positive"},
                                           {"-ksp_gmres_haptol", "-1", "non-negative"},
                                           {"-ksp_gmres_breakdown_tolerance", "-0.5", "non-negative"}}) {
    const Option good(strcmp(v.name, "-ksp_gmres_restart") ? "-ksp_gmres_restart" : "-ksp_gmres_unused", "7");
    PetscInt     restart;
    KSP          ksp;
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetType(ksp, KSPSPARSEGPUGMRES));
    PetscCall(Refused(v, "", [ksp] { return KSPSetFromOptions(ksp); }));
    PetscCall(KSPGMRESGetRestart(ksp, &restart));
    PetscCheck(restart == 30, PETSC_COMM_SELF, PETSC_ERR_PLIB, "After the wrong %s the restart is %" PetscInt_FMT,
               v.name, restart);
    PetscCall(KSPDestroy(&ksp));
  }
  for (const char *value : {"0", "inf"}) {
    // newer PETSc refuses what is not finite itself, in its own words
    const bool  finite = !strcmp(value, "0");
    const Value v      = {"-ksp_sparsegpujacobi_damping", value, finite ? "other than 0" : ""};
    std::string message;
    KSP         ksp;
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetType(ksp, KSPSPARSEGPUJACOBI));
    PetscCall(Refused(v, "", [ksp] { return KSPSetFromOptions(ksp); }));
    const PetscReal scale = finite ? 0 : std::numeric_limits<PetscReal>::infinity();
    PetscCall(ExpectError(
        "KSPRichardsonSetScale()", [&] { return KSPRichardsonSetScale(ksp, scale); }, &message,
        PETSC_ERR_ARG_OUTOFRANGE));
    PetscCall(CheckText("KSPRichardsonSetScale()", message, {value, "a finite number other than 0"}));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"matrix", Matrix}, {"preconditioner", Preconditioner}, {"solvers", Solvers}});
}
