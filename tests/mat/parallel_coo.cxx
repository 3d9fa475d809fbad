static const char help[] =
    "Assembly of a parallel matrix from coordinates, where its blocks live, with plain AIJ's results.\n\
  -device : indices and values are in device memory\n\n";

#include "coo.hpp"

using namespace testing;

namespace
{
/// Coordinates that a rank gives, drawn for `seed`: of any row, many twice, some with a negative index.
struct Drawn : Coo {
  Drawn(unsigned seed, PetscInt rows, PetscInt cols, size_t count)
  {
    unsigned long long h    = seed * 7919u + 104729u * (unsigned)PetscGlobalRank + 1;
    const auto         next = [&h](PetscInt n) {
      h = h * 6364136223846793005ull + 1442695040888963407ull;
      return (PetscInt)((h >> 33) % (unsigned long long)n);
    };
    for (size_t k = 0; k < count; ++k) {
      const PetscInt    row = next(rows), col = next(3) ? (row + next(5)) % cols : next(cols);
      const PetscScalar value = (PetscReal)(1 + next(255)) / 64;
      Add(next(17) ? row : -1 - row, next(19) ? col : -5, value);
    }
  }
};

/// Products and entries of both must be the same, to the last bit: sums of the drawn values have no rounding error.
PetscErrorCode CheckSame(Mat A, Mat aij, const std::string &what)
{
  Vec         x, y, z;
  PetscBool   same;
  PetscRandom random;
  Problem     a, b;
  PetscReal   norm, off;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(x, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatMult(aij, x, z));
  for (int round = 0; round < 2; ++round) { // the second time the values are hidden, with -sparsegpu_test_away
    PetscCall(MatMult(A, x, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(y, -1, z));
    PetscCall(VecNorm(y, NORM_INFINITY, &off));
    PetscCheck(off <= 100 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: product off by %g of %g", what.c_str(), (double)off, (double)norm);
  }
  PetscCall(Gather(A, &a));
  PetscCall(Gather(aij, &b));
  same = (PetscBool)(a.entries.size() == b.entries.size());
  for (size_t k = 0; same && k < a.entries.size(); ++k)
    same = (PetscBool)(a.entries[k].i == b.entries[k].i && a.entries[k].j == b.entries[k].j &&
                       a.entries[k].v == b.entries[k].v);
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: other entries than aij's", what.c_str());
  for (Vec *v : {&x, &y, &z}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Preallocate(Mat A, const Coo &coo, bool device)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetPreallocationCOO(A, (PetscCount)coo.i.size(), IndexArray(coo.i, device).Get(),
                                   IndexArray(coo.j, device).Get()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Create(const char type[], Layout layout, PetscInt rows, PetscInt cols, Mat *A)
{
  PetscInt m, n;

  PetscFunctionBeginUser;
  PetscCall(LocalSize(PETSC_COMM_WORLD, layout, true, rows, &m));
  PetscCall(LocalSize(PETSC_COMM_WORLD, layout, false, cols, &n));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m, n, rows, cols));
  PetscCall(MatSetType(*A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Other values for the same coordinates.
std::vector<PetscScalar> Values(const Coo &coo, int round)
{
  std::vector<PetscScalar> v = coo.v;
  for (size_t k = 0; k < v.size(); ++k) v[k] += (PetscReal)((k + (size_t)round) % 7) / 4;
  return v;
}

struct Pair {
  Mat ours, aij;

  PetscErrorCode Create(Layout layout, PetscInt rows, PetscInt cols)
  {
    PetscFunctionBeginUser;
    PetscCall(::Create(MATMPIAIJSPARSEGPU, layout, rows, cols, &ours));
    PetscCall(::Create(MATMPIAIJ, layout, rows, cols, &aij));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Destroy()
  {
    PetscFunctionBeginUser;
    PetscCall(MatDestroy(&ours));
    PetscCall(MatDestroy(&aij));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Preallocate(const Coo &coo)
  {
    PetscFunctionBeginUser;
    PetscCall(::Preallocate(ours, coo, OnDevice()));
    PetscCall(::Preallocate(aij, coo, false));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Set(const std::vector<PetscScalar> &v, InsertMode mode, const std::string &what, bool device)
  {
    PetscFunctionBeginUser;
    PetscCall(MatSetValuesCOO(ours, ScalarArray(v, device).Get(), mode));
    PetscCall(MatSetValuesCOO(aij, v.data(), mode));
    PetscCall(CheckSame(ours, aij, what));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode SetOften(const Coo &coo, const std::string &what)
  {
    PetscMPIInt rank;

    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(Set(Values(coo, 0), INSERT_VALUES, what + ", inserted", OnDevice()));
    PetscCall(Set(Values(coo, 1), ADD_VALUES, what + ", added", OnDevice()));
    PetscCall(Set(Values(coo, 2), INSERT_VALUES, what + ", some on the host", OnDevice() && rank % 2));
    PetscCall(Set(Values(coo, 3), INSERT_VALUES, what + ", inserted again", OnDevice()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// All layouts and shapes, twice with other coordinates: ghosts are added and lost.
PetscErrorCode Layouts()
{
  bool none = false;

  PetscFunctionBeginUser;
  PetscCall(NoDevice(&none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  for (Layout layout : LAYOUTS)
    for (PetscInt cols : {37, 50}) {
      Pair pair;
      PetscCall(pair.Create(layout, 37, cols));
      for (unsigned seed = 0; seed < 3; ++seed) {
        const Drawn coo(seed, 37, cols, seed == 1 && PetscGlobalRank == 0 ? 0 : 150 + 40 * seed);
        const auto  what =
            std::string(Name(layout)) + ", " + std::to_string(cols) + " columns, coordinates " + std::to_string(seed);
        PetscCall(pair.Preallocate(coo));
        PetscCall(pair.SetOften(coo, what));
        PetscCall(MatSetValuesCOO(pair.ours, nullptr, ADD_VALUES)); // zeros
        PetscCall(CheckSame(pair.ours, pair.aij, what + ", zeros added"));
      }
      PetscCall(pair.Destroy());
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same values give the same bits, values that do not add up exactly, too.
PetscErrorCode Repeated()
{
  Coo                      coo = Drawn(5, 40, 40, 400);
  std::vector<PetscScalar> v(coo.i.size());
  Problem                  first, again;
  bool                     none = false;

  PetscFunctionBeginUser;
  PetscCall(NoDevice(&none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t k = 0; k < v.size(); ++k) v[k] = (PetscReal)1 / (PetscReal)(3 + k % 97 + 7 * (size_t)PetscGlobalRank);
  for (int round = 0; round < 6; ++round) {
    Mat A;
    PetscCall(Create(MATMPIAIJSPARSEGPU, Layout::Even, 40, 40, &A));
    PetscCall(Preallocate(A, coo, OnDevice()));
    PetscCall(MatSetValuesCOO(A, ScalarArray(v, OnDevice()).Get(), INSERT_VALUES));
    PetscCall(Gather(A, round ? &again : &first));
    for (size_t k = 0; round && k < first.entries.size(); ++k)
      PetscCheck(!memcmp(&again.entries[k].v, &first.entries[k].v, sizeof(PetscScalar)), PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "Entry %zu has other bits", k);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Duplicates before and after values, conversion to plain aij and back, operations between, another preallocation.
PetscErrorCode Copies()
{
  const Drawn coo(9, 41, 41, 200), other(10, 41, 41, 90);
  Pair        pair;
  bool        none = false;

  PetscFunctionBeginUser;
  PetscCall(NoDevice(&none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  [[maybe_unused]] Pair copy;
  PetscCall(pair.Create(Layout::Even, 41, 41));
  PetscCall(pair.Preallocate(coo));
#if !PETSC_VERSION_LT(3, 20, 0) // PETSc's duplicate takes values by coordinates from 3.20 on
  PetscCall(MatSetValuesCOO(pair.aij, Values(coo, 0).data(), INSERT_VALUES));
  PetscCall(MatDuplicate(pair.ours, MAT_DO_NOT_COPY_VALUES, &copy.ours)); // before it has values
  PetscCall(MatDuplicate(pair.aij, MAT_DO_NOT_COPY_VALUES, &copy.aij));
  PetscCall(copy.SetOften(coo, "a duplicate before values"));
  PetscCall(copy.Destroy());
#endif
  PetscCall(pair.SetOften(coo, "the matrix"));
  for (Mat A : {pair.ours, pair.aij}) {
    PetscCall(MatScale(A, 2));
    PetscCall(MatZeroEntries(A));
  }
  PetscCall(pair.Set(Values(coo, 3), ADD_VALUES, "after other operations", OnDevice()));
#if !PETSC_VERSION_LT(3, 20, 0)
  PetscCall(MatDuplicate(pair.ours, MAT_COPY_VALUES, &copy.ours));
  PetscCall(MatDuplicate(pair.aij, MAT_COPY_VALUES, &copy.aij));
  PetscCall(CheckSame(copy.ours, copy.aij, "a duplicate"));
  PetscCall(pair.Set(Values(coo, 4), INSERT_VALUES, "the matrix beside its duplicate", OnDevice()));
  PetscCall(copy.SetOften(coo, "a duplicate with values"));
  PetscCall(copy.Destroy());
#endif
  PetscCall(MatConvert(pair.ours, MATMPIAIJ, MAT_INPLACE_MATRIX, &pair.ours));
  PetscCall(MatSetValuesCOO(pair.ours, Values(coo, 5).data(), INSERT_VALUES));
  PetscCall(MatSetValuesCOO(pair.aij, Values(coo, 5).data(), INSERT_VALUES));
  PetscCall(CheckSame(pair.ours, pair.aij, "plain aij that was ours"));
  PetscCall(MatConvert(pair.ours, MATMPIAIJSPARSEGPU, MAT_INPLACE_MATRIX, &pair.ours));
  PetscCall(pair.SetOften(coo, "ours again"));
  PetscCall(pair.Preallocate(other));
  PetscCall(pair.SetOften(other, "preallocated anew"));
  PetscCall(MatConvert(pair.ours, MATMPIAIJ, MAT_INPLACE_MATRIX, &pair.ours));
  PetscCall(::Preallocate(pair.ours, coo, false));
  PetscCall(::Preallocate(pair.aij, coo, false));
  PetscCall(MatSetValuesCOO(pair.ours, coo.v.data(), INSERT_VALUES));
  PetscCall(MatSetValuesCOO(pair.aij, coo.v.data(), INSERT_VALUES));
  PetscCall(CheckSame(pair.ours, pair.aij, "plain aij preallocated anew"));
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Options that say what becomes of entries of other ranks' rows, and of zeros.
PetscErrorCode WithOptions()
{
  const Drawn coo(21, 30, 30, 120);
  Coo         own;
  Pair        pair;
  std::string message;
  bool        none = false;
  PetscInt    begin, end;

  PetscFunctionBeginUser;
  PetscCall(NoDevice(&none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(pair.Create(Layout::Even, 30, 30));
  for (Mat A : {pair.ours, pair.aij}) PetscCall(MatSetOption(A, MAT_IGNORE_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(pair.Preallocate(coo));
  PetscCall(pair.SetOften(coo, "entries of others ignored"));
  PetscCall(pair.Destroy());

  PetscCall(pair.Create(Layout::Even, 30, 30));
  for (Mat A : {pair.ours, pair.aij}) {
    PetscCall(MatSetUp(A));
    PetscCall(MatSetOption(A, MAT_IGNORE_ZERO_ENTRIES, PETSC_TRUE));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  }
  PetscCall(pair.Preallocate(coo));
  PetscCall(pair.SetOften(coo, "zeros ignored"));
  PetscCall(pair.Destroy());

  PetscCall(pair.Create(Layout::Even, 30, 30));
  PetscCall(MatSetUp(pair.ours));
  PetscCall(MatGetOwnershipRange(pair.ours, &begin, &end));
  for (size_t k = 0; k < coo.i.size(); ++k)
    if (coo.i[k] < 0 || (coo.i[k] >= begin && coo.i[k] < end)) own.Add(coo.i[k], coo.j[k], coo.v[k]);
  for (Mat A : {pair.ours, pair.aij}) PetscCall(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(pair.Preallocate(own));
  PetscCall(pair.SetOften(own, "no entries of others"));
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Else the sub-test is skipped.
PetscErrorCode Away(bool *away)
{
  PetscBool asked = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-sparsegpu_test_away", &asked, nullptr));
  *away = asked;
  if (!asked) PetscCall(Skip("only with -sparsegpu_test_away"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Errors come on all ranks, where one has given an index that is too large, or one of others that may not be.
PetscErrorCode Refused()
{
  std::string message;
  bool        away;

  PetscFunctionBeginUser;
  PetscCall(Away(&away)); // PETSc's own leaves the other ranks waiting
  if (!away) PetscFunctionReturn(PETSC_SUCCESS);
  for (int what = 0; what < 3; ++what) {
    Coo coo = Drawn(33, 30, 30, 50);
    Mat A;
    PetscCall(Create(MATMPIAIJSPARSEGPU, Layout::Even, 30, 30, &A));
    if (what == 2) PetscCall(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    if (PetscGlobalRank == PetscGlobalSize - 1 && what < 2) coo.Add(what ? 3 : 30, what ? 30 : 3, 1);
    if (what < 2 || PetscGlobalSize > 1) {
      PetscCall(ExpectError(
          "a bad index", [&] { return Preallocate(A, coo, false); }, &message,
          what < 2 ? PETSC_ERR_ARG_OUTOFRANGE : PETSC_ERR_USER_INPUT));
      const bool mine = what == 2 || PetscGlobalRank == PetscGlobalSize - 1;
      PetscCall(CheckText("a bad index", message,
                          {!mine       ? "see its message"
                           : what == 0 ? "COO row index 30"
                           : what == 1 ? "COO column index 30"
                                       : "MAT_NO_OFF_PROC_ENTRIES"}));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values of the blocks, by -sparsegpu_test_away, are nowhere but in the arrays that stand for the device's.
PetscErrorCode Hidden()
{
  const Drawn        coo(40, 30, 30, 200);
  Mat                A, blocks[2];
  const PetscScalar *a, *b;
  bool               away;

  PetscFunctionBeginUser;
  PetscCall(Away(&away));
  if (!away) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Create(MATMPIAIJSPARSEGPU, Layout::Even, 30, 30, &A));
  PetscCall(Preallocate(A, coo, false));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  PetscCall(MatSeqAIJGetArrayRead(blocks[0], &a));
  const PetscScalar *const diagonal = a;
  PetscCall(MatSeqAIJRestoreArrayRead(blocks[0], &a));
  PetscCall(MatSetValuesCOO(A, coo.v.data(), INSERT_VALUES));
  PetscCheck(diagonal[0] == PetscScalar(0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The values have come to the host");
  PetscCall(MatSeqAIJGetArrayRead(blocks[0], &b));
  PetscCheck(b[0] != PetscScalar(0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A reader has not got the values");
  PetscCall(MatSeqAIJRestoreArrayRead(blocks[0], &b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"layouts", Layouts},
               {"repeated", Repeated},
               {"copies", Copies},
               {"options", WithOptions},
               {"refused", Refused},
               {"hidden", Hidden}});
}
