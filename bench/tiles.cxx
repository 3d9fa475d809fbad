static char help[] =
    "Batches of LU factorizations and solves of bitmap tiles on the GPU against cuBLAS (getrfBatched, getrsBatched) of\n"
    "the same matrices, dense. Prints one JSON line per size, density and kind of pivoting.\n"
    "  -count n          : tiles of a batch (10000)\n"
    "  -sizes 32,64,...  : rows of a tile (32,64,96,128)\n"
    "  -densities 10,... : per cent of the places off the diagonal that hold entries (10,30,100)\n"
    "  -batches n        : medians of n\n";

#include <cmath>
#include <cstdio>
#include "batched_baseline.hpp"
#include "cusparse.hpp"
#include "pc/tile/lu.hpp"
#include "petsc/compat.hpp"
#include "sparsegpu.h"

using namespace sparsegpu;
using namespace sparsegpu::tile;

#if !defined(PETSC_USE_COMPLEX) && defined(PETSC_USE_REAL_DOUBLE)

namespace
{
struct Tiles {
  TileBatch           batch;
  tile::TileLU        lu;
  Array<double>       dense, b, x; ///< the same matrices by columns; [count * n]
  std::vector<double> host_dense;
  Stream              stream;
};

/// splitmix64
double Uniform(unsigned long long seed)
{
  unsigned long long h = (seed + 1) * 0x9e3779b97f4a7c15ull;
  h                    = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h                    = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>((h ^ (h >> 31)) >> 11) / 9007199254740992.0;
}
} // namespace

/// A pattern and values of its own for every tile; diagonally dominant, so that no form needs pivots.
static PetscErrorCode Make(PetscInt n, PetscInt count, PetscInt density, Tiles *tiles)
{
  TilePattern         pattern;
  std::vector<Scalar> values;
  std::vector<double> b;

  PetscFunctionBegin;
  tiles->host_dense.assign(static_cast<size_t>(n) * n * count, 0);
  for (PetscInt t = 0; t < count; t++) {
    PetscCall(pattern.Add(n, n));
    for (PetscInt i = 0; i < n; i++) {
      b.push_back(1 + 0.1 * static_cast<double>((i + t) % 7));
      for (PetscInt j = 0; j < n; j++) {
        const auto place = (static_cast<unsigned long long>(t) * n + i) * n + j;
        if (i != j && 100 * Uniform(2 * place) >= static_cast<double>(density)) continue;
        const double v = i == j ? n + Uniform(place) : Uniform(2 * place + 1) - 0.5;
        pattern.Set(t, i, j);
        values.push_back(v);
        tiles->host_dense[(static_cast<size_t>(t) * n + j) * n + i] = v;
      }
    }
  }
  PetscCall(tiles->batch.Build(std::move(pattern), Space::Device));
  PetscCall(tiles->batch.SetValues(values));
  PetscCall(tiles->dense.Take(std::vector<double>(tiles->host_dense), Space::Device));
  PetscCall(tiles->x.Allocate(b.size(), Space::Device));
  PetscCall(tiles->b.Take(std::move(b), Space::Device));
  PetscCall(DeviceStream(&tiles->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Factor(void *p)
{
  Tiles    *tiles = static_cast<Tiles *>(p);
  PetscInt  failed;
  PetscReal pivot;
  PetscCallAbort(PETSC_COMM_SELF, tiles->lu.Numeric(tiles->batch, 0, &failed, &pivot, tiles->stream));
  if (failed >= 0) PetscCallAbort(PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT);
}
static void Solve(void *p)
{
  Tiles *tiles = static_cast<Tiles *>(p);
  PetscCallAbort(PETSC_COMM_SELF, tiles->lu.Solve(tiles->b.data(), tiles->x.data(), false, tiles->stream));
}

/// The largest |b - A x| / (|A| |x| + |b|), in maximum norms.
static PetscErrorCode BackwardError(const Tiles &tiles, PetscInt n, PetscInt count, double *error)
{
  std::vector<double> x(tiles.x.size()), b(tiles.b.size());

  PetscFunctionBegin;
  PetscCall(DeviceCopyOut(x.data(), tiles.x.data(), tiles.x.bytes(), tiles.stream));
  PetscCall(DeviceCopyOut(b.data(), tiles.b.data(), tiles.b.bytes(), tiles.stream));
  PetscCall(DeviceSynchronize(tiles.stream));
  *error = 0;
  for (PetscInt t = 0; t < count; t++) {
    double residual = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    for (PetscInt i = 0; i < n; i++) {
      double r = b[t * n + i], row = 0;
      for (PetscInt j = 0; j < n; j++) {
        const double a = tiles.host_dense[(static_cast<size_t>(t) * n + j) * n + i];
        r -= a * x[t * n + j];
        row += std::abs(a);
      }
      residual = PetscMax(residual, std::abs(r));
      norm_a   = PetscMax(norm_a, row);
      norm_x   = PetscMax(norm_x, std::abs(x[t * n + i]));
      norm_b   = PetscMax(norm_b, std::abs(b[t * n + i]));
    }
    *error = PetscMax(*error, residual / (norm_a * norm_x + norm_b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bench(PetscInt n, PetscInt count, PetscInt density, int batches)
{
  Tiles tiles;

  PetscFunctionBegin;
  PetscCall(Make(n, count, density, &tiles));
  for (const bool pivoting : {false, true}) {
    double error;
    PetscCall(tiles.lu.Symbolic(tiles.batch, pivoting));
    const double        factor   = EventSeconds(Factor, &tiles, tiles.stream, batches, 3);
    const double        solve    = EventSeconds(Solve, &tiles, tiles.stream, batches, 3);
    const BaselineBatch baseline = CublasBatch(static_cast<int>(n), static_cast<int>(count), tiles.dense.data(),
                                               tiles.b.data(), pivoting, batches);
    PetscCall(BackwardError(tiles, n, count, &error));
    printf("{\"n\":%d,\"count\":%d,\"density\":%d,\"pivoting\":\"%s\",\"entries\":%.0f,\"factor_entries\":%.0f,"
           "\"factor_ms\":%.4f,\"solve_ms\":%.4f,\"cublas_getrf_ms\":%.4f,\"cublas_getrs_ms\":%.4f,"
           "\"factor_vs_cublas\":%.2f,\"solve_vs_cublas\":%.2f,\"vs_cublas\":%.2f,\"backward_error\":%.1e,"
           "\"cublas_backward_error\":%.1e}\n",
           (int)n, (int)count, (int)density, pivoting ? "partial" : "none", (double)tiles.batch.Entries(),
           (double)tiles.lu.Factors().Entries(), factor * 1e3, solve * 1e3, baseline.factor * 1e3, baseline.solve * 1e3,
           baseline.factor / factor, baseline.solve / solve, (baseline.factor + baseline.solve) / (factor + solve),
           error, baseline.error);
    fflush(stdout);
    // normwise n^2 eps bounds the backward error where factors do not grow, as of dominant matrices
    PetscCheck(error <= static_cast<double>(n) * n * PETSC_MACHINE_EPSILON, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Tiles of %d rows, %d %% full: backward error %g", (int)n, (int)density, error);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
#if !defined(PETSC_USE_COMPLEX) && defined(PETSC_USE_REAL_DOUBLE)
  PetscInt    count = 10000, batches = 7, sizes[16] = {32, 64, 96, 128}, densities[16] = {10, 30, 100};
  PetscInt    given_sizes = 16, given_densities = 16;
  PetscBool   found, set;
  const char *why;
  PetscCall(DeviceFound(&found, &why));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_SUP, "This benchmark needs a GPU: %s", why);
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-count", &count, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-batches", &batches, nullptr));
  PetscCall(PetscOptionsGetIntArray(nullptr, nullptr, "-sizes", sizes, &given_sizes, &set));
  if (!set) given_sizes = 4;
  PetscCall(PetscOptionsGetIntArray(nullptr, nullptr, "-densities", densities, &given_densities, &set));
  if (!set) given_densities = 3;
  for (PetscInt s = 0; s < given_sizes; s++)
    for (PetscInt d = 0; d < given_densities; d++)
      PetscCall(Bench(sizes[s], count, densities[d], static_cast<int>(batches)));
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "This benchmark needs a PETSc with double precision and real scalars");
#endif
  PetscCall(PetscFinalize());
  return 0;
}
