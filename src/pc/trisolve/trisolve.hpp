/// Solves L U w = b for the factors of an incomplete factorization: the engines, and the plain loops of the host.
/// Public names of the engines are those of -mat_sparsegpu_trisolve.
#pragma once

#include <memory>
#include <string>
#include <vector>
#include "device/buffer.hpp"
#include "device/scalar.hpp"
#include "pc/trisolve/kept.hpp"

namespace sparsegpu::trisolve
{

/// Incomplete factors, both in one CSR, on the device or on the host; rows and columns in the order of elimination,
/// columns ascending. L has a unit diagonal; the diagonal's place holds the inverse of U's. Also the transposed factors
/// U^T L^T, whose lower factor carries the diagonal.
struct FactorView {
  PetscInt        rows, nonzeros;
  const PetscInt *i;              ///< [rows + 1]
  const PetscInt *j;              ///< [i[rows]] column
  const PetscInt *diagonal;       ///< [rows] where the diagonal lies in j
  const PetscInt *row;            ///< [rows] entry of the right-hand side of row r; null: r
  const PetscInt *column;         ///< [rows] entry of the solution of column r; null: r
  bool            lower_diagonal; ///< the diagonal belongs to the lower factor
};

/// The same as it is made on the host.
struct FactorPattern {
  PetscInt              rows = 0;
  std::vector<PetscInt> i, j, diagonal;
  std::vector<PetscInt> row;             ///< [rows] the matrix's row that is eliminated r-th
  std::vector<PetscInt> column;          ///< [rows] the matrix's column of elimination step r
  bool                  natural = false; ///< row and column are known to be 0, 1, 2, ...

  FactorView View() const
  {
    return FactorView{
        rows, static_cast<PetscInt>(j.size()), i.data(), j.data(), diagonal.data(), row.data(), column.data(), false};
  }
  size_t Bytes() const
  {
    return (i.size() + j.size() + diagonal.size() + row.size() + column.size()) * sizeof(PetscInt);
  }
};

enum class Engine {
  Auto,
  Syncfree,
  Level,
  Jacobi,
  Isai
};
constexpr int            ENGINES = 5;
extern const char *const EngineNames[ENGINES];
extern const char *const PrecisionNames[5]; ///< full, single, as PetscOptionsEnum() takes them
PetscErrorCode           ParseEngine(const char *name, Engine *engine);
/// Whether solves are exact, so that they wait from level to level.
inline bool IsExact(Engine engine)
{
  return engine < Engine::Jacobi;
}

/// What a user may set; see the manual page of MATSOLVERSPARSEGPU.
struct TrisolveOptions {
  Engine    engine  = Engine::Auto;
  long long spins   = 1ll << 24; ///< a thread gives up after this many polls in which no task has ended
  PetscInt  warps   = 0;         ///< at work at a time; 0: as measured
  PetscInt  tile    = 0;         ///< warps that share a tile: 1, 4, 8; 0: by the rows of a level
  PetscInt  entries = 4;         ///< of a row per lane, before it gets more lanes
  PetscInt  sweeps  = 5;         ///< of engine Jacobi, for each factor
  PetscInt  power   = 1;         ///< of engine Isai: its inverses have the patterns of L and U, or of L^2 and U^2
  PetscInt  relax   = 0;         ///< of engine Isai: relaxation steps with each factor
  bool      single  = false;     ///< values are kept in single precision

  /// The name of the engine, and what of these options changes its solutions.
  std::string EngineText() const;
};

/// A solver for one pair of factors, on the device or on the host, where all its arguments are. On the device all
/// calls are asynchronous unless they say otherwise; on the host streams are ignored.
class Trisolve
{
public:
  virtual ~Trisolve();
  Trisolve(const Trisolve &)            = delete;
  Trisolve &operator=(const Trisolve &) = delete;

  /// Analyses the pattern, whose arrays must outlive the solver. May wait. Errors: PETSC_ERR_MEM, naming the bytes
  /// asked for and free; PETSC_ERR_GPU for a pattern whose rows wait for each other.
  virtual PetscErrorCode Analyse(const FactorView &factors, Stream stream) = 0;
  /// values [nonzeros], which must outlive the solver or the next call. Errors: as Solve()'s.
  virtual PetscErrorCode SetValues(const Scalar *values, Stream stream) = 0;
  /// count right-hand sides, ld entries apart; b and x do not overlap. Errors: PETSC_ERR_GPU if an
  /// earlier solve got stuck.
  virtual PetscErrorCode Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                               Stream stream) = 0;
  virtual size_t         Bytes() const        = 0;
  /// The values as SetValues() has got them, if they are kept in their order.
  virtual const KeptValues *Kept() const { return nullptr; }

  /// An error if any solve has given up. Does not wait.
  PetscErrorCode CheckStuck();
  int           *stuck() const { return stuck_; }

  TrisolveOptions options;
  PetscInt        lower_levels = 0, upper_levels = 0; ///< 0: not known

protected:
  Trisolve() = default;
  PetscErrorCode AllocateStuck();

private:
  int *stuck_ = nullptr; ///< [1] in pinned host memory
};
/// The engine on the device; null where there is no CUDA.
std::unique_ptr<Trisolve> MakeTrisolve(Engine engine);
/// The engine on the host; null where it is Solve_Host().
std::unique_ptr<Trisolve> MakeTrisolve_Host(Engine engine);

/// Levels of the rows of L and of U, on the host. O(nonzeros).
PetscErrorCode CountLevels(const FactorPattern &pattern, PetscInt *lower_levels, PetscInt *upper_levels);
/// x = (L U)^-1 b on the host, row after row; `transpose`: x = (L U)^-T b. `w` [rows] is scratch.
/// b and x do not overlap.
PetscErrorCode Solve_Host(const FactorPattern &pattern, const KeptValues &values, const Scalar *b, Scalar *x, Scalar *w,
                          bool transpose);

} // namespace sparsegpu::trisolve
