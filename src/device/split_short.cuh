/// Numbers of single precision as sums of two TF32 numbers, of eleven bits, high and low, whose products tensor cores
/// form exactly and add up in single precision; what the two leave is below the number's rounding. Of a product of two
/// such sums that of the low parts is left out. Ootomo & Yokota, Int. J. High Perform. Comput. Appl. 36(4), 2022.
#pragma once

namespace sparsegpu
{

/// v as high + low, as bits of floats.
__device__ __forceinline__ void SplitShort(float v, unsigned *high, unsigned *low)
{
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(*high) : "f"(v));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(*low) : "f"(v - __uint_as_float(*high)));
}

} // namespace sparsegpu
