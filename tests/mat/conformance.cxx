static const char help[] = "One format on one backend: the product family on the whole conformance suite.\n\
  -format NAME  -backend NAME\n\n";

#include "../family.hpp"

#include <device/scalar.hpp>

using namespace testing;

static std::string Wanted(const char option[])
{
  char      value[64] = "";
  PetscBool set;
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetString(nullptr, nullptr, option, value, sizeof(value), &set));
  return value;
}

/// What MatSparseGPUGetInfo() says must hang together.
static PetscErrorCode CheckInfo(Mat A, const Problem &p, const std::string &format, const std::string &backend)
{
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatSparseGPUGetInfo(A, &info));
  PetscCheck(format == "auto" ? strcmp(info.format, "auto") != 0 : format == info.format, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s: asked for %s, runs on %s", p.name.c_str(), format.c_str(), info.format);
  PetscCheck(backend == info.backend, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: asked for %s, runs on %s",
             p.name.c_str(), format.c_str(), backend.c_str(), info.backend);
  PetscCheck(info.reason && *info.reason, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: no reason", p.name.c_str(),
             format.c_str());
  PetscCheck(info.nonzeros == (PetscLogDouble)p.entries.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s, %s: %g nonzeros, not %zu", p.name.c_str(), format.c_str(), info.nonzeros, p.entries.size());
  PetscCheck(info.stored >= info.nonzeros || !strcmp(info.format, "stencil"), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s, %s: stores %g entries of %g", p.name.c_str(), format.c_str(), info.stored, info.nonzeros);
  if (p.entries.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(info.bytes_stored > 0 && info.bytes_mult > 0 && info.convert_seconds > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s, %s: %g bytes stored, %g a product, %g s", p.name.c_str(), format.c_str(), info.bytes_stored,
             info.bytes_mult, info.convert_seconds);
  const double csr =
      (double)p.entries.size() * (sizeof(PetscScalar) + sizeof(PetscInt)) + (double)(p.rows + 1) * sizeof(PetscInt);
  PetscCheck(info.bytes_csr == csr, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: CSR has %g bytes, not %g", p.name.c_str(),
             csr, info.bytes_csr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckProblem(const Problem &p, const std::string &format, const std::string &backend)
{
  const bool        refused = conformance::Refuses(p, format);
  const std::string what    = p.name + " in " + format + " on " + backend;
  Mat               A;
  PetscBool         accepts = PETSC_TRUE;
  const char       *why     = nullptr;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSPARSEGPU, format.c_str(), &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  if (format != "auto") PetscCall(MatSparseGPUCheckFormat(A, format.c_str(), &accepts, &why));
  PetscCheck(accepts == (refused ? PETSC_FALSE : PETSC_TRUE), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: must be %s, is not: %s", what.c_str(), refused ? "refused" : "accepted", why ? why : "");
  if (!refused) {
    PetscCall(CheckProductsPoisoned(A, p, what));
    PetscCall(CheckInfo(A, p, format, backend));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values that are Inf or NaN are part of the product, the payload with which the library itself marks padding
/// included.
static PetscErrorCode CheckSpecialValues(const std::string &format, const std::string &backend)
{
  const PetscReal inf = std::numeric_limits<PetscReal>::infinity();

  PetscFunctionBeginUser;
  for (PetscReal value :
       {inf, -inf, std::numeric_limits<PetscReal>::quiet_NaN(), sparsegpu::RealOf(sparsegpu::PAD_BITS)}) {
    conformance::Builder b("value_inf_or_nan", 40, 40);
    for (PetscInt i = 0; i < 40; ++i) {
      b.Add(i, i, i == 21 ? PetscScalar(value) : conformance::Value((unsigned long long)i));
      if (i % 3) b.Add(i, i - 1);
    }
    PetscCall(CheckProblem(b, format, backend));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Conformance()
{
  const std::string        format = Wanted("-format"), backend = Wanted("-backend");
  std::vector<std::string> backends, formats;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  PetscCheck(format == "auto" || std::find(formats.begin(), formats.end(), format) != formats.end(), PETSC_COMM_SELF,
             PETSC_ERR_ARG_WRONG, "The library has no format \"%s\"", format.c_str());
  PetscCall(Backends(&backends));
  if (std::find(backends.begin(), backends.end(), backend) == backends.end()) {
    PetscCall(Skip("there is no device for -backend " + backend));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const Problem &p : conformance::All()) PetscCall(CheckProblem(p, format, backend));
  PetscCall(CheckSpecialValues(format, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"conformance", Conformance}});
}
