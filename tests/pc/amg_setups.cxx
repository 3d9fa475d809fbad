static const char help[] = "Many set-ups of multigrid: what is in use on the host and on the device stays the same.\n"
                           "-setups: how many of each kind (200); -matrices: aij or sparsegpu alone.\n\n";

#include "amg.hpp"
#include "device/device.hpp"

#if defined(__GLIBC__)
  #include <malloc.h>
#endif

using namespace amg_tests;
using namespace testing;

namespace
{
/// Bytes of this process.
struct InUse {
  double         allocator = 0, device = 0;
  PetscLogDouble resident = 0, petsc = 0; ///< pages; PetscMalloc(), with -malloc_dump
  PetscCount     allocations = 0;         ///< calls for device memory so far

  PetscErrorCode Now()
  {
    PetscBool found;

    PetscFunctionBeginUser;
    PetscCall(SparseGPUHasDevice(&found)); // the driver takes memory of the host when it is asked for the first time
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    allocator                   = (double)info.uordblks + (double)info.hblkhd;
#endif
    PetscCall(PetscMemoryGetCurrentUsage(&resident));
    PetscCall(PetscMallocGetCurrentUsage(&petsc));
    if (!found) PetscFunctionReturn(PETSC_SUCCESS);
    allocations = sparsegpu::DeviceAllocations();
    PetscCall(sparsegpu::DeviceMemoryLeft(&device));
    device = -device;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// What may be more after many set-ups: what allocators and MPI keep for themselves. A set-up that kept the smallest
/// coarse operator of these problems would exceed each.
constexpr double ALLOCATOR = 64e3, RESIDENT = 8e6, DEVICE = 4e6;

PetscErrorCode CheckSame(const std::string &what, const InUse &before, const InUse &after, PetscInt setups)
{
  PetscFunctionBeginUser;
  PetscCheck(after.allocator - before.allocator < ALLOCATOR, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "%s: %" PetscInt_FMT " set-ups keep %g bytes", what.c_str(), setups, after.allocator - before.allocator);
  PetscCheck(after.petsc - before.petsc < ALLOCATOR, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "%s: %" PetscInt_FMT " set-ups keep %g bytes of PetscMalloc()", what.c_str(), setups,
             after.petsc - before.petsc);
  PetscCheck(after.resident - before.resident < RESIDENT, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "%s: %" PetscInt_FMT " set-ups make the process larger by %g bytes", what.c_str(), setups,
             after.resident - before.resident);
  PetscCheck(after.device - before.device < DEVICE, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "%s: %" PetscInt_FMT " set-ups keep %g bytes of the device", what.c_str(), setups,
             after.device - before.device);
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Kind {
  const char *options;
  bool        fresh, solves; ///< from nothing; a solve after each
  bool        none = false;  ///< asks for no memory of the device, with matrices of ours on one process
};

PetscErrorCode Run(const char type[], const Kind &kind, PetscInt setups)
{
  const Options     set(kind.options);
  const std::string what  = std::string(type) + ", " + kind.options + (kind.fresh ? ", from nothing" : ", new values");
  const PetscInt    first = PetscMin(setups / 4, 20), second = first + (setups - first) / 2;
  InUse             before, half, after;
  Result            result;
  Mat               A;
  KSP               ksp;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(PETSC_COMM_WORLD, type, {13, 12, 12, 1, false, All}, &A));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  // not fcg, whose VecMAXPY() keeps memory with each call on a GPU: petsc/add_multiples.hpp
  PetscCall(CreateSolver(A, KSPCG, PCSPARSEGPUAMG, nullptr, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  for (PetscInt round = 0; round < setups; ++round) {
    if (round == first) PetscCall(before.Now());
    if (round == first) PetscCall(before.Now()); // the first question for the device's memory takes some of the host's
    if (round == second) PetscCall(half.Now());
    if (kind.fresh) PetscCall(PCReset(pc));
    PetscCall(MatScale(A, round % 2 ? 2 : 0.5));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetUp(ksp));
    if (kind.solves) PetscCall(Solve(ksp, A, &result));
  }
  PetscCall(after.Now());
  PetscCall(CheckSame(what, before, after, setups - first));
  const double early = (double)(half.allocations - before.allocations) / (double)PetscMax(second - first, 1),
               late  = (double)(after.allocations - half.allocations) / (double)PetscMax(setups - second, 1);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %g device allocations a set-up, %g later\n", what.c_str(), early, late));
  PetscCheck(late <= early + 1, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s: %g device allocations a set-up, later %g",
             what.c_str(), early, late);
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  const bool none = kind.none && size == 1 && !strcmp(type, MATSPARSEGPU);
  PetscCheck(!none || late == 0, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s: %g device allocations a set-up", what.c_str(),
             late);
  PetscCall(Solve(ksp, A, &result));
  PetscCall(CheckConverged(what, result, 12));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunKinds(const std::vector<Kind> &kinds)
{
  PetscInt setups   = 200;
  char     only[32] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-setups", &setups, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-matrices", only, sizeof(only), nullptr));
  for (const char *type : {MATAIJ, MATSPARSEGPU})
    for (const Kind &kind : kinds)
      if (!only[0] || !strcmp(only, type)) PetscCall(Run(type, kind, setups));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Set-ups for new values in the old pattern.
static PetscErrorCode TestNewValues()
{
  PetscFunctionBeginUser;
  PetscCall(RunKinds({{"-pc_sparsegpuamg_type aggregation", false, false, true},
                      {"-pc_sparsegpuamg_type classical", false, false, true}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same with new prolongators, of new aggregates and of the old ones.
static PetscErrorCode TestNewProlongators()
{
  PetscFunctionBeginUser;
  PetscCall(RunKinds({{"-pc_sparsegpuamg_reuse_interpolation 0", false, false},
                      {"-pc_sparsegpuamg_reuse_interpolation 0 -pc_sparsegpuamg_threshold -1", false, false}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values and solves, by V-cycles and by K-cycles.
static PetscErrorCode TestSolves()
{
  PetscFunctionBeginUser;
  PetscCall(RunKinds({{"-pc_sparsegpuamg_type aggregation", false, true},
                      {"-pc_sparsegpuamg_cycle_type k -pc_sparsegpuamg_coarse_eq_limit 4", false, true}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Hierarchies from nothing.
static PetscErrorCode TestFresh()
{
  PetscFunctionBeginUser;
  PetscCall(RunKinds({{"-pc_sparsegpuamg_type aggregation", true, false},
                      {"-pc_sparsegpuamg_type classical", true, false},
                      {"-pc_sparsegpuamg_cycle_type k -pc_sparsegpuamg_coarse_eq_limit 4", true, false}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"new_values", TestNewValues},
               {"new_prolongators", TestNewProlongators},
               {"solves", TestSolves},
               {"fresh", TestFresh}});
}
