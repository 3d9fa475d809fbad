/// Coarsening by classical algebraic multigrid: a splitting of the unknowns into coarse and fine ones, and
/// interpolation of the fine ones from coarse ones that they are strongly coupled to, directly or through a fine
/// neighbour. Splitting: PMIS, De Sterck, Yang & Heys, SIAM J. Matrix Anal. Appl. 27(4), 2006. Interpolation: MM-ext+i,
/// Li, Sjogreen & Yang, SIAM J. Sci. Comput. 43(5), 2021. All of it runs in one space, host or device; the matrix may
/// be parallel. The splitting is the same bit for bit in both spaces and on any number of processes, values within
/// rounding.
#pragma once

#include <petscmat.h>
#include "device/buffer.hpp"
#include "device/scalar.hpp"
#include "pc/classical/names.hpp"

namespace sparsegpu::classical
{

/// What is known of A's symmetry beforehand.
enum class Symmetry {
  Unknown,
  Symmetric,
  Hermitian
};

struct Options {
  /// Unknown i depends strongly on j if -a_ij s >= threshold max_k(-a_ik s), where s is the sign of a_ii (of complex
  /// numbers the part along a_ii). A row that has no coupling of that sign takes those of the other.
  PetscReal threshold = 0.25;
  /// A row that sums up to more than this part of its diagonal depends on none. 1 or more: no row is looked at.
  PetscReal max_row_sum = 0.9;
  /// Entries of a row of interpolation at most, the largest ones; 0: all.
  PetscInt                  max_elements  = 4;
  static constexpr PetscInt MOST_ELEMENTS = 32;
  /// Entries of a row that are smaller than this part of its largest are dropped. The others are scaled to the old sum.
  PetscReal truncation = 0.2;
  Symmetry  symmetry   = Symmetry::Unknown;
  /// Coarse unknowns form a regular pattern where couplings are symmetric; of lines of strong couplings only if that
  /// has at most this part of all unknowns; else a random one, which has fewer.
  PetscReal most_regular = 0.48;
  /// Coarsening that leaves more than this part of the unknowns is not made.
  PetscReal stagnation = 1;
};

/// Which field each unknown is of: those of different fields do not interpolate each other. Fields of a finest level
/// take turns.
struct Fields {
  PetscInt        count = 1;
  Array<PetscInt> of; ///< [rows of this process] in the space of the level; empty: number in the matrix modulo count
};

struct CoarseLevel {
  Mat       P         = nullptr; ///< interpolation, of the type of A; null where there is no coarse unknown or too many
  PetscInt  unknowns  = 0;       ///< coarse ones, of all processes
  PetscInt  isolated  = 0;       ///< unknowns of all processes that depend on none: their rows of P are empty
  PetscInt  rounds    = 0;       ///< of the search for coarse unknowns
  PetscReal asymmetry = 0;       ///< mean over fine rows of sum |a_ij - a_ji| / sum |a_ij| + |a_ji|, strong j
  Fields    fields;              ///< of the coarse unknowns
};

/// Collective. `fields.of` lies where rows are worked on. Errors: PETSC_ERR_MEM; PETSC_ERR_ARG_OUTOFRANGE
/// where there are more entries than PetscInt counts; on all processes.
PetscErrorCode Coarsen(Mat A, const Options &options, const Fields &fields, CoarseLevel *coarse);
/// *P = `first` `second`, truncated as `options` say: interpolation from the second coarse level. Collective.
PetscErrorCode Skip(Mat first, Mat second, const Options &options, Mat *P);

} // namespace sparsegpu::classical
