/// What tells the values and the pattern of a matrix of ours apart from all others. PETSc's object state alone does
/// not: MatHeaderReplace() and MatHeaderMerge() give a matrix other insides, and a state that the insides had before.
#pragma once

#include <cstdint>

namespace sparsegpu::rows
{

/// A number for the values and the pattern that a matrix has now: of no other matrix, and of no other time, of this
/// process. 0: none.
using Version = std::uint64_t;

Version NextVersion();

} // namespace sparsegpu::rows
