/// Subdomains: the rows of a matrix in disjoint sets. Entries that couple two subdomains are dropped before an
/// incomplete factorization, which thus becomes block Jacobi with an incomplete factorization of each diagonal block.
/// Solves with such factors have one short chain of levels a subdomain instead of one long chain for all rows.
///   ranges  neighbouring rows in the given order, of as many entries each as can be
///   boxes   of a regular grid that is read off the distances of columns from the diagonal, by recursive coordinate
///           bisection: Berger & Bokhari, IEEE Trans. Comput. 36(5), 1987. Rows of a node stay together.
///   graph   halves of halves of breadth-first searches from a node far out: Simon, Comput. Syst. Eng. 2, 1991
/// Any cut is a valid one: a wrong guess of the grid costs iterations alone.
#pragma once

#include <string>
#include <vector>
#include "device/buffer.hpp"
#include "mat/rows/csr_view.hpp"
#include "pc/subdomains/names.hpp"

namespace sparsegpu::subdomains
{

enum class CutKind {
  Auto, ///< boxes where a grid is found, else graph
  Ranges,
  Graph,
  Boxes ///< a result of Auto, not asked for: whether there is a grid may differ from process to process
};
extern const char *const CutNames[6]; ///< as PetscOptionsEnum() takes them
const char              *NameOf(CutKind kind);

/// What was asked for.
struct Request {
  PetscInt count     = 1;
  bool     automatic = false; ///< the count is AutomaticCount()'s on the device, 1 on the host
  CutKind  kind      = CutKind::Auto;

  bool        operator==(const Request &other) const;
  std::string Name() const; ///< as the option has it
  /// A number, or auto. Errors: PETSC_ERR_ARG_OUTOFRANGE naming the value.
  PetscErrorCode Parse(const char text[]);
};
/// Subdomains of 2048 rows; of fewer, down to 512, where there would be fewer than 1024 of them: enough for several
/// thread blocks on each multiprocessor.
PetscInt AutomaticCount(PetscInt rows);

/// A cut, with the order of elimination that it takes: subdomain after subdomain, each in the order that was given.
struct Cut {
  PetscInt              count   = 1;
  CutKind               kind    = CutKind::Ranges; ///< never Auto
  PetscInt              largest = 0;               ///< rows
  std::vector<PetscInt> begin;                     ///< [count + 1] first elimination step of each subdomain
  std::vector<PetscInt> row;                       ///< [rows] of the matrix, by elimination step; empty: as given
  std::vector<PetscInt> column;                    ///< [rows] the same of columns; empty: as rows
  std::vector<PetscInt> of_row;                    ///< [rows] subdomain of a row of the matrix; empty: on the device
  std::vector<PetscInt> of_column;                 ///< [rows] the same of columns; empty: as rows

  const PetscInt *OfColumn() const { return of_column.empty() ? of_row.data() : of_column.data(); }
};

/// Cuts A, on the host, into `count` subdomains. row, column [rows]: the order of elimination; null: the matrix's own.
/// Where they are the same array, columns are as rows.
/// The same rows and count give the same cut. Errors: PETSC_ERR_ARG_OUTOFRANGE naming a count above the rows. O(rows),
/// graph O(entries log(count)).
PetscErrorCode MakeCut(const CsrView &A, PetscInt count, CutKind kind, const PetscInt *row, const PetscInt *column,
                       Cut *cut);

/// Boxes of a grid, subdomain after subdomain. Rows of a node stay together.
struct GridCut {
  struct Box {
    PetscInt low[3], high[3]; ///< nodes low <= node < high, x first
    PetscInt begin;           ///< first elimination step, in the matrix's own order within a subdomain
  };
  PetscInt         sides[3] = {0, 0, 0}, unknowns = 1, rows = 0;
  std::vector<Box> boxes;
};
/// *found: whether the pattern is one of a grid. Cost: some sampled rows, and O(count).
PetscErrorCode FindBoxes(const CsrView &A, PetscInt count, GridCut *grid, bool *found);
/// What MakeCut() makes of the boxes of a matrix in its own order, but for the rows' subdomains and order, which are
/// arrays [rows] on the device: of_row, row. Asynchronous.
PetscErrorCode CutOnDevice(const GridCut &grid, Cut *cut, Array<PetscInt> *of_row, Array<PetscInt> *row, Stream stream);

/// *of [A.rows] = the subdomain of each row, none empty. *found: whether there is a grid.
PetscErrorCode CutBoxes(const CsrView &A, PetscInt count, std::vector<PetscInt> *of, bool *found);
PetscErrorCode CutGraph(const CsrView &A, PetscInt count, std::vector<PetscInt> *of);

} // namespace sparsegpu::subdomains
