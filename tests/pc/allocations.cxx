static const char help[] = "New values in a factor, and solves with it, take no memory of the GPU.\n\n";

#include "../device_array.hpp"
#include "device/device.hpp"
#include "factors.hpp"

using namespace testing;

namespace
{
struct Setting {
  const char   *engine, *ordering;
  MatFactorType kind;
  PetscInt      levels;
  bool          transpose;

  std::string Name() const
  {
    return std::string(engine) + ", " + ordering + ", " + MatFactorTypes[kind] + "(" + std::to_string(levels) + ")" +
           (transpose ? ", transposed" : "");
  }
};

/// Values from device memory by coordinates, factored and solved with; `times` times. The diagonal stays dominant.
PetscErrorCode Rounds(const Setting &s, int times, std::vector<PetscScalar> *v, Mat A, Mat F, Vec b, Vec x)
{
  const MatFactorInfo info = Info((PetscReal)s.levels);

  PetscFunctionBeginUser;
  for (int round = 0; round < times; ++round) {
    for (PetscScalar &value : *v) value *= (PetscReal)1.25;
    PetscCall(MatSetValuesCOO(A, ScalarArray(*v, true).Get(), INSERT_VALUES));
    PetscCall(s.kind == MAT_FACTOR_ICC ? MatCholeskyFactorNumeric(F, A, &info) : MatLUFactorNumeric(F, A, &info));
    PetscCall(s.transpose ? MatSolveTranspose(F, b, x) : MatSolve(F, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Check(const Problem &p, const Setting &s)
{
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> v;
  Mat                      A, F;
  Vec                      b, x;

  PetscFunctionBeginUser;
  for (const Entry &e : p.entries) {
    i.push_back(e.i);
    j.push_back(e.j);
    v.push_back(e.v);
  }
  PetscCall(CreateOn("cuda", p, &A));
  PetscCall(MatSetPreallocationCOO(A, (PetscCount)i.size(), i.data(), j.data()));
  PetscCall(MatSetValuesCOO(A, ScalarArray(v, true).Get(), INSERT_VALUES));
  PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, s.kind, Info((PetscReal)s.levels), s.ordering, &F));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(Rounds(s, 1, &v, A, F, b, x)); // what is made when it is first needed
  const PetscCount before = sparsegpu::DeviceAllocations();
  PetscCall(Rounds(s, 3, &v, A, F, b, x));
  const PetscCount after = sparsegpu::DeviceAllocations();
  PetscCheck(before > 0 && after == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %lld allocations before, then %lld",
             s.Name().c_str(), (long long)before, (long long)(after - before));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

static PetscErrorCode None()
{
  const Problem p = Symmetric(conformance::Grid("grid_24x23", 24, 23, false));
  PetscBool     found;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&found));
  if (!found) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const char *engine : ENGINES)
    for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGRCM})
      for (MatFactorType kind : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
        for (PetscInt levels : {0, 1})
          for (bool transpose : {false, true}) {
            const Option chosen("-mat_sparsegpu_trisolve", engine);
            PetscCall(Check(p, Setting{engine, ordering, kind, levels, transpose}));
          }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"none", None}});
}
