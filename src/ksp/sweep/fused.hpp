/// Fused sweeps: one kernel computes the product A x and the sweep, for the formats that have such a kernel.
#pragma once

#include "ksp/sweep/names.hpp"
#include "ksp/sweep/sweep.hpp"
#include "mat/formats/format.hpp"

namespace sparsegpu::sweep
{

/// Whether there is a fused sweep for this matrix; on the device only.
bool SweepsFused(const Format &format);
/// The sweep with the product A x of this matrix, whatever sweep.product is; where SweepsFused().
PetscErrorCode FusedSweep(const Format &format, const JacobiSweep &sweep, const JacobiControl &control, Stream stream);

} // namespace sparsegpu::sweep
