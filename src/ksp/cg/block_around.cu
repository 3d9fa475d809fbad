/// The sums of block conjugate gradients around a preconditioner that is applied from outside: Z = M^-1 Q' is in v.z.
#include "ksp/cg/block.cuh"

namespace sparsegpu::cg
{

/// T = Q'^H Z and, of two matrices, N of Z or of Q'.
template <int S, int matrices, bool begins> static __global__ void __launch_bounds__(Shape<S>::THREADS)
    around_kernel(ManyArrays v, BlockControl c)
{
  constexpr int        EACH = TILE_ENTRIES;
  __shared__ Scalar    room[SharedSize<S, matrices>::ALL];
  __shared__ PetscReal norms[BLOCK_MOST];
  const TileOf         tile                 = TileOf::Warp<S>();
  Scalar               sums[matrices][EACH] = {};
  Scalar *const        scratch              = room + BLOCK_ROOM * S * S;

  begin_in_turn();
  if (c.number > c.state->stopped_at) return;
  const Scalar *const of_norm = c.norm == Norm::Preconditioned ? v.z : v.r;
  for (PetscInt begin = static_cast<PetscInt>(blockIdx.x) * Shape<S>::ROWS; begin < v.rows;
       begin += static_cast<PetscInt>(gridDim.x) * Shape<S>::ROWS) {
    const PetscInt rows = v.rows - begin < Shape<S>::ROWS ? v.rows - begin : Shape<S>::ROWS;
    const auto     of   = [&](const Scalar *from) {
      return [&v, from, begin](int k, PetscInt r) {
        return k < v.count ? from[static_cast<size_t>(k) * v.ld + begin + r] : Scalar(0);
      };
    };
    const auto one = [](int, PetscInt) { return PetscReal(1); };
    add_tile<S>(tile, rows, reinterpret_cast<Scalar(&)[1][EACH]>(sums[0]), of(v.r), of(v.z), one);
    if constexpr (matrices > 1)
      add_tile<S>(tile, rows, reinterpret_cast<Scalar(&)[1][EACH]>(sums[1]), of(of_norm), of(of_norm), one);
  }
  if (!close_tiles<S>(tile, sums, scratch, c.partial, &c.state->arrived)) return;
  const BlockRoom small = RoomIn(room, S);
  fill_gram<S>(scratch, small.gram);
  if (matrices > 1) fill_gram<S>(scratch + Shape<S>::TILES * EACH, small.norm);
  close_residual<S, begins>(v.count, matrices > 1 ? small.norm : small.gram, small, norms, c);
}

template <int S>
static PetscErrorCode Around(const ManyArrays &v, const BlockControl &control, bool begins, Stream stream)
{
  PetscFunctionBegin;
  if (begins)
    PetscCall(LaunchTiles<around_kernel<S, 1, true>, S>(v, control, stream));
  else if (HasTwoGrams(false, control.norm))
    PetscCall(LaunchTiles<around_kernel<S, 2, false>, S>(v, control, stream));
  else
    PetscCall(LaunchTiles<around_kernel<S, 1, false>, S>(v, control, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AroundBlock_CUDA(const ManyArrays &v, const BlockControl &control, bool begins, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(WithWidth(v.count, [&](auto width) { return Around<width>(v, control, begins, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::cg
