static const char help[] =
    "The conformance suite on several ranks, in every format and on layouts with ranks that own nothing.\n\n";

#include "../family.hpp"

using namespace testing;

/// Does any rank's diagonal block refuse the format?
static PetscErrorCode AnyRefuses(Mat A, const std::string &format, bool *refused)
{
  PetscBool accepts;
  int       mine, any;

  PetscFunctionBeginUser;
  PetscCall(MatSparseGPUCheckFormat(A, format.c_str(), &accepts, nullptr));
  mine = accepts ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  *refused = any != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckProblem(const Problem &p, Layout layout, const std::string &format,
                                   const std::string &backend)
{
  const std::string what = p.name + " in " + format + " on " + backend + ", " + Name(layout);
  Mat               A;
  bool              refused;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format.c_str(), layout, &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  PetscCall(AnyRefuses(A, format, &refused));
  PetscCheck(!refused || conformance::Refuses(p, format), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: refused",
             what.c_str());
  if (!refused) {
    PetscCall(CheckProducts(A, p, what));
    PetscCall(CheckOneProduct(A, p, Op::Plain, Poison::Inside, VECSTANDARD, VECSTANDARD, what + ", Inf and NaN in x"));
    PetscCall(CheckOneProduct(A, p, Op::Transpose, Poison::First, VECSTANDARD, VECSTANDARD, what + ", Inf in x"));
    PetscCall(CheckIsOurs(A, what));
    PetscCall(CheckRanOn(A, format, what));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Parallel(Layout layout)
{
  std::vector<std::string> formats, backends;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  PetscCall(Backends(&backends));
  for (const Problem &p : conformance::All())
    for (const std::string &format : formats)
      for (const std::string &backend : backends) PetscCall(CheckProblem(p, layout, format, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <Layout layout> static PetscErrorCode On()
{
  PetscFunctionBeginUser;
  PetscCall(Parallel(layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"even", On<Layout::Even>},
               {"first_empty", On<Layout::FirstEmpty>},
               {"all_on_last", On<Layout::AllOnLast>},
               {"opposite", On<Layout::Opposite>}});
}
