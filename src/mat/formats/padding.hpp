/// Rows padded to one width: how far apart their entries lie, and how much padding is refused. Shared by the formats
/// that pad whole rows.
#pragma once

#include <string>
#include "mat/formats/names.hpp"
#include "mat/rows/csr_view.hpp"

namespace sparsegpu::formats
{

/// The rows' distance in the arrays: whole cache lines of 32 entries.
inline PetscInt EllPitch(PetscInt rows)
{
  return (rows + 31) / 32 * 32;
}
/// `width` entries of each row are more than max_padding * nonzeros, with some slack so that a tiny matrix is never
/// refused, or more than PetscInt counts.
bool TooMuchPadding(PetscInt rows, PetscLogDouble width, PetscInt nonzeros, PetscReal max_padding);
/// Whether A may be padded to `width` columns in each row. If not, *why is the reason, followed by `what`, the cause of
/// that width.
PetscErrorCode CheckPadding(const CsrView &A, PetscLogDouble width, const char what[], PetscReal max_padding, bool *ok,
                            std::string *why);

} // namespace sparsegpu::formats
