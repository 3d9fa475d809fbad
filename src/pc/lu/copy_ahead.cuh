/// Asynchronous copies to shared memory.
#pragma once

namespace sparsegpu::lu
{

/// *to, in shared memory, becomes *from, or 0 where nothing is there, which is not read.
/// Both are aligned to the number's size.
template <class Number> __device__ __forceinline__ void CopyAhead(Number *to, const Number *from, bool there)
{
  static_assert(sizeof(Number) == 4 || sizeof(Number) == 8 || sizeof(Number) == 16, "what one instruction copies");
  const unsigned at    = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int      bytes = there ? static_cast<int>(sizeof(Number)) : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(sizeof(Number)), "r"(bytes)
               : "memory");
}
/// All copies of this thread are there; those of others after a barrier.
__device__ __forceinline__ void AwaitCopies()
{
  asm volatile("cp.async.wait_all;" ::: "memory");
}

} // namespace sparsegpu::lu
