static const char help[] = "Matrices of real applications in every format.\n\
  -file FILE : one of them; else all of the folder that the environment variable SPARSEGPU_MATRICES names\n\n";

#include "../real_matrices.hpp"

#include <algorithm>

using namespace testing;

/// Must the format refuse it? dia, ell and bsr for more than 4 slots an entry, unless small; stencil for too many kinds
/// of rows; bitmap where its words alone are more bytes than CSR and than 8192. Counted here, not asked of the library.
static bool MustRefuse(const Problem &p, const std::string &format)
{
  std::vector<char>     diagonal((size_t)(p.rows + p.cols) + 1, 0);
  std::vector<PetscInt> length((size_t)p.rows + 1, 0);
  double                width = 0;

  if (format == "stencil") return conformance::TooManyDifferentRows(p);
  if (format == "bitmap") return conformance::TooManyBits(p);
  if (format == "bsr") return conformance::TooMuchFillInBlocks(p);
  for (const conformance::Entry &e : p.entries) {
    diagonal[(size_t)(p.rows + e.j - e.i)] = 1;
    ++length[(size_t)e.i];
  }
  if (format == "dia")
    width = (double)std::count(diagonal.begin(), diagonal.end(), 1);
  else if (format == "ell")
    width = (double)*std::max_element(length.begin(), length.end());
  const double stored = width * (double)p.rows, nonzeros = (double)p.entries.size();
  return stored > 4 * nonzeros && stored > nonzeros + 1024;
}

static PetscErrorCode CheckFile(const std::string &file)
{
  std::vector<std::string> formats, backends;
  Problem                  p;
  bool                     loaded;

  PetscFunctionBeginUser;
  PetscCall(LoadReal(file, &p, &loaded));
  if (!loaded) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Formats(&formats));
  PetscCall(Backends(&backends));
  formats.push_back("auto");
  for (const std::string &format : formats) {
    const bool  refused = MustRefuse(p, format);
    PetscBool   accepts = PETSC_TRUE;
    const char *why     = "";
    Mat         A;
    PetscCall(CreateMatrix(p, MATSPARSEGPU, format.c_str(), &A));
    if (format != "auto") PetscCall(MatSparseGPUCheckFormat(A, format.c_str(), &accepts, &why));
    PetscCheck(accepts == (refused ? PETSC_FALSE : PETSC_TRUE), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s in %s: %s",
               p.name.c_str(), format.c_str(), accepts ? "accepted" : why);
    for (const std::string &backend : backends) {
      if (refused) break;
      PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
      PetscCall(CheckProducts(A, p, p.name + " in " + format + " on " + backend));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RealMatrices()
{
  PetscFunctionBeginUser;
  PetscCall(EachRealMatrix(CheckFile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"real_matrices", RealMatrices}});
}
