/// Copies of contiguous entries from global to shared memory by the copy engine of compute capability 9.0 and newer:
/// one thread asks for them, and a barrier in shared memory tells all others when they have come.
#pragma once

#include <cstdint>
#include "device/bulk_places.hpp"

namespace sparsegpu
{

/// What a launch asks for beside the shared memory that a kernel declares; a host that runs the kernel has another.
#define SPARSEGPU_DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]

// Of older devices nothing here is called; the compiler sees it all the same.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  #define SPARSEGPU_BULK(...) __trap()
#else
  #define SPARSEGPU_BULK(...) asm volatile(__VA_ARGS__)
#endif

__device__ __forceinline__ unsigned shared_address(const void *p)
{
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
/// By one thread; then the block has to meet. A barrier waits for one arrive_expecting() and its bytes.
__device__ __forceinline__ void begin_arrivals(std::uint64_t *barriers, int count)
{
  for (int k = 0; k < count; k++)
    SPARSEGPU_BULK("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barriers + k)) : "memory");
  SPARSEGPU_BULK("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void arrive_expecting(std::uint64_t *barrier, unsigned bytes)
{
  SPARSEGPU_BULK("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}
/// An address in shared memory that is kept in a register, not found again in a loop.
__device__ __forceinline__ unsigned fixed_address(const void *p)
{
  unsigned address = shared_address(p);
  SPARSEGPU_BULK("" : "+r"(address));
  return address;
}
/// parity: 0 for the first use of a barrier, 1 for the second, 0 for the third, ...
__device__ __forceinline__ void await_arrival(unsigned barrier, unsigned parity)
{
  unsigned done = 0;

  while (!done)
    SPARSEGPU_BULK("{\n"
                   ".reg .pred p;\n"
                   "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                   "selp.u32 %0, 1, 0, p;\n"
                   "}\n"
                   : "=r"(done)
                   : "r"(barrier), "r"(parity)
                   : "memory");
}
/// The entry at an address in shared memory plus a constant.
__device__ __forceinline__ Scalar load_at(unsigned address, int constant)
{
  const auto real = [&](int part) {
    PetscReal v = 0;
#if defined(PETSC_USE_REAL_SINGLE)
    SPARSEGPU_BULK("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address + static_cast<unsigned>(constant + part * 4)));
#else
    SPARSEGPU_BULK("ld.shared.f64 %0, [%1];" : "=d"(v) : "r"(address + static_cast<unsigned>(constant + part * 8)));
#endif
    return v;
  };
#if defined(PETSC_USE_COMPLEX)
  return Scalar(real(0), real(1));
#else
  return real(0);
#endif
}
/// Begins to copy `count` entries; addresses of both sides are alike in their last bits. Entries before the first
/// multiple of BULK bytes and behind the last one are stored by the calling thread; nothing else is read or written.
/// Returns the bytes that `barrier` will see.
__device__ __forceinline__ unsigned copy_bulk(Scalar *to, const Scalar *from, PetscCount count, std::uint64_t *barrier)
{
  for (; count > 0 && entries_behind_bulk(from); count--) *to++ = *from++;
  for (; count > 0 && entries_behind_bulk(from + count); count--) to[count - 1] = from[count - 1];
  const unsigned bytes = static_cast<unsigned>(count) * sizeof(Scalar);
  if (bytes == 0) return 0;
  // ordinary stores so far, by this function, too, before what the engine stores to the same places
  SPARSEGPU_BULK("fence.proxy.async.shared::cta;" ::: "memory");
  SPARSEGPU_BULK("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
  return bytes;
}

#undef SPARSEGPU_BULK

} // namespace sparsegpu
