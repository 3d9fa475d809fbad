/// Whether entries of other ranks are planes of the grid for a rank's rows.
#include <climits>
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/stencil/line_bits.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

namespace
{
/// What has been found of all rows. The entry received of place 0 is the same one for all rows of a plane if `least` is
/// `most`; none has been met if it is above.
struct GhostsFound {
  int wrong;
  int least[2], most[2];
};
} // namespace

/// Whether the entries of row r of `off` are `points`, as bits, of the stencil's plane g, and which one received is its
/// place's own, or would be.
__device__ __forceinline__ bool are_points(const StencilLines &lines, const CsrLayout &off, PetscInt r, int g,
                                           unsigned points, PetscInt *own)
{
  PetscInt e = off.i[r];

  for (int q = 0; q < lines.points; q++) {
    if (!(points >> q & 1)) continue;
    if (e == off.i[r + 1] || !SameBits(off.a[e], lines.value[g][q])) return false;
    const PetscInt here = off.j[e] - lines.offset[q];
    if (e > off.i[r] && here != *own) return false;
    *own = here;
    e++;
  }
  return e == off.i[r + 1];
}

/// One thread a row of `off` that is not empty.
static __global__ void __launch_bounds__(THREADS)
    ghost_planes_kernel(const __grid_constant__ StencilLines lines, PetscInt rows, CsrLayout off, unsigned char *with,
                        GhostsFound *found)
{
  const PetscCount n = thread_index();
  if (n >= off.filled) return;
  const PetscInt  r = off.filled_row[n], stride = lines.walk.stride;
  const LinePlace at    = place_in_line(lines.walk, rows, r);
  const int       end   = r < stride ? 0 : 1;
  const PetscInt  place = end ? r - (rows - stride) : r;
  const unsigned  bits = lines.bits[at.line], beyond = end ? StencilLines::AFTER : StencilLines::BEFORE;
  const unsigned  points = lines.star ? bits & 1u << lines.Middle() : bits & StencilLines::INSIDE;
  PetscInt        own    = 0;

  if (place < 0 || !points || bits & beyond || LeftOut{lines.walk, rows, lines.bits}(r) ||
      !are_points(lines, off, r, end ? 2 : 0, points, &own)) {
    atomicOr(&found->wrong, 1);
    return;
  }
  with[end * stride + place] = 1;
  atomicMin(&found->least[end], static_cast<int>(own - place));
  atomicMax(&found->most[end], static_cast<int>(own - place));
}

PetscErrorCode FindGhostPlanes_CUDA(const StencilLayout &A, const CsrLayout &off, unsigned char *with,
                                    GhostPlanes *planes)
{
  GhostsFound        found = {0, {INT_MAX, INT_MAX}, {INT_MIN, INT_MIN}};
  Array<GhostsFound> there;
  Stream             stream;

  PetscFunctionBegin;
  *planes = GhostPlanes();
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  PetscCall(there.Copy(&found, 1, Space::Device));
  SparseGPUCallCUDA(cudaMemsetAsync(with, 0, static_cast<size_t>(2 * A.lines->walk.stride), s));
  ghost_planes_kernel<<<Blocks(off.filled), THREADS, 0, s>>>(*A.lines, A.rows, off, with, there.data());
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscCall(there.ToHost(&found));
  if (found.wrong) PetscFunctionReturn(PETSC_SUCCESS);
  for (int end = 0; end < 2; end++) {
    planes->any[end]   = found.least[end] <= found.most[end];
    planes->first[end] = planes->any[end] ? found.least[end] : 0;
    if (planes->any[end] && found.least[end] < found.most[end]) {
      *planes = GhostPlanes();
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  planes->with = with;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
