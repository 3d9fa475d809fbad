static const char help[] =
    "Values that change before each product: with auto on the host the ranks need not agree on anything for it, and all\n"
    "that is more than a change of values is seen by all ranks.\n\n";

#include "../family.hpp"

using namespace testing;

static PetscInt reductions = 0; ///< calls of MPI_Allreduce() by whomever

#undef MPI_Allreduce // a macro of PETSc's
extern "C" int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  reductions++;
  return PMPI_Allreduce(from, to, count, type, op, comm);
}

namespace
{
/// Ours and plain AIJ of the same entries; each rank has ghosts of its neighbours.
struct Pair {
  Mat ours = nullptr, plain = nullptr;
  Vec x = nullptr, y = nullptr, z = nullptr;

  PetscErrorCode Create(const char format[])
  {
    const Problem p = conformance::Banded("band", 200, 200, {-9, -1, 0, 1, 7});

    PetscFunctionBeginUser;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATMPIAIJSPARSEGPU, format, Layout::Even, &ours));
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATMPIAIJ, nullptr, Layout::Even, &plain));
    for (Mat A : {ours, plain}) PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(CreateVector(plain, Op::Plain, true, VECSTANDARD, &x));
    PetscCall(CreateVector(plain, Op::Plain, false, VECSTANDARD, &y));
    PetscCall(VecDuplicate(y, &z));
    PetscCall(SetVector(x, Input(200, 5, Poison::None)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Destroy()
  {
    PetscFunctionBeginUser;
    PetscCall(MatDestroy(&ours));
    PetscCall(MatDestroy(&plain));
    for (Vec *v : {&x, &y, &z}) PetscCall(VecDestroy(v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// After `change`(A) of both the products are the same; *reduced: the reductions of ours.
  template <class Change> PetscErrorCode Check(const std::string &what, Change change, PetscInt *reduced)
  {
    PetscReal off, size;

    PetscFunctionBeginUser;
    PetscCall(change(plain));
    PetscCall(MatMult(plain, x, z));
    const PetscInt before = reductions;
    PetscCall(change(ours));
    PetscCall(VecSet(y, std::numeric_limits<PetscReal>::quiet_NaN()));
    PetscCall(MatMult(ours, x, y));
    *reduced = reductions - before;
    PetscCall(VecNorm(z, NORM_INFINITY, &size));
    PetscCall(VecAXPY(y, -1, z));
    PetscCall(VecNorm(y, NORM_INFINITY, &off));
    PetscCheck(off <= 50 * PETSC_MACHINE_EPSILON * size, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: off by %g of %g",
               what.c_str(), (double)off, (double)size);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode Double(Mat A)
{
  return MatScale(A, 2);
}

/// No reduction where auto multiplies on the host, before and after its conversion; some where a format was asked for.
PetscErrorCode Alone()
{
  PetscFunctionBeginUser;
  for (const char *format : {"auto", "sell"}) {
    const bool named = strcmp(format, "auto") != 0;
    Pair       pair;
    PetscInt   reduced = 0, all = 0;
    PetscCall(pair.Create(format));
    PetscCall(MatSparseGPUSetBackend(pair.ours, "kokkos"));
    PetscCall(pair.Check(format, Double, &reduced));
    PetscCheck(reduced > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: no agreement on the first product", format);
    for (int times = 0; times < 6; ++times) {
      PetscCall(pair.Check(format, Double, &reduced));
      all += reduced;
      for (int k = 0; k < 100 * (times % 2); ++k) PetscCall(MatMult(pair.ours, pair.x, pair.y)); // converts
    }
    PetscCheck((all > 0) == named, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " reductions", format, all);
    PetscCall(pair.Destroy());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A new ghost of the first rank alone.
PetscErrorCode Connect(Mat A)
{
  PetscFunctionBeginUser;
  if (PetscGlobalRank == 0) PetscCall(MatSetValue(A, 3, 190, 5, INSERT_VALUES));
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// A nonzero of the last rank's own columns alone.
PetscErrorCode Insert(Mat A)
{
  PetscFunctionBeginUser;
  if (PetscGlobalRank == PetscGlobalSize - 1) PetscCall(MatSetValue(A, 199, 195, 5, INSERT_VALUES));
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// Values of one rank's block, of which nobody else hears.
PetscErrorCode Write(Mat A)
{
  Mat          blocks[2];
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
  if (PetscGlobalRank > 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (Mat block : blocks) {
    PetscCall(MatSeqAIJGetArray(block, &a));
    a[0] = 17;
    PetscCall(MatSeqAIJRestoreArray(block, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// As many entries as before, at other columns: as many ghosts, and other ones.
PetscErrorCode Turn(Mat A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatMPIAIJSetPreallocation(A, 5, nullptr, 5, nullptr));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; ++i)
    for (PetscInt d : {-8, -1, 0, 1, 6})
      PetscCall(MatSetValue(A, i, (i + d + 200) % 200, (PetscReal)(i % 11 + d), INSERT_VALUES));
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DropRows(Mat A)
{
  const PetscInt rows[] = {1, 2, 100, 198};

  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_FALSE));
  PetscCall(MatZeroRows(A, PetscGlobalRank ? 0 : 4, rows, 3, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Exchange(Mat A)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 3));
  PetscCall(MatHeaderReplace(A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Everything else that changes, between changes of values, in any order.
PetscErrorCode Others()
{
  struct {
    const char *name;
    PetscErrorCode (*change)(Mat A);
  } const changes[] = {{"new ghost", Connect},  {"new nonzero", Insert},    {"one rank's values", Write},
                       {"other columns", Turn}, {"rows dropped", DropRows}, {"insides exchanged", Exchange}};
  Pair     pair;
  PetscInt reduced;

  PetscFunctionBeginUser;
  for (size_t first = 0; first < sizeof(changes) / sizeof(*changes); ++first) {
    PetscCall(pair.Create("auto"));
    for (size_t k = first; k < sizeof(changes) / sizeof(*changes); ++k) {
      for (int times = 0; times < 2; ++times) PetscCall(pair.Check("values", Double, &reduced));
      PetscCall(pair.Check(changes[k].name, changes[k].change, &reduced));
      PetscCall(pair.Check(std::string("values after ") + changes[k].name, Double, &reduced));
    }
    PetscCall(pair.Destroy());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"alone", Alone}, {"others", Others}});
}
