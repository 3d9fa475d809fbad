/// Milliseconds of each step of coarsening by smoothed aggregation: aggregates, tentative and smoothed prolongator, new
/// values. Made of the plug-in's objects: its functions are hidden.
///
///   amg_setup [-n 128] [-unknowns 1|3] [-backend cuda|kokkos] [-repeat 5] [-threshold t] [-filtered] [-stencil 27|7]
///
/// Grids of n x n x n nodes; three unknowns a node with the six rigid body modes of three-dimensional elasticity.
static const char help[] = "Times of the set-up of smoothed aggregation.\n\n";

#include <petscksp.h>
#include <algorithm>
#include <functional>
#include "device/backend_call.hpp"
#include "pc/aggregate/aggregate.hpp"
#include "pc/aggregate/graph.hpp"
#include "pc/aggregate/prolongator.hpp"
#include "pc/aggregate/source.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

using namespace sparsegpu;

namespace
{
struct Settings {
  PetscInt  n = 128, unknowns = 1, repeat = 5, stencil = 27;
  PetscReal threshold = 0;
  PetscBool filtered  = PETSC_FALSE;
  char      backend[64];
};

/// Fluxes to the neighbours; between unknowns of a node and of its neighbours a twentieth of them.
PetscErrorCode CreateMatrix(const Settings &s, Mat *A)
{
  const PetscInt           n = s.n, u = s.unknowns, rows = n * n * n * u;
  std::vector<PetscInt>    i{0}, j;
  std::vector<PetscScalar> a;

  PetscFunctionBeginUser;
  PetscCallCXX(j.reserve(static_cast<size_t>(rows) * static_cast<size_t>(s.stencil * u)));
  PetscCallCXX(a.reserve(j.capacity()));
  for (PetscInt node = 0; node < n * n * n; node++)
    for (PetscInt r = 0; r < u; r++) {
      for (PetscInt d = 0; d < 27; d++) {
        const PetscInt dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
        const PetscInt x = node % n + dx, y = node / n % n + dy, z = node / n / n + dz;
        if (s.stencil == 7 && dx * dx + dy * dy + dz * dz > 1) continue;
        if (x < 0 || x >= n || y < 0 || y >= n || z < 0 || z >= n) continue;
        for (PetscInt c = 0; c < u; c++) {
          const PetscReal one = d == 13 ? static_cast<PetscReal>(s.stencil - 1) : -1;
          j.push_back((x + n * (y + n * z)) * u + c);
          a.push_back(r == c ? one : -one / 20);
        }
      }
      i.push_back(static_cast<PetscInt>(j.size()));
    }
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, rows, rows, rows, rows));
  PetscCall(MatSetType(*A, MATSEQAIJSPARSEGPU));
  PetscCall(MatSetBlockSize(*A, u));
  PetscCall(MatSparseGPUSetBackend(*A, s.backend));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, i.data(), j.data(), a.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AttachModes(const Settings &s, Mat A)
{
  const PetscInt n = s.n;
  Vec            x;
  PetscScalar   *v;
  MatNullSpace   modes;

  PetscFunctionBeginUser;
  if (s.unknowns != 3) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, &x, nullptr));
  PetscCall(VecSetBlockSize(x, 3));
  PetscCall(VecGetArrayWrite(x, &v));
  for (PetscInt node = 0; node < n * n * n; node++) {
    v[3 * node]     = static_cast<PetscReal>(node % n);
    v[3 * node + 1] = static_cast<PetscReal>(node / n % n);
    v[3 * node + 2] = static_cast<PetscReal>(node / n / n);
  }
  PetscCall(VecRestoreArrayWrite(x, &v));
  PetscCall(MatNullSpaceCreateRigidBody(x, &modes));
  PetscCall(MatSetNearNullSpace(A, modes));
  PetscCall(MatNullSpaceDestroy(&modes));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Milliseconds of the first and of the fastest run.
PetscErrorCode Time(const Settings &s, Space space, const char *what, const std::function<PetscErrorCode()> &step)
{
  PetscLogDouble first = 0, best = 0, begin, end;
  Stream         stream = nullptr;

  PetscFunctionBeginUser;
  if (space == Space::Device) PetscCall(DeviceStream(&stream));
  for (PetscInt k = 0; k < s.repeat; k++) {
    if (stream) PetscCall(DeviceSynchronize(stream));
    PetscCall(PetscTime(&begin));
    PetscCall(step());
    if (stream) PetscCall(DeviceSynchronize(stream));
    PetscCall(PetscTime(&end));
    if (k == 0) first = best = end - begin;
    best = std::min(best, end - begin);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-28s first %9.3f ms, best %9.3f ms\n", what, 1e3 * first, 1e3 * best));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parts of FindAggregates() and CreateProlongator() one by one.
PetscErrorCode TimeParts(const Settings &s, Space space, Mat A, const aggregate::Options &options,
                         const aggregate::Aggregates &all, const aggregate::Tentative &tentative, PetscReal damping)
{
  aggregate::Source             source;
  aggregate::NodePattern        nodes;
  aggregate::StrongGraph        strong;
  Array<aggregate::State>       roots;
  Array<PetscInt>               begin, members;
  aggregate::ProlongatorPattern pattern;
  PetscInt                      rounds;

  PetscFunctionBeginUser;
  PetscCall(source.Take(A, space));
  const products::SparseRows &rows = source.rows;
  PetscCall(
      Time(s, space, "  node pattern", [&] { return aggregate::FindNodePattern(space, rows, s.unknowns, &nodes); }));
  PetscCall(Time(s, space, "  strong graph",
                 [&] { return aggregate::FindStrongGraph(space, rows, options, nodes, &strong); }));
  PetscCall(Time(s, space, "  roots",
                 [&] { return aggregate::FindRoots(space, strong, options.distance, &roots, &rounds); }));
  PetscCall(Time(s, space, "  members",
                 [&] { return aggregate::SortMembers(space, all.nodes, all.count, all.of.data(), &begin, &members); }));
  const aggregate::ProlongatorInput input{rows,
                                          all.nodes,
                                          s.unknowns,
                                          all.count,
                                          tentative.vectors,
                                          all.of.data(),
                                          all.begin.data(),
                                          all.members.data(),
                                          tentative.values.data(),
                                          s.filtered && all.strong.size() ? all.strong.data() : nullptr,
                                          damping,
                                          false};
  PetscCall(
      Time(s, space, "  pattern of P", [&] { return aggregate::FindProlongatorPattern(space, input, &pattern); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run()
{
  Settings              s;
  Mat                   A, P = nullptr;
  Space                 space;
  aggregate::Options    options;
  aggregate::Aggregates all;
  aggregate::Tentative  tentative;
  aggregate::Smoothing  smoothing;
  Array<Scalar>         B;
  PetscInt              vectors;
  PetscReal             largest = 0, bound = 0;
  PetscBool             device;
  MatInfo               info;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  PetscCall(PetscStrncpy(s.backend, device ? "cuda" : "kokkos", sizeof(s.backend)));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &s.n, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-unknowns", &s.unknowns, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &s.repeat, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-stencil", &s.stencil, nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-threshold", &s.threshold, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-filtered", &s.filtered, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-backend", s.backend, sizeof(s.backend), nullptr));
  PetscCall(CreateMatrix(s, &A));
  PetscCall(AttachModes(s, A));
  PetscCall(aggregate::WorkSpace(A, &space));
  options.block_size = s.unknowns;
  options.threshold  = s.threshold;
  PetscCall(Time(s, space, "eigenvalue", [&] { return aggregate::EstimateLargestEigenvalue(A, 10, &largest); }));
  PetscCall(Time(s, space, "bound of it", [&] { return aggregate::BoundLargestEigenvalue(A, space, &bound); }));
  PetscCall(Time(s, space, "near null space",
                 [&] { return aggregate::FindNearNullSpace(A, s.unknowns, space, &vectors, &B); }));
  PetscCall(Time(s, space, "aggregates", [&] { return aggregate::FindAggregates(A, options, space, &all); }));
  PetscCall(
      Time(s, space, "tentative prolongator", [&] { return aggregate::FindTentative(all, vectors, B, &tentative); }));
  smoothing.damping  = 4 / (3 * largest);
  smoothing.filtered = s.filtered;
  PetscCall(Time(s, space, "smoothed prolongator", [&]() -> PetscErrorCode {
    PetscFunctionBeginUser;
    PetscCall(MatDestroy(&P));
    PetscCall(aggregate::CreateProlongator(A, all, tentative, smoothing, &P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(
      Time(s, space, "its new values", [&] { return aggregate::RefreshProlongator(A, all, tentative, smoothing, P); }));
  PetscCall(TimeParts(s, space, A, options, all, tentative, smoothing.damping));
  PetscCall(MatGetInfo(P, MAT_LOCAL, &info));
  PetscCall(PetscPrintf(
      PETSC_COMM_SELF,
      "%" PetscInt_FMT " nodes of %" PetscInt_FMT ", %" PetscInt_FMT " aggregates (%.1f nodes), %" PetscInt_FMT
      " rounds, %" PetscInt_FMT " inactive columns, %.0f entries of P, eigenvalue %g, "
      "bound %g\n",
      all.nodes, s.unknowns, all.count, static_cast<double>(all.nodes) / static_cast<double>(PetscMax(1, all.count)),
      all.rounds, tentative.inactive_count, info.nz_used, static_cast<double>(largest), static_cast<double>(bound)));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
