/// What products run on before a conversion pays: the rows themselves, and for transposes sums scattered from them.
#pragma once

#include "mat/formats/format.hpp"

namespace sparsegpu
{

/// The name of the format that the rows are, which takes every matrix.
extern const char *const BASELINE;
/// Not a format to ask for: products of A^T, or A^H where `conjugate`, on the CPU, from A's own rows.
extern const char *const SCATTERED;
std::unique_ptr<Format>  MakeScattered(bool conjugate);
/// Does the baseline in `space` add the entries of every row of A one after the other?
bool BaselineInOrder(const CsrView &A, const Parameters &parameters, Space space);
/// The arrays on the device that a baseline built there multiplies with.
CsrArrays BaselineArrays(const Format &baseline);

} // namespace sparsegpu
