/// The product that walks from plane to plane; see lines.hpp.
#pragma once

#include "mat/formats/dots.cuh"
#include "mat/formats/stencil/lines_kernel.cuh"

namespace sparsegpu::formats
{

template <int points, bool star, class Epilogue>
PetscErrorCode LaunchLines(const StencilLayout &A, const Scalar *x, const Epilogue &epilogue, cudaStream_t stream)
{
  StencilLines   lines   = *A.lines;
  const LineWalk walk    = lines.walk;
  static size_t  most    = 40 << 10; // without being asked for
  unsigned       senders = 0;
  bool           ghosts  = false;

  PetscFunctionBegin;
  if constexpr (SENDS<Epilogue>) ghosts = epilogue.exchange.complete;
  PetscCheck(!ghosts || lines.ghosts.with, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No planes of ghosts have been found");
  if (!ghosts) lines.ghosts = GhostPlanes();
  const size_t bytes = lines.BlockBytes();
  if constexpr (SENDS<Epilogue>) senders = LineWalk::Senders(A.rows, epilogue.exchange.side.sends);
  if (bytes > most) {
    SparseGPUCallCUDA(cudaFuncSetAttribute(stencil_lines_kernel<points, star, Epilogue>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    most = bytes;
  }
  PetscCall((LaunchEarly<stencil_lines_kernel<points, star, Epilogue>>(
      dim3(static_cast<unsigned>(walk.Slabs(A.rows) * walk.chunks) + senders), static_cast<int>(walk.threads), bytes,
      stream, lines, A, x, senders, epilogue)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The product of StoreSum alone.
struct StoreProduct {
  struct Ahead {
  };

  Scalar *z;

  __device__ __forceinline__ bool                         Skip() const { return false; }
  template <class Index> __device__ __forceinline__ Ahead Load(Index, const Scalar &) const { return {}; }
  template <class Index> __device__ __forceinline__ void  Take(Index row, const Scalar &sum, Ahead) const
  {
    z[row] = sum;
  }
  template <class Index> __device__ __forceinline__ void operator()(Index row, const Scalar &sum) const
  {
    z[row] = sum;
  }
  __device__ __forceinline__ void Finish(unsigned) const {}
};

inline StoreProduct ProductAlone(const StoreSum &epilogue)
{
  return StoreProduct{epilogue.to.z};
}
inline Sending<StoreProduct> ProductAlone(const Sending<StoreSum> &epilogue)
{
  return Sending<StoreProduct>{{epilogue.to.z}, epilogue.exchange, epilogue.x};
}

/// Whether rows are walked for it: the other sums of BiCGStab read too many vectors beside x.
template <class Epilogue> bool TakesLines(const Epilogue &epilogue)
{
  if constexpr (SCALES<Epilogue>) return epilogue.d.kind == ProductSums::Shadow;
  return true;
}

/// Whether x lies as A.lines can copy it without a loop over entries.
inline bool LiesForLines(const Scalar *x)
{
  return reinterpret_cast<std::uintptr_t>(x) % (sizeof(Scalar) < BULK ? sizeof(Scalar) : BULK) == 0;
}

/// epilogue(row, A x) for all rows; A.lines is not null.
template <class Epilogue>
PetscErrorCode MultiplyLines(const StencilLayout &A, const Scalar *x, const Epilogue &epilogue, cudaStream_t stream)
{
  PetscFunctionBegin;
  if constexpr (std::is_base_of_v<StoreSum, Epilogue>) {
    if (!epilogue.to.f && !epilogue.to.y) { // which takes a third fewer instructions
      PetscCall(MultiplyLines(A, x, ProductAlone(epilogue), stream));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if constexpr (SCALES<Epilogue>)
    PetscCall(MultiplyLines(A, x, ShadowAlone(epilogue), stream));
  else
    PetscCall(A.lines->star ? (LaunchLines<5, true>(A, x, epilogue, stream))
                            : (LaunchLines<9, false>(A, x, epilogue, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
