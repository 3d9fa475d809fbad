/// All that a format may know of a matrix.
#pragma once

#include <memory>
#include <vector>
#include "device/scalar.hpp"

namespace sparsegpu
{

/// The arrays of compressed sparse rows, in either space.
struct CsrArrays {
  const PetscInt *i = nullptr, *j = nullptr;
  const Scalar   *a = nullptr;
};

struct RowLengths; // mat/rows/inspect.hpp
struct SellPlan;   // mat/formats/sell/sell.hpp
struct RowClasses; // mat/formats/stencil/stencil.hpp
struct BsrPlan;    // mat/formats/bsr/bsr.hpp

/// What a look at the rows on the device has found out, for whoever builds a format from the very same.
struct RowFindings {
  std::shared_ptr<RowLengths>            lengths;
  std::shared_ptr<std::vector<PetscInt>> diagonals; ///< of FindDiagonals()
  std::shared_ptr<SellPlan>              plan;      ///< of PlanSell() for `window`; taken by the next one
  PetscInt                               window = 0;
  std::shared_ptr<RowClasses>            classes; ///< of FindRowClasses(), where they are few; taken by the next one
  std::shared_ptr<BsrPlan>               blocks;  ///< of PlanBsr(), the last one
  bool                                   uncoded = false; ///< no codec holds the values
};

/// Compressed sparse rows on the host; columns of a row in any order, none twice. Those of a transpose that was made on
/// the device have neither columns nor values here: j and a are null.
struct CsrView {
  PetscInt        rows, cols, nonzeros;
  const PetscInt *i;              ///< [rows + 1] first entry of each row
  const PetscInt *j;              ///< [nonzeros] column
  const Scalar   *a;              ///< [nonzeros] value
  PetscInt        block_size = 1; ///< unknowns of a node, as far as MatGetBlockSize() knows
  CsrArrays       device = {};    ///< the same on the device where they lie there, too, for an analysis or a conversion
  std::shared_ptr<RowFindings> found = {}; ///< may be null
};

} // namespace sparsegpu
