/// All that a format may know of a matrix.
#pragma once

#include <memory>
#include "device/scalar.hpp"

namespace sparsegpu::rows
{

/// The arrays of compressed sparse rows, in either space.
struct CsrArrays {
  const PetscInt *i = nullptr, *j = nullptr;
  const Scalar   *a = nullptr;
};

/// What keeps such arrays of the device alive, for a format that multiplies with these very arrays; null where they may
/// go when a call is over.
struct CsrOwners {
  std::shared_ptr<const void> pattern, values;
};

/// Compressed sparse rows on the host; columns of a row in any order, none twice. Where the device alone has a pattern,
/// as that of a transpose that was made there, i, j and a are null.
struct CsrView {
  PetscInt        rows, cols, nonzeros;
  const PetscInt *i;              ///< [rows + 1] first entry of each row
  const PetscInt *j;              ///< [nonzeros] column
  const Scalar   *a;              ///< [nonzeros] value
  PetscInt        block_size = 1; ///< unknowns of a node, as far as MatGetBlockSize() knows
  CsrArrays       device = {};    ///< the same on the device where they lie there, too, for an analysis or a conversion
  CsrOwners       owners = {};    ///< of `device`
};

} // namespace sparsegpu::rows
