/// cuDSS as a baseline of direct solvers.
#pragma once

enum class DirectKind {
  General,
  PositiveDefinite ///< symmetric; where cuDSS meets a pivot that is not positive, it starts again as for an indefinite
                   ///< one
};

/// Seconds, medians of `runs`, and megabytes; negative: cuDSS failed, and `why` says where.
struct BaselineDirect {
  double      first = -1, refactor = -1, solve = -1, many = -1; ///< `first`: analysis and factorization, median
  double      mb  = -1;                                         ///< on the device while the factors are kept
  const char *why = "";
};
/// What is asked of a baseline.
struct BaselineRuns {
  int  runs, firsts; ///< first factorizations, each with data of its own
  int  columns;      ///< of a solve with several right-hand sides; 0: none
  bool hybrid;       ///< factors go to the host's memory where the device lacks it
};
/// i [rows + 1], j, a [nonzeros], b [rows] on the host; x [rows] receives the solution; `many` is the time of a solve
/// with several columns. The rows are on the device before the first factorization. cuDSS's defaults, but
/// one step of refinement, and threads by its library for GNU's OpenMP, if it is beside it or CUDSS_THREADING_LIB names
/// one.
BaselineDirect CudssDirect(DirectKind kind, int rows, int nonzeros, const int *i, const int *j, const double *a,
                           const double *b, double *x, const BaselineRuns &wanted);
