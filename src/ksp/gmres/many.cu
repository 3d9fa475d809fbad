/// The kernels for several right-hand sides: layer z of a grid has slot z, and does there what the kernels for one
/// right-hand side do.
#include "device/cuda_check.hpp"
#include "device/launch.cuh"
#include "ksp/gmres/many.hpp"
#include "ksp/gmres/pipeline.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::gmres
{

static __global__ void many_clear_kernel(ManySlots slots, ManyPipelines many)
{
  const Pipeline p = many.Of(slots.column[threadIdx.x]);

  *p.scratch.arrived = 0;
}

/// to[s] = scale .* (b[c] - to[s]), or of b[c] alone; the threads of slot s = blockIdx.y take its rows in turn.
static __global__ void __launch_bounds__(DENSE_THREADS)
    many_residual_kernel(ManyBases v, ManySlots slots, const Scalar *b, PetscInt ldb, bool has_product,
                         const Scalar *scale, Scalar *to)
{
  Scalar *const       out = to + static_cast<size_t>(blockIdx.y) * static_cast<size_t>(v.ld);
  const Scalar *const rhs = b + static_cast<size_t>(slots.column[blockIdx.y]) * static_cast<size_t>(ldb);

  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * DENSE_THREADS + static_cast<PetscInt>(threadIdx.x); r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * DENSE_THREADS) {
    const Scalar residual = has_product ? rhs[r] - out[r] : rhs[r];
    out[r]                = scale ? scale[r] * residual : residual;
  }
}

/// to[c] = scale .* from[c]; `to` may be `from`. As above.
static __global__ void __launch_bounds__(DENSE_THREADS)
    many_scale_kernel(PetscInt rows, PetscInt ld, const Scalar *scale, const Scalar *from, Scalar *to)
{
  const size_t at = static_cast<size_t>(blockIdx.y) * static_cast<size_t>(ld);

  begin_in_turn();
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * DENSE_THREADS + static_cast<PetscInt>(threadIdx.x); r < rows;
       r += static_cast<PetscInt>(gridDim.x) * DENSE_THREADS)
    to[at + r] = scale[r] * from[at + r];
}

/// Vectors 0 to norm 1, and the pipelines to their beginning.
static __global__ void __launch_bounds__(DENSE_THREADS)
    many_begin_kernel(ManyBases v, ManySlots slots, ManyReals norms, ManyPipelines many)
{
  const int       s    = static_cast<int>(blockIdx.y);
  Scalar *const   out  = v.Vector(0, s);
  const PetscReal norm = norms.v[s];
  const Scalar    scale(1 / norm);

  if (blockIdx.x == 0 && threadIdx.x == 0) begin_body(many.Of(slots.column[s]), norm);
  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * DENSE_THREADS + static_cast<PetscInt>(threadIdx.x); r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * DENSE_THREADS)
    out[r] = scale * out[r];
}

/// The square norms of vectors 0.
static __global__ void __launch_bounds__(DENSE_THREADS, DENSE_BLOCKS)
    many_norm_kernel(ManyBases v, ManySlots slots, PetscReal *squares, ManyPipelines many)
{
  const Pipeline p = many.Of(slots.column[blockIdx.z]);

  // thread 0 has written the one inner product
  if (dots_body(v.Of(static_cast<int>(blockIdx.z), 1), 1, p.scratch, p.dots[0]) && threadIdx.x == 0)
    squares[blockIdx.z] = RealPart(p.dots[0][0]);
}

/// See dots_body().
static __global__ void __launch_bounds__(DENSE_THREADS, DENSE_BLOCKS)
    many_dots_kernel(ManyBases v, ManySlots slots, PetscInt columns, int step, bool second, ManyPipelines many)
{
  begin_in_turn();
  const Pipeline p = many.Of(slots.column[blockIdx.z]);
  if (skipped(*p.progress, step, second)) return;
  dots_body(v.Of(static_cast<int>(blockIdx.z), columns), columns, p.scratch, p.dots[second]);
}

/// See pipeline_update_body().
static __global__ void __launch_bounds__(DENSE_THREADS, DENSE_BLOCKS)
    many_update_kernel(ManyBases v, ManySlots slots, PetscInt columns, int step, bool second, ManyPipelines many)
{
  begin_in_turn();
  pipeline_update_body(many.Of(slots.column[blockIdx.z]), v.Of(static_cast<int>(blockIdx.z), columns), columns, step,
                       second);
}

/// A block has a column whose cycle ends: the coefficients of its correction, to dots[1].
static __global__ void __launch_bounds__(DENSE_THREADS)
    many_solve_kernel(ManySlots slots, ManyEnds ends, ManyPipelines many)
{
  const Pipeline p = many.Of(slots.column[ends.slot[blockIdx.x]]);

  solve_body(p.H, ends.steps[blockIdx.x], p.dots[1]);
}

/// See combine_body(); row y of the grid has the column of ends.slot[y], and of a panel column y.
static __global__ void __launch_bounds__(DENSE_THREADS)
    many_combine_kernel(ManyBases v, ManySlots slots, ManyEnds ends, const Scalar *scale, Scalar *x, PetscInt ldx,
                        Scalar *panel, ManyPipelines many)
{
  const int      slot = ends.slot[blockIdx.y], column = slots.column[slot];
  const PetscInt steps = ends.steps[blockIdx.y];
  Scalar *const  out   = panel ? panel + static_cast<size_t>(blockIdx.y) * static_cast<size_t>(v.ld)
                               : x + static_cast<size_t>(column) * static_cast<size_t>(ldx);

  combine_body(v.Of(slot, steps), steps, many.Of(column).dots[1], scale, panel ? nullptr : out, out);
}

/// Row y of the grid has the column of ends.slot[y], and of the panel column y.
static __global__ void __launch_bounds__(DENSE_THREADS)
    many_add_kernel(ManyBases v, ManySlots slots, ManyEnds ends, const Scalar *panel, Scalar *x, PetscInt ldx)
{
  const Scalar *const from = panel + static_cast<size_t>(blockIdx.y) * static_cast<size_t>(v.ld);
  Scalar *const       to   = x + static_cast<size_t>(slots.column[ends.slot[blockIdx.y]]) * static_cast<size_t>(ldx);

  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * DENSE_THREADS + static_cast<PetscInt>(threadIdx.x); r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * DENSE_THREADS)
    to[r] += from[r];
}

/// Block row y has vector y.
static __global__ void __launch_bounds__(DENSE_THREADS) many_move_kernel(ManyBases v, int from, int to)
{
  const Scalar *const source = v.Vector(static_cast<PetscInt>(blockIdx.y), from);
  Scalar *const       target = v.Vector(static_cast<PetscInt>(blockIdx.y), to);

  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * DENSE_THREADS + static_cast<PetscInt>(threadIdx.x); r < v.rows;
       r += static_cast<PetscInt>(gridDim.x) * DENSE_THREADS)
    target[r] = source[r];
}

/// Blocks for one of `count` columns whose rows are taken in turn, all at once on the device if the columns are few.
static PetscErrorCode RowBlocks(PetscInt rows, PetscInt count, unsigned *blocks)
{
  PetscInt multiprocessors;

  PetscFunctionBegin;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  const PetscInt useful = (rows - 1) / DENSE_THREADS + 1, each = 8 * multiprocessors / count;
  *blocks = static_cast<unsigned>(each < 1 ? 1 : useful < each ? useful : each);
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The blocks of one slot's layer.
static DenseBlocks LayerBlocks(const ManyBases &v, const ManySlots &slots, PetscInt columns, PetscInt multiprocessors)
{
  const PetscInt share = multiprocessors / slots.count;
  return dense_blocks<Scalar>(v.rows, columns, share > 1 ? share : 1);
}

PetscErrorCode ManyResiduals_CUDA(const ManyBases &v, const ManySlots &slots, const Scalar *b, PetscInt ldb,
                                  bool has_product, const Scalar *scale, Scalar *to, Stream stream)
{
  unsigned each;

  PetscFunctionBegin;
  PetscCall(RowBlocks(v.rows, slots.count, &each));
  many_residual_kernel<<<dim3(each, static_cast<unsigned>(slots.count)), DENSE_THREADS, 0,
                         static_cast<cudaStream_t>(stream)>>>(v, slots, b, ldb, has_product, scale, to);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManyNorms_CUDA(const ManyBases &v, const ManySlots &slots, PetscReal *squares, const ManyPipelines &p,
                              Stream stream)
{
  const cudaStream_t s      = static_cast<cudaStream_t>(stream);
  const DenseBlocks  blocks = LayerBlocks(v, slots, 1, p.zero.scratch.multiprocessors);
  const unsigned     count  = static_cast<unsigned>(slots.count);

  PetscFunctionBegin;
  many_clear_kernel<<<1, count, 0, s>>>(slots, p);
  many_norm_kernel<<<dim3(blocks.groups, blocks.shares, count), DENSE_THREADS, 0, s>>>(v, slots, squares, p);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManyBegin_CUDA(const ManyBases &v, const ManySlots &slots, const ManyReals &norms,
                              const ManyPipelines &p, Stream stream)
{
  unsigned each;

  PetscFunctionBegin;
  PetscCall(RowBlocks(v.rows, slots.count, &each));
  many_begin_kernel<<<dim3(each, static_cast<unsigned>(slots.count)), DENSE_THREADS, 0,
                      static_cast<cudaStream_t>(stream)>>>(v, slots, norms, p);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManyScale_CUDA(PetscInt rows, PetscInt ld, int count, const Scalar *scale, const Scalar *from,
                              Scalar *to, Stream stream)
{
  unsigned each;

  PetscFunctionBegin;
  PetscCall(RowBlocks(rows, count, &each));
  PetscCall(LaunchEarly<many_scale_kernel>(dim3(each, static_cast<unsigned>(count)), DENSE_THREADS, size_t(0),
                                           static_cast<cudaStream_t>(stream), rows, ld, scale, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManyStep_CUDA(const ManyBases &v, const ManySlots &slots, PetscInt step, const ManyPipelines &p,
                             Stream stream)
{
  const PetscInt     columns = step + 2;
  const DenseBlocks  blocks  = LayerBlocks(v, slots, columns, p.zero.scratch.multiprocessors);
  const unsigned     count   = static_cast<unsigned>(slots.count);
  const cudaStream_t s       = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  for (bool second : {false, true}) { // kernels of the second pass return at once in layers that do not need it
    PetscCall(LaunchEarly<many_dots_kernel>(dim3(blocks.groups, blocks.shares, count), DENSE_THREADS, size_t(0), s, v,
                                            slots, columns, static_cast<int>(step), second, p));
    PetscCall(LaunchEarly<many_update_kernel>(dim3(blocks.groups, blocks.shares + 1, count), DENSE_THREADS,
                                              coefficient_bytes(columns), s, v, slots, columns, static_cast<int>(step),
                                              second, p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManyCorrect_CUDA(const ManyBases &v, const ManySlots &slots, const ManyEnds &ends, const Scalar *scale,
                                Scalar *x, PetscInt ldx, Scalar *panel, const ManyPipelines &p, Stream stream)
{
  const cudaStream_t s     = static_cast<cudaStream_t>(stream);
  const unsigned     count = static_cast<unsigned>(ends.count);
  PetscInt           most  = 0;
  unsigned           each;

  PetscFunctionBegin;
  for (int e = 0; e < ends.count; e++) most = ends.steps[e] > most ? ends.steps[e] : most;
  PetscCall(RowBlocks(v.rows, ends.count, &each));
  many_solve_kernel<<<count, DENSE_THREADS, 0, s>>>(slots, ends, p);
  many_combine_kernel<<<dim3(each, count), DENSE_THREADS, coefficient_bytes(most), s>>>(v, slots, ends, scale, x, ldx,
                                                                                        panel, p);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManyAdd_CUDA(const ManyBases &v, const ManySlots &slots, const ManyEnds &ends, const Scalar *panel,
                            Scalar *x, PetscInt ldx, Stream stream)
{
  unsigned each;

  PetscFunctionBegin;
  PetscCall(RowBlocks(v.rows, ends.count, &each));
  many_add_kernel<<<dim3(each, static_cast<unsigned>(ends.count)), DENSE_THREADS, 0,
                    static_cast<cudaStream_t>(stream)>>>(v, slots, ends, panel, x, ldx);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ManyMove_CUDA(const ManyBases &v, PetscInt vectors, int from, int to, Stream stream)
{
  unsigned each;

  PetscFunctionBegin;
  PetscCall(RowBlocks(v.rows, vectors, &each));
  many_move_kernel<<<dim3(each, static_cast<unsigned>(vectors)), DENSE_THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
      v, from, to);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::gmres
