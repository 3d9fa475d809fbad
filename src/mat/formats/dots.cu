/// The inner products of a product of a format that does not compute them along with it: one pass over both vectors.
#include "mat/formats/dots.cuh"
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// One thread a row in turn; neighbouring threads read neighbouring entries.
template <class Epilogue> static __global__ void __launch_bounds__(THREADS)
    dots_kernel(PetscInt rows, Epilogue epilogue)
{
  if (epilogue.Skip()) return;
  let_next_kernel_start();
  for (PetscInt row = static_cast<PetscInt>(blockIdx.x) * THREADS + threadIdx.x; row < rows;
       row += static_cast<PetscInt>(gridDim.x) * THREADS)
    epilogue(row, epilogue.d.z[row]);
  epilogue.Finish();
}

PetscErrorCode DotsOfProduct_CUDA(PetscInt rows, const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid; the sums stay zero
  const PetscInt needed = (rows - 1) / THREADS + 1, blocks = needed < DOT_GROUPS ? needed : DOT_GROUPS;
  const auto     launch = [&](auto epilogue) {
    return LaunchEarly<dots_kernel<decltype(epilogue)>>(blocks, THREADS, static_cast<cudaStream_t>(stream), rows,
                                                        epilogue);
  };
  if (dots.kind != ProductSums::Conjugate && dots.left_out)
    PetscCall(launch(ScaleAndDotInside{dots}));
  else if (dots.kind != ProductSums::Conjugate)
    PetscCall(launch(ScaleAndDot{dots}));
  else if (dots.left_out)
    PetscCall(launch(StoreAndDotInside{{dots}}));
  else
    PetscCall(launch(StoreAndDot{dots}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
