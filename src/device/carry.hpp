/// Rows that several workers share: each worker leaves the partial sum of its last, unfinished row as a carry, and one
/// more pass adds the carries of a row to it in worker order. No atomics: bitwise reproducible.
#pragma once

#include "device/device.hpp"
#include "device/scalar.hpp"

namespace sparsegpu
{

/// row[count], ascending, -1 for "none" anywhere; value[count]. z[row[w]] += value[w] for all w. Asynchronous.
/// Launched early: goes well with a kernel before it that calls let_next_kernel_start().
PetscErrorCode AddCarries_CUDA(PetscInt count, const PetscInt *row, const Scalar *value, Scalar *z, Stream stream);

} // namespace sparsegpu
