/// cusolverRf as a baseline: its refactorizations of a matrix whose first factorization cuSOLVER makes on the host.
#pragma once

/// Seconds, medians of `runs`; negative: cuSOLVER failed, and `why` says where.
struct BaselineRefactor {
  double      first = -1, refactor = -1, solve = -1;
  const char *why = "";
};
/// i [rows + 1], j, a [nonzeros], b [rows] on the host; x [rows] receives the solution. Nested dissection by METIS, as
/// cuSOLVER has it; no refinement.
BaselineRefactor CusolverRefactor(int rows, int nonzeros, const int *i, const int *j, const double *a, const double *b,
                                  double *x, int runs);
