static const char help[] = "Conversions and refreshes after a change, counted by their log events.\n\n";

#include "changes.hpp"

using namespace testing;

/// Conversions and refreshes since the last call.
static PetscErrorCode Counts(PetscInt *conversions, PetscInt *updates)
{
  static PetscInt last[2];
  PetscInt        now[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(EventCount("SparseGPUConv", &now[0]));
  PetscCall(EventCount("SparseGPUUpdate", &now[1]));
  *conversions = now[0] - last[0];
  *updates     = now[1] - last[1];
  std::copy(now, now + 2, last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values in the old pattern are refreshed, not converted; no change does neither; a new pattern converts once.
static PetscErrorCode Work()
{
  std::vector<std::string> formats;
  Mat                      A;
  Vec                      x, y;
  PetscInt                 conversions, updates;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(Formats(&formats));
  for (const std::string &format : formats) {
    const bool borrows = format == "csr" || format == "merge" || format == "coo" || format == "bitmap"; // AIJ's values
    const auto product = [&](const char *after, PetscInt conversions_due, PetscInt updates_due) {
      PetscFunctionBeginUser;
      for (PetscInt again = 0; again < 2; ++again) {
        PetscCall(MatMult(A, x, y));
        PetscCall(Counts(&conversions, &updates));
        PetscCheck(conversions == (again ? 0 : conversions_due) && updates == (again ? 0 : updates_due),
                   PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s, product %d after %s: %" PetscInt_FMT " conversions and %" PetscInt_FMT " updates",
                   format.c_str(), (int)again + 1, after, conversions, updates);
      }
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    PetscCall(CreateMatrix(Start(), MATSPARSEGPU, format.c_str(), &A));
    PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &x));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(Counts(&conversions, &updates));
    PetscCheck(conversions == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: converted before the first product",
               format.c_str());
    PetscCall(product("assembly", 1, 0));
    PetscCall(MatScale(A, 2));
    PetscCall(product("MatScale", 0, borrows ? 0 : 1));
    PetscCall(SetSome(A, 0, 1, 3, INSERT_VALUES));
    PetscCall(product("MatSetValues in the pattern", 0, borrows ? 0 : 1));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(SetSome(A, 9, 20, 3, INSERT_VALUES));
    PetscCall(product("MatSetValues outside it", 1, 0));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A product on the device copies each host vector once, and a device vector never.
static PetscErrorCode Copies()
{
  std::vector<std::string> types;
  PetscBool                device;
  PetscInt                 before = 0, after = 0;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("there is no device"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogDefaultBegin());
  PetscCall(VectorTypes(&types));
  PetscCall(CreateMatrix(Start(), MATSPARSEGPU, "csr", &A));
  PetscCall(MatSparseGPUSetBackend(A, "cuda"));
  for (const std::string &xtype : types)
    for (const std::string &ytype : types) {
      const PetscInt due = (xtype == VECSTANDARD) + (ytype == VECSTANDARD);
      Vec            x, y;
      PetscCall(CreateVector(A, Op::Plain, true, xtype, &x));
      PetscCall(CreateVector(A, Op::Plain, false, ytype, &y));
      PetscCall(VecSet(x, 1));
      PetscCall(MatMult(A, x, y)); // whatever is done once is done
      PetscCall(EventCount("SparseGPUCopy", &before));
      for (int times = 0; times < 10; ++times) PetscCall(MatMult(A, x, y));
      PetscCall(EventCount("SparseGPUCopy", &after));
      PetscCheck(after - before == 10 * due, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "x %s, y %s: %" PetscInt_FMT " copies in 10 products, %" PetscInt_FMT " expected", xtype.c_str(),
                 ytype.c_str(), after - before, 10 * due);
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
    }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"work", Work}, {"copies", Copies}});
}
