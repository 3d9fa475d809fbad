static const char help[] =
    "MatConvert() between our type and PETSc's, out of place, in place and into a given matrix.\n\n";

#include "../family.hpp"

using namespace testing;

static Problem Subject()
{
  conformance::Builder b("to_convert", 61, 61);
  for (PetscInt i = 0; i < 61; ++i) {
    b.Add(i, i);
    if (i % 4) b.Add(i, (i * 7 + 1) % 61 == i ? 0 : (i * 7 + 1) % 61);
  }
  return b;
}

static bool IsSparseGPU(const std::string &type)
{
  return type == MATSPARSEGPU || type == MATAIJSPARSEGPU;
}
/// Is A of this root type?
static PetscErrorCode CheckType(Mat A, const std::string &root, const std::string &what)
{
  MatType type;

  PetscFunctionBeginUser;
  if (IsSparseGPU(root)) {
    PetscCall(CheckIsOurs(A, what));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetType(A, &type));
  PetscCheck(type == root || type == "seq" + root || type == "mpi" + root, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: the type is %s", what.c_str(), type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The pairs that the calling PETSc can convert.
static PetscErrorCode Pairs(std::vector<std::pair<std::string, std::string>> *pairs)
{
  PetscBool device;

  PetscFunctionBeginUser;
  *pairs = {{MATAIJ, MATSPARSEGPU},   {MATSPARSEGPU, MATAIJ},   {MATSPARSEGPU, MATSPARSEGPU}, {MATAIJ, MATAIJSPARSEGPU},
            {MATDENSE, MATSPARSEGPU}, {MATSPARSEGPU, MATDENSE}, {MATBAIJ, MATSPARSEGPU},      {MATSPARSEGPU, MATBAIJ}};
  if (PetscGlobalSize == 1)
    pairs->push_back({MATSPARSEGPU, MATSELL}); // PETSc's mpisell multiplies wrongly in 3.24.6, made of aij, too
  PetscCall(SparseGPUHasDevice(&device));
#if defined(PETSC_HAVE_CUDA)
  if (device) pairs->insert(pairs->end(), {{MATAIJCUSPARSE, MATSPARSEGPU}, {MATSPARSEGPU, MATAIJCUSPARSE}});
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix of type `from`; by way of aij, for the types that cannot be assembled alike.
static PetscErrorCode CreateFrom(const Problem &p, const std::string &from, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, IsSparseGPU(from) ? MATSPARSEGPU : MATAIJ, nullptr, Layout::Even, A));
  PetscCall(MatConvert(*A, from.c_str(), MAT_INPLACE_MATRIX, A));
  PetscCall(CheckType(*A, from, "made"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Products of a type that we only pass through: one MatMult() is enough to see that its values are right.
static PetscErrorCode CheckValues(Mat A, const std::string &type, const Problem &p, const std::string &what)
{
  PetscFunctionBeginUser;
  if (IsSparseGPU(type) || type == MATAIJ)
    PetscCall(CheckProducts(A, p, what));
  else if (type != MATAIJCUSPARSE) // which, in PETSc 3.24, lets a NaN that y held before into its products
    PetscCall(CheckOneProduct(A, p, Op::Plain, Poison::None, VECSTANDARD, VECSTANDARD, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Body> static PetscErrorCode ForPairs(Body body)
{
  std::vector<std::pair<std::string, std::string>> pairs;
  const Problem                                    p = Subject();

  PetscFunctionBeginUser;
  PetscCall(Pairs(&pairs));
  for (const auto &pair : pairs)
    for (bool product_before : {false, true}) {
      const std::string what = pair.first + " to " + pair.second + (product_before ? ", products before" : "");
      Mat               A;
      PetscCall(CreateFrom(p, pair.first, &A));
      if (product_before) PetscCall(CheckValues(A, pair.first, p, what));
      PetscCall(body(&A, pair.first, pair.second, p, what));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Initial()
{
  const auto body = [](Mat *A, const std::string &from, const std::string &to, const Problem &p,
                       const std::string &what) {
    Mat     B;
    Problem twice = p;

    PetscFunctionBeginUser;
    PetscCall(MatConvert(*A, to.c_str(), MAT_INITIAL_MATRIX, &B));
    PetscCall(CheckType(B, to, what));
    PetscCall(CheckType(*A, from, what + ", the original"));
    PetscCall(CheckValues(B, to, p, what));
    PetscCall(MatScale(B, 2)); // is it a copy, and does it follow its own values?
    for (conformance::Entry &e : twice.entries) e.v *= 2;
    PetscCall(CheckValues(*A, from, p, what + ", the original"));
    PetscCall(CheckValues(B, to, twice, what + ", scaled"));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBeginUser;
  PetscCall(ForPairs(body));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InPlace()
{
  const auto body = [](Mat *A, const std::string &, const std::string &to, const Problem &p, const std::string &what) {
    Problem twice = p;

    PetscFunctionBeginUser;
    PetscCall(MatConvert(*A, to.c_str(), MAT_INPLACE_MATRIX, A));
    PetscCall(CheckType(*A, to, what));
    PetscCall(CheckValues(*A, to, p, what));
    PetscCall(MatScale(*A, 2));
    for (conformance::Entry &e : twice.entries) e.v *= 2;
    PetscCall(CheckValues(*A, to, twice, what + ", scaled"));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBeginUser;
  PetscCall(ForPairs(body));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MAT_REUSE_MATRIX among the AIJ types: the values move, the matrix stays.
static PetscErrorCode Reuse()
{
  const auto body = [](Mat *A, const std::string &from, const std::string &to, const Problem &p,
                       const std::string &what) {
    const std::string aij[] = {MATAIJ, MATSPARSEGPU, MATAIJSPARSEGPU};
    Mat               B;
    Problem           twice = p;

    PetscFunctionBeginUser;
    if (std::find(aij, aij + 3, from) == aij + 3 || std::find(aij, aij + 3, to) == aij + 3)
      PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatConvert(*A, to.c_str(), MAT_INITIAL_MATRIX, &B));
    PetscCall(CheckValues(B, to, p, what));
    PetscCall(MatScale(*A, 2));
    for (conformance::Entry &e : twice.entries) e.v *= 2;
    PetscCall(MatConvert(*A, to.c_str(), MAT_REUSE_MATRIX, &B));
    PetscCall(CheckType(B, to, what));
    PetscCall(CheckType(*A, from, what + ", the original"));
    PetscCall(CheckValues(B, to, twice, what + ", reused"));
    PetscCall(CheckValues(*A, from, twice, what + ", the original"));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBeginUser;
  PetscCall(ForPairs(body));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// To and fro in place, products at each stop: nothing of a former life may stay behind.
static PetscErrorCode Chain()
{
  const Problem            p    = Subject();
  std::vector<std::string> path = {MATSPARSEGPU, MATAIJ, MATAIJSPARSEGPU, MATSPARSEGPU, MATAIJ};
  Mat                      A;
  PetscBool                device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
#if defined(PETSC_HAVE_CUDA)
  if (device) path.insert(path.end(), {MATAIJCUSPARSE, MATSPARSEGPU, MATAIJCUSPARSE, MATAIJ, MATSPARSEGPU});
#endif
  PetscCall(CreateFrom(p, MATAIJ, &A));
  for (const std::string &stop : path) {
    PetscCall(MatConvert(A, stop.c_str(), MAT_INPLACE_MATRIX, &A));
    PetscCall(CheckType(A, stop, "chain"));
    PetscCall(CheckValues(A, stop, p, "chain, at " + stop));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A converted matrix takes its format from the options at first use; one that had a format keeps it in a duplicate.
static PetscErrorCode Format()
{
  const Option  option("-mat_sparsegpu_format", "ell");
  const Problem p = Subject();
  Mat           A, B;

  PetscFunctionBeginUser;
  PetscCall(CreateFrom(p, MATAIJ, &A));
  PetscCall(MatConvert(A, MATSPARSEGPU, MAT_INPLACE_MATRIX, &A));
  PetscCall(CheckProducts(A, p, "converted"));
  PetscCall(CheckRanOn(A, "ell", "converted"));
  PetscCall(MatSparseGPUSetFormat(A, "hyb"));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(CheckProducts(B, p, "duplicated"));
  PetscCall(CheckRanOn(B, "hyb", "duplicated"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Under -mat_seqaij_type whatever is made as aij is ours: PETSc's search for a conversion must still come to an end.
static PetscErrorCode SeqAIJType()
{
  const Problem p = Subject();
  Problem       t = p;

  PetscFunctionBeginUser;
  if (PetscGlobalSize > 1) PetscFunctionReturn(PETSC_SUCCESS); // aij is mpiaij there
  const Option option("-mat_seqaij_type", MATSEQAIJSPARSEGPU);
  for (conformance::Entry &e : t.entries) std::swap(e.i, e.j);
  for (const char *from : {MATSEQAIJ, MATDENSE, MATBAIJ, MATTRANSPOSEVIRTUAL})
    for (MatReuse reuse : {MAT_INITIAL_MATRIX, MAT_INPLACE_MATRIX}) {
      const std::string what      = std::string(from) + (reuse == MAT_INITIAL_MATRIX ? "" : " in place");
      const bool        transpose = std::string(from) == MATTRANSPOSEVIRTUAL;
      Mat               A, B;
      PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATAIJ, nullptr, Layout::Even, &A));
      if (transpose) {
        PetscCall(MatCreateTranspose(A, &B));
        PetscCall(MatDestroy(&A));
        A = B;
      } else
        PetscCall(MatConvert(A, from, MAT_INPLACE_MATRIX, &A));
      B = A;
      PetscCall(MatConvert(A, MATAIJ, reuse, &B));
      PetscCall(CheckProducts(B, transpose ? t : p, what));
      if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A symmetric matrix becomes sbaij, which asks for the flag.
static PetscErrorCode Symmetric()
{
  const Problem p = conformance::Grid("grid_9x8", 9, 8, true);
  Mat           A, B;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, nullptr, Layout::Even, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  PetscCall(MatConvert(A, MATSBAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(CheckOneProduct(B, p, Op::Plain, Poison::None, VECSTANDARD, VECSTANDARD, "sbaij"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"initial", Initial},
               {"in_place", InPlace},
               {"reuse", Reuse},
               {"chain", Chain},
               {"format", Format},
               {"seqaij_type", SeqAIJType},
               {"symmetric", Symmetric}});
}
