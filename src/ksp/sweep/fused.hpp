/// Sweeps that multiply as they go, in the formats whose rows a kernel of ours can sum on its way.
#pragma once

#include "ksp/sweep/sweep.hpp"
#include "mat/formats/format.hpp"

namespace sparsegpu
{

/// Can a sweep multiply as it goes with this matrix? On the device only.
bool SweepsFused(const Format &format);
/// The sweep with the product A x of this matrix, whatever sweep.product is; where SweepsFused().
PetscErrorCode FusedSweep(const Format &format, const JacobiSweep &sweep, const JacobiControl &control, Stream stream);

} // namespace sparsegpu
