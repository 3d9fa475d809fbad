#include "generate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rows.hpp"

const char *const GeneratedNames[] = {"stencil5", "stencil7", "stencil9",  "stencil27", "elasticity",
                                      "rmat",     "circuit",  "random",    "banded",    "narrow",
                                      "wide",     "tall",     "emptyrows", nullptr};

namespace
{
constexpr uint64_t ScaleStream = uint64_t{1} << 40; // apart from the second arguments of Random elsewhere

using Row = std::vector<std::pair<PetscInt, double>>; // column, value; entries of the same column are added up
/// A matrix by rows: any rank can make any row.
struct Recipe {
  PetscInt                             rows = 0, cols = 0, block = 1;
  std::function<void(PetscInt, Row &)> row; // appends the entries of a row
};

/// Random numbers, one for every (a, b) and seed.
class Random
{
public:
  explicit Random(uint64_t seed) : seed_(seed * 0xd6e8feb86659fd93ull) {}

  uint64_t Hash(uint64_t a, uint64_t b) const // splitmix64
  {
    uint64_t z = ((a ^ seed_) + 1) * 0x9e3779b97f4a7c15ull + b * 0xd1b54a32d192ed03ull;
    z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z          = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  double   Uniform(uint64_t a, uint64_t b) const { return static_cast<double>(Hash(a, b) >> 11) * 0x1p-53; }
  PetscInt Below(PetscInt limit, uint64_t a, uint64_t b) const
  {
    return static_cast<PetscInt>(Hash(a, b) % static_cast<uint64_t>(limit));
  }

private:
  uint64_t seed_;
};

/// The smallest n >= low for which count(n) >= nonzeros.
template <class Count> PetscInt Smallest(PetscInt low, PetscInt nonzeros, const Count &count)
{
  PetscInt n = low;
  while (count(static_cast<double>(n)) < nonzeros) n++;
  return n;
}

/// Neighbours of a point in a dim-dimensional n^dim grid; `box`: all of the 3^dim, else those along the axes.
Recipe Stencil(int dim, bool box, PetscInt nonzeros)
{
  const double points = box ? std::pow(3, dim) : 2 * dim + 1;
  // The neighbours in one direction are 3 n - 2 pairs, of which n are a point and itself.
  const PetscInt n = Smallest(2, nonzeros, [=](double s) {
    return box ? std::pow(3 * s - 2, dim) : std::pow(s, dim) + 2 * dim * std::pow(s, dim - 1) * (s - 1);
  });
  Recipe         recipe;
  recipe.rows = recipe.cols = dim == 2 ? n * n : n * n * n;
  recipe.row                = [=](PetscInt r, Row &row) {
    const PetscInt i = r % n, j = (r / n) % n, k = r / (n * n);
    for (PetscInt dk = dim == 3 ? -1 : 0; dk <= (dim == 3 ? 1 : 0); dk++) {
      for (PetscInt dj = -1; dj <= 1; dj++) {
        for (PetscInt di = -1; di <= 1; di++) {
          const int distance = static_cast<int>(std::abs(di) + std::abs(dj) + std::abs(dk));
          if (!box && distance > 1) continue;
          if (i + di < 0 || i + di >= n || j + dj < 0 || j + dj >= n || k + dk < 0 || (dim == 3 && k + dk >= n))
            continue;
          row.emplace_back(r + di + n * (dj + n * dk), distance ? -1.0 : points - 1);
        }
      }
    }
  };
  return recipe;
}

/// Stiffness of the unit cube as one trilinear brick, E = 1, nu = 0.3, 2 x 2 x 2 Gauss points; unknown 3 * node +
/// direction.
std::array<std::array<double, 24>, 24> BrickStiffness()
{
  const double                           nu = 0.3, lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 0.5 / (1 + nu);
  std::array<std::array<double, 24>, 24> K{};
  for (int g = 0; g < 8; g++) {
    double point[3], gradient[8][3];
    for (int d = 0; d < 3; d++) point[d] = 0.5 + (((g >> d) & 1) ? 0.5 : -0.5) / std::sqrt(3.0);
    for (int a = 0; a < 8; a++) {
      for (int d = 0; d < 3; d++) {
        gradient[a][d] = 1;
        for (int e = 0; e < 3; e++) {
          const bool upper = (a >> e) & 1;
          gradient[a][d] *= e == d ? (upper ? 1.0 : -1.0) : (upper ? point[e] : 1 - point[e]);
        }
      }
    }
    for (int a = 0; a < 8; a++) {
      for (int b = 0; b < 8; b++) {
        double dot = 0;
        for (int d = 0; d < 3; d++) dot += gradient[a][d] * gradient[b][d];
        for (int p = 0; p < 3; p++)
          for (int q = 0; q < 3; q++)
            K[3 * a + p][3 * b + q] += (lambda * gradient[a][p] * gradient[b][q] +
                                        mu * gradient[a][q] * gradient[b][p] + (p == q ? mu * dot : 0)) /
                                       8;
      }
    }
  }
  return K;
}

/// Linear elasticity on n^3 nodes, three unknowns each, assembled from the bricks round each node.
Recipe Elasticity(PetscInt nonzeros)
{
  const PetscInt n = Smallest(2, nonzeros, [](double s) { return 9 * std::pow(3 * s - 2, 3); });
  const auto     K = BrickStiffness();
  Recipe         recipe;
  recipe.block = 3;
  recipe.rows = recipe.cols = 3 * n * n * n;
  recipe.row                = [=](PetscInt r, Row &row) {
    const PetscInt node = r / 3, at[3] = {node % n, (node / n) % n, node / (n * n)};
    for (int a = 0; a < 8; a++) { // the node is corner a of the brick at `corner`
      PetscInt corner[3];
      bool     inside = true;
      for (int d = 0; d < 3; d++) {
        corner[d] = at[d] - ((a >> d) & 1);
        inside    = inside && corner[d] >= 0 && corner[d] < n - 1;
      }
      if (!inside) continue;
      for (int b = 0; b < 8; b++) {
        const PetscInt other =
            (corner[0] + (b & 1)) + n * ((corner[1] + ((b >> 1) & 1)) + n * (corner[2] + ((b >> 2) & 1)));
        for (int q = 0; q < 3; q++) row.emplace_back(3 * other + q, K[3 * a + static_cast<int>(r % 3)][3 * b + q]);
      }
    }
  };
  return recipe;
}

/// Recursive-matrix graph (0.57, 0.19, 0.19, 0.05), at most 16 edges a vertex: very uneven rows. Edges that exist
/// already are replaced, so that the count is as asked.
Recipe Rmat(const Random &random, PetscInt nonzeros)
{
  int scale = 8; // below, the graph fills up and new edges get rare
  while ((PetscInt{16} << scale) < nonzeros && scale < 26) scale++;
  const PetscInt n     = PetscInt{1} << scale;
  auto           graph = std::make_shared<std::vector<std::vector<PetscInt>>>(n);
  PetscInt       e = 0, kept = 0;
  while (kept < nonzeros) {
    for (const PetscInt end = e + (nonzeros - kept) + 16; e < end; e++) {
      PetscInt r = 0, c = 0;
      for (int level = 0; level < scale; level++) {
        const double u = random.Uniform(static_cast<uint64_t>(e), static_cast<uint64_t>(level));
        r              = 2 * r + (u >= 0.76);
        c              = 2 * c + ((u >= 0.57 && u < 0.76) || u >= 0.95);
      }
      (*graph)[r].push_back(c);
    }
    kept = 0;
    for (std::vector<PetscInt> &row : *graph) {
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
      kept += static_cast<PetscInt>(row.size());
    }
  }
  Recipe recipe;
  recipe.rows = recipe.cols = n;
  recipe.row                = [graph](PetscInt r, Row &row) {
    for (PetscInt c : (*graph)[r]) row.emplace_back(c, 1.0);
  };
  return recipe;
}

/// About `mean` entries a row, scattered over the columns within `reach` of the diagonal.
Recipe Scattered(const Random &random, PetscInt rows, PetscInt cols, PetscInt mean, PetscInt reach)
{
  Recipe recipe;
  recipe.rows = rows;
  recipe.cols = cols;
  recipe.row  = [=](PetscInt r, Row &row) {
    const PetscInt centre = static_cast<PetscInt>(static_cast<double>(r) * cols / rows);
    const PetscInt low = std::max<PetscInt>(0, centre - reach), high = std::min<PetscInt>(cols, centre + reach + 1);
    if (rows == cols) row.emplace_back(r, static_cast<double>(mean));
    for (PetscInt k = rows == cols; k < mean; k++) row.emplace_back(low + random.Below(high - low, r, k), -1.0);
  };
  return recipe;
}

/// Few entries in nearly all rows, and eight rows that reach n / 15 columns, as supply nets do.
Recipe Circuit(const Random &random, PetscInt nonzeros)
{
  const PetscInt n      = std::max<PetscInt>(64, nonzeros / 5);
  Recipe         recipe = Scattered(random, n, n, 5, std::max<PetscInt>(8, n / 100)), sparse = recipe;
  recipe.row = [=](PetscInt r, Row &row) {
    sparse.row(r, row);
    if (r % (n / 8) != n / 16) return;
    for (PetscInt k = 0; k < n / 15; k++) row.emplace_back(random.Below(n, r, 1000 + k), -1.0);
  };
  return recipe;
}

/// Every third row is empty, and so is the first tenth of the matrix.
Recipe EmptyRows(const Random &random, PetscInt nonzeros)
{
  const PetscInt n      = std::max<PetscInt>(16, static_cast<PetscInt>(nonzeros / 5.9));
  Recipe         recipe = Scattered(random, n, n, 10, n), full = recipe;
  recipe.row = [=](PetscInt r, Row &row) {
    if (r >= n / 10 && r % 3) full.row(r, row);
  };
  return recipe;
}

PetscErrorCode FindRecipe(const std::string &name, PetscInt nonzeros, const Random &random, Recipe *recipe)
{
  PetscFunctionBeginUser;
  // A row that draws 17 columns gets a little fewer, as some are drawn twice.
  const PetscInt n4         = std::max<PetscInt>(4, nonzeros / 4 + 1),
                 n17        = std::max<PetscInt>(4, static_cast<PetscInt>(nonzeros / 16.9) + 1),
                 short_side = std::max<PetscInt>(4, static_cast<PetscInt>(std::sqrt(nonzeros / 16.0)) + 1);
  if (name == "stencil5")
    *recipe = Stencil(2, false, nonzeros);
  else if (name == "stencil7")
    *recipe = Stencil(3, false, nonzeros);
  else if (name == "stencil9")
    *recipe = Stencil(2, true, nonzeros);
  else if (name == "stencil27")
    *recipe = Stencil(3, true, nonzeros);
  else if (name == "elasticity")
    *recipe = Elasticity(nonzeros);
  else if (name == "rmat")
    *recipe = Rmat(random, nonzeros);
  else if (name == "circuit")
    *recipe = Circuit(random, nonzeros);
  else if (name == "random")
    *recipe = Scattered(random, n17, n17, 17, n17);
  else if (name == "banded")
    *recipe = Scattered(random, n17, n17, 17, std::max<PetscInt>(32, n17 / 15));
  else if (name == "narrow")
    *recipe = Scattered(random, n4, n4, 4, 250);
  else if (name == "wide")
    *recipe = Scattered(random, short_side, 64 * short_side, 19 * short_side, 64 * short_side);
  else if (name == "tall")
    *recipe = Scattered(random, 64 * short_side, short_side, std::max<PetscInt>(1, short_side * 3 / 10), short_side);
  else if (name == "emptyrows")
    *recipe = EmptyRows(random, nonzeros);
  else {
    std::string known;
    for (const char *const *k = GeneratedNames; *k; k++) known += std::string(k == GeneratedNames ? "" : ", ") + *k;
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "Unknown generated matrix \"%s\": known are %s", name.c_str(),
            known.c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode GenerateMatrix(MPI_Comm comm, const char name[], PetscInt nonzeros, PetscBool natural, Mat *A,
                              PetscInt seed)
{
  const Random random(static_cast<uint64_t>(seed));
  Recipe       recipe;
  Rows         mine;
  PetscInt     begin, blocks = PETSC_DECIDE, all;

  PetscFunctionBeginUser;
  PetscCheck(nonzeros > 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A generated matrix needs a positive number of nonzeros, not %" PetscInt_FMT, nonzeros);
  PetscCall(FindRecipe(name, nonzeros, random, &recipe));
  all = recipe.rows / recipe.block;
  PetscCall(PetscSplitOwnership(comm, &blocks, &all));
  PetscCallMPI(MPI_Scan(&blocks, &begin, 1, MPIU_INT, MPI_SUM, comm));
  begin     = (begin - blocks) * recipe.block;
  mine.rows = recipe.rows;
  mine.cols = recipe.cols;
  for (PetscInt r = begin; r < begin + blocks * recipe.block; r++) {
    Row row;
    PetscCallCXX(recipe.row(r, row));
    for (const auto &entry : row) {
      const uint64_t other = recipe.rows == recipe.cols ? 0 : 1; // D = E keeps a square matrix symmetric
      const double   scale =
          natural ? 1
                    : (0.5 + random.Uniform(r, ScaleStream)) * (0.5 + random.Uniform(entry.first, ScaleStream + other));
      PetscCallCXX(mine.column.push_back(entry.first));
      PetscCallCXX(mine.value.push_back(static_cast<PetscReal>(scale * entry.second)));
    }
    PetscCheck(mine.column.size() <= static_cast<size_t>(PETSC_MAX_INT), comm, PETSC_ERR_ARG_OUTOFRANGE,
               "%s of %" PetscInt_FMT " nonzeros needs a PETSc with 64-bit integers, or more ranks", name, nonzeros);
    PetscCallCXX(mine.start.push_back(static_cast<PetscInt>(mine.column.size())));
  }
  PetscCall(SortRows(&mine));
  PetscCall(MatFromRows(comm, mine, recipe.block, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
