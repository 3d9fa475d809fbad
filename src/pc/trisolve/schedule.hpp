/// The order in which the rows of two triangular factors are best solved: by their levels. Made on the device.
#pragma once

#include "pc/trisolve/trisolve.hpp"

namespace sparsegpu::trisolve
{

/// L and U as one triangular system of 2 n rows, numbered so that a row needs only rows before it: u < n is row u of L,
/// u >= n is row 2 n - 1 - u of U, which also needs its right-hand side, row 2 n - 1 - u of L. A row of very many
/// entries is cut into pieces, each with an unknown of its own, its partial sum; the last piece of a row is the row
/// itself. Piece k belongs to row owner[k]; row u has the pieces first[u] ... first[u + 1] - 1.
struct SystemView {
  static constexpr PetscInt PIECE = 512; ///< entries of a piece

  FactorView      factors;
  const PetscInt *first; ///< [2 n + 1]; null: no row is cut
  const PetscInt *owner; ///< [pieces]; null: no row is cut
  PetscInt        lower; ///< pieces of L
  PetscInt        pieces;
};

/// sorted [count]: keys in ascending order -> first [groups + 1]: where a group begins. A group ends where the key's
/// bits in `mask` change, and after capacity >> (key & 7) keys (at least 1).
PetscErrorCode CutGroups(const unsigned *sorted, PetscInt count, unsigned mask, unsigned capacity,
                         Array<PetscInt> *first, PetscInt *groups, DeviceMemory *scratch, Stream stream);

/// The result of the search for levels.
struct LevelReport {
  int      is_long, cut; ///< there are long rows; they must be cut first
  unsigned ticket;
  unsigned ended;        ///< warps that have found all of their levels
  int      lower, upper; ///< the last levels
};

class Schedule
{
public:
  /// Levels of all pieces; waits for the device. `stuck` as in Trisolve. Pieces of L and of U have levels of their own.
  PetscErrorCode Build(const FactorView &factors, long long spins, int *stuck, DeviceMemory *scratch, Stream stream);
  size_t         Bytes() const { return first_.bytes() + owner_.bytes() + level_.bytes(); }

  SystemView view         = {};
  int       *levels       = nullptr; ///< [pieces] on the device
  PetscInt   lower_levels = 0, upper_levels = 0;

  /// The rows of L by level, rows of more than `longest` entries in both factors alone, others `together` at most:
  /// rows order[first[t]] ... order[first[t + 1] - 1] form task t. For the factorization. by_level, unless null:
  /// begins with the rows of L by level already.
  PetscErrorCode LowerTasks(const PetscInt *by_level, PetscInt longest, PetscInt together, Array<PetscInt> *order,
                            Array<PetscInt> *first, PetscInt *tasks, DeviceMemory *scratch, Stream stream) const;

private:
  Array<PetscInt>    first_, owner_;
  Array<int>         level_;
  Array<LevelReport> report_;
};

/// A solver on the device that knows the levels, and so in which order the factorization best takes the rows.
class Scheduled : public Trisolve
{
public:
  /// As Schedule::LowerTasks().
  virtual PetscErrorCode LowerTasks(PetscInt longest, PetscInt together, Array<PetscInt> *order, Array<PetscInt> *first,
                                    PetscInt *tasks, Stream stream) = 0;
};

/// A solver that needs no levels itself: they are found when the factorization asks for them, and forgotten.
class WithoutLevels : public Scheduled
{
public:
  PetscErrorCode LowerTasks(PetscInt longest, PetscInt together, Array<PetscInt> *order, Array<PetscInt> *first,
                            PetscInt *tasks, Stream stream) override;

protected:
  FactorView factors_ = {};
};

} // namespace sparsegpu::trisolve
