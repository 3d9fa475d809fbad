static const char help[] = "Products that read values in single precision beside those that read them in full.\n\n";

#include "codecs.hpp"

#include <limits>
#include "mat/formats/codec/values.hpp"

using namespace testing;
using sparsegpu::formats::ProductsInSingle;

namespace
{
PetscErrorCode InSingle(Mat A, const Problem &p, Run *run)
{
  const ProductsInSingle single(true);

  PetscFunctionBeginUser;
  PetscCall(Products(A, p, run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckSame(const Run &got, const Run &expected, const std::string &what)
{
  PetscFunctionBeginUser;
  PetscCheck(got.results.size() == expected.results.size() &&
                 !memcmp(got.results.data(), expected.results.data(), got.results.size() * sizeof(PetscScalar)),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: other bits", what.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// The bits of a matrix whose values are those of single precision, before and after new values, and the full ones
/// before, between and afterwards. Where single precision does not hold a value, and where values are coded, the full
/// ones throughout.
static PetscErrorCode Same()
{
  const PetscReal          largest = (PetscReal)std::numeric_limits<float>::max();
  std::vector<std::string> backends;
  std::vector<Palette>     palettes = Palettes();
  int                      compared = 0;

  PetscFunctionBeginUser;
  palettes.push_back({"beyond among many", {largest * (PetscReal)1.0000001}, {}, false, false});
  palettes.push_back({"tiny among many", {1 / largest / 3}, {}, false, false});
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const std::string format : {"sell", "bsr", "dia"}) // all that round
      for (const Palette &palette : palettes) {
        if (!strcmp(palette.name, "NaN")) continue; // whose bits a conversion may change
        const Problem     p = Make(SHAPES[0], palette), rounded = RoundedProblem(p);
        const std::string what = p.name + " in " + format + " on " + backend;
        Mat               A, B, F;
        Run               full[2], single, expected;

        PetscCall(CreateMatrix(p, MATSPARSEGPU, format.c_str(), &A));
        PetscCall(CreateMatrix(p, MATSPARSEGPU, format.c_str(), &F));
        PetscCall(CreateMatrix(rounded, MATSPARSEGPU, format.c_str(), &B));
        for (Mat M : {A, B, F}) PetscCall(MatSparseGPUSetBackend(M, backend.c_str()));
        PetscBool accepts;
        PetscCall(MatSparseGPUCheckFormat(A, format.c_str(), &accepts, nullptr));
        const std::string name  = palette.name;
        const bool        holds = name.find("beyond") == std::string::npos && name != "denormal numbers" &&
                           name.find("tiny") == std::string::npos;
        const bool coded  = format != "dia" && (palette.narrow || (HAS_DICTIONARY && palette.few));
        const bool rounds = HAS_SINGLE && holds && !coded;
        for (int step = 0; step < (accepts ? 2 : 0); ++step) {
          const std::string at = what + ", step " + std::to_string(step);
          PetscCall(Products(F, p, &full[0]));
          PetscCall(Products(B, p, &expected));
          if (step == 0) PetscCall(Products(A, p, &full[1]));
          PetscCall(InSingle(A, p, &single));
          PetscCall(CheckSame(single, rounds ? expected : full[0], at + ", in single precision"));
          PetscCall(Products(A, p, &full[1]));
          PetscCall(CheckSame(full[1], full[0], at + ", in full"));
          for (Mat M : {A, F, B}) PetscCall(MatScale(M, 2)); // exact
          compared += rounds;
        }
        for (Mat *M : {&A, &B, &F}) PetscCall(MatDestroy(M));
      }
  PetscCheck(!HAS_SINGLE || compared > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Nothing was rounded");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}});
}
