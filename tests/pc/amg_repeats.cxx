static const char help[] = "Hierarchies of multigrid repeat bit for bit.\n\n";

#include "amg.hpp"
#include "amg_list.hpp"

using namespace amg_tests;
using namespace testing;

namespace
{
/// The rows of this process.
struct Rows {
  std::vector<PetscInt>    lengths, columns;
  std::vector<PetscScalar> values;

  /// The bits of values, or values but for roundings: on each of few levels two or three numbers are added in another
  /// order, and all that follows is made of the sums.
  bool Are(const Rows &other, bool bits) const
  {
    PetscReal largest = 0, most = 0;
    if (lengths != other.lengths || columns != other.columns) return false;
    // but for the sign of a zero: a product of complex numbers need not keep that of a part
    if (bits && PetscDefined(USE_COMPLEX)) return values == other.values;
    if (bits) return values.empty() || !memcmp(values.data(), other.values.data(), values.size() * sizeof(PetscScalar));
    for (size_t k = 0; k < values.size(); ++k) {
      largest = std::max(largest, PetscAbsScalar(values[k]));
      most    = std::max(most, PetscAbsScalar(values[k] - other.values[k]));
    }
    return most <= 100 * PETSC_MACHINE_EPSILON * largest;
  }
};

PetscErrorCode Append(Mat A, std::vector<Rows> *all)
{
  Rows               rows;
  PetscInt           begin, end, count;
  const PetscInt    *columns;
  const PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) {
    PetscCall(MatGetRow(A, r, &count, &columns, &values));
    rows.lengths.push_back(count);
    rows.columns.insert(rows.columns.end(), columns, columns + count);
    rows.values.insert(rows.values.end(), values, values + count);
    PetscCall(MatRestoreRow(A, r, &count, &columns, &values));
  }
  all->push_back(rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Operators of all levels, finest first, each with its prolongator.
PetscErrorCode GetHierarchy(KSP ksp, std::vector<Rows> *all)
{
  PC       pc;
  PetscInt levels;

  PetscFunctionBeginUser;
  all->clear();
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCheck(levels > 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " levels", levels);
  for (PetscInt l = levels - 1; l >= 0; --l) {
    KSP smoother;
    Mat A, P;
    PetscCall(l ? PCMGGetSmoother(pc, l, &smoother) : PCMGGetCoarseSolve(pc, &smoother));
    PetscCall(KSPGetOperators(smoother, &A, nullptr));
    PetscCall(Append(A, all));
    if (l == 0) break;
    PetscCall(PCMGGetInterpolation(pc, l, &P));
    PetscCall(Append(P, all));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckSame(const std::vector<Rows> &first, const std::vector<Rows> &now, bool bits,
                         const std::string &what)
{
  PetscFunctionBeginUser;
  PetscCheck(first.size() == now.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu matrices, %zu before", what.c_str(),
             now.size(), first.size());
  for (size_t k = 0; k < now.size(); ++k)
    PetscCheck(first[k].Are(now[k], bits), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: the %s of level %zu, finest first, is another", what.c_str(), k % 2 ? "prolongator" : "operator",
               k / 2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateProblem(const std::string &name, const std::string &backend, Mat *A,
                             std::vector<PetscReal> *coordinates)
{
  PetscFunctionBeginUser;
  coordinates->clear();
  if (name == "elasticity") {
    PetscCall(CreateElasticity(PETSC_COMM_WORLD, MATSPARSEGPU, 9, 9, 9, A, coordinates));
  } else {
    NamedGrid grid;
    PetscCall(FindGrid(name, name == "stencil27" ? 20 : 80, &grid));
    PetscCall(CreateGrid(PETSC_COMM_WORLD, MATSPARSEGPU, grid.grid, A));
  }
  PetscCall(MatSparseGPUSetBackend(*A, backend.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// From nothing; again by the same solver for other values and back. Where products of parallel matrices are PETSc's,
/// on a host and on GPUs that PETSc does not know, they add up what comes from several processes in the order in which
/// it comes.
static PetscErrorCode TestBits()
{
  std::vector<std::string> backends;
  PetscMPIInt              size;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (const std::string &backend : backends)
    for (const char *problem : {"stencil27", "elasticity", "rotated", "scattered", "shear:10"}) {
      const bool             bits = size < 3 || (backend == "cuda" && PetscDefined(HAVE_CUDA));
      std::vector<Rows>      first, now;
      std::vector<PetscReal> coordinates;
      Mat                    A;
      KSP                    ksp;
      PC                     pc;
      PetscInt               rows;

      for (int round = 0; round < 3; ++round) {
        const std::string what = std::string(problem) + " on " + backend + ", time " + std::to_string(round);
        PetscCall(CreateProblem(problem, backend, &A, &coordinates));
        PetscCall(CreateSolver(A, KSPGMRES, PCSPARSEGPUAMG, nullptr, &ksp));
        PetscCall(KSPGetPC(ksp, &pc));
        PetscCall(MatGetLocalSize(A, &rows, nullptr));
        if (!coordinates.empty()) PetscCall(PCSetCoordinates(pc, 3, rows / 3, coordinates.data()));
        PetscCall(KSPSetUp(ksp));
        PetscCall(GetHierarchy(ksp, round ? &now : &first));
        if (round) PetscCall(CheckSame(first, now, bits, what));
        for (const PetscReal by : {(PetscReal)2, (PetscReal)0.5}) {
          PetscCall(MatScale(A, by));
          PetscCall(KSPSetOperators(ksp, A, A));
          PetscCall(KSPSetUp(ksp));
          PetscCall(GetHierarchy(ksp, &now));
          PetscCheck(by < 1 || now[2].values.empty() || !now[2].Are(first[2], false), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                     "%s: the second level does not follow new values", what.c_str());
        }
        PetscCall(GetHierarchy(ksp, &now));
        PetscCall(CheckSame(first, now, bits, what + ", new values"));
        PetscCall(KSPDestroy(&ksp));
        PetscCall(MatDestroy(&A));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"bits", TestBits}});
}
