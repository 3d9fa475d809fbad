/// The matrices of bench/spmv.
#pragma once

#include <string>
#include <vector>

#include <petscmat.h>

#include "petsc/compat.hpp"

/// One matrix: of a file, or made. `generator` is a name of GenerateMatrix(), or surrogate:NAME of ThesisMatrices,
/// whose size is its own and whose values are always of full mantissa.
struct Case {
  std::string kind, generator, file;
  PetscInt    size = 0, seed = 0;
  bool        natural = false;

  std::string Name() const { return file.empty() ? generator : file; }
};
/// Appends the lines of a table: class, generator, size (nonzeros), seed, values (full or natural), separated by tabs;
/// '#' begins a comment, the first line names the columns. Errors name the line.
PetscErrorCode ReadSet(const char file[], std::vector<Case> *cases);
/// About how many nonzeros it will have; 0 where only reading it would tell.
PetscErrorCode ExpectedNonzeros(const Case &c, PetscInt64 *nonzeros);
PetscErrorCode CreateCase(const Case &c, Mat *A);

/// What a product's time is judged by.
struct CaseFacts {
  PetscInt rows, cols, nonzeros;
  double   mean, deviation; ///< of the row lengths
  double   csr_bytes;       ///< of the matrix as CSR, x and y
};
PetscErrorCode InspectCase(Mat A, CaseFacts *facts);

/// Pearson's correlation of two series; 0 where one does not vary.
double Correlation(const std::vector<double> &x, const std::vector<double> &y);
