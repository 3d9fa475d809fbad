/// What compare finds, and how it tells: a progress line, one table a matrix, a JSON file.
#pragma once

#include <string>
#include <vector>

#include <petscsys.h>

#include "petsc/compat.hpp"

constexpr double NoNumber   = -1;  ///< of a Result's numbers that were not measured
constexpr double MostSpread = 0.1; ///< above this a time is not to be judged

struct Result {
  std::string type;                ///< of the matrix: "aij", "sparsegpu"
  std::string format;              ///< asked for; empty for PETSc's types
  std::string chosen;              ///< what "auto" became
  std::string backend;             ///< "host", "kokkos" or "cuda"
  bool        device      = false; ///< whether the backend is a GPU
  bool        native_type = false; ///< a type of PETSc itself
  bool        mult_right  = false; ///< MatMult(), whatever the other products are
  bool        applicable  = true;
  std::string reason;        ///< why not applicable, or why this format
  std::string native;        ///< PETSc's fastest type on the same side, host or GPU: the type that `ratio` refers to
  std::string worst_product; ///< the one that max_error_over_bound belongs to
  double      convert_ms = NoNumber, convert_spmv = NoNumber; ///< the latter: in products of `native`
  double      ms = NoNumber, gbs = NoNumber;                  ///< ms: the median
  double      ms_min = NoNumber, ms_max = NoNumber;           ///< of the batches timed
  double      spread       = NoNumber; ///< half of the span of the middle half of the batches, over the median
  double      ratio        = NoNumber; ///< time of `native` / time of this: above 1 is faster
  double      bytes_stored = NoNumber, padding = NoNumber; ///< padding: entries stored / nonzeros
  double      max_error_over_bound = NoNumber;             ///< above 1 is wrong

  bool Wrong() const { return applicable && !(max_error_over_bound <= 1); }
};

struct Case {
  std::string         matrix;
  PetscInt            rows = 0, cols = 0, shortest = 0, longest = 0;
  double              nonzeros = 0;
  bool                in_turn  = false; ///< the rows were timed in rounds, not one after the other
  std::vector<Result> results;
};

/// Shows what is being done on the terminal's last line; an empty text clears it. Rank 0, and only if stderr is a
/// terminal.
PetscErrorCode Progress(const std::string &text);
PetscErrorCode PrintTable(const Case &c);
/// Writes everything to `file`, with the processor's name and, if `device`, the first GPU's. Rank 0 writes.
/// Errors: PETSC_ERR_FILE_WRITE, on all ranks.
PetscErrorCode WriteJson(const char file[], bool device, const std::vector<Case> &cases);
