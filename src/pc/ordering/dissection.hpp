/// Nested dissection by level structures, good for grids and near O(n log n): George & Liu, "An automatic nested
/// dissection algorithm for irregular finite element problems", SIAM J. Numer. Anal. 15(5), 1978, whose separators
/// PETSc's ordering `nd` takes, too. Parts that are cut apart go on in threads of their own.
#pragma once

#include "pc/ordering/names.hpp"
#include "pc/symbolic/elimination.hpp"

namespace sparsegpu::ordering
{

/// The node of A that is eliminated k-th, [A.n]; the same with any number of threads, at most `threads`, 0: one for
/// each core. Weights of nodes are not looked at. Throws std::bad_alloc.
Indices ByLevels(const SymmetricPattern &A, int threads);

} // namespace sparsegpu::ordering
