/// Asynchronous copies to shared memory, where the GPU has them: from compute capability 8 on.
#pragma once

namespace sparsegpu::lu
{

/// *to, in shared memory, becomes *from, or 0 where nothing is there, which is not read.
template <class Number> __device__ __forceinline__ void CopyAhead(Number *to, const Number *from, bool there)
{
#if __CUDA_ARCH__ >= 800
  const unsigned at    = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int      bytes = there ? static_cast<int>(sizeof(Number)) : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(sizeof(Number)), "r"(bytes)
               : "memory");
#else
  *to = there ? *from : Number(0);
#endif
}
/// All copies of this thread are there; those of others after a barrier.
__device__ __forceinline__ void AwaitCopies()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

} // namespace sparsegpu::lu
