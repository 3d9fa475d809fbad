/// C -= A B for one block of C, through shared memory.
#pragma once

#include "pc/lu/fronts.cuh"

namespace sparsegpu::lu
{

static constexpr int BLOCK = 64, DEPTH = 16, SHARE = 4; ///< of a product: BLOCK x BLOCK entries a block, DEPTH at a
                                                        ///< time; SHARE x SHARE a thread
static constexpr int PRODUCT_THREADS = (BLOCK / SHARE) * (BLOCK / SHARE);

namespace
{
// From compute capability 9 on, real numbers are multiplied by the tensor cores.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(PETSC_USE_COMPLEX)
template <class Number> constexpr bool TENSOR = true;
#else
template <class Number> constexpr bool TENSOR = false;
#endif

/// C [16 x 8] += A [16 x 8] B [8 x 8], of a warp. With g = lane / 4 and t = lane % 4 a lane has of C the entries
/// (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1), of A (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4), of B
/// (t, g), (t + 4, g).
__device__ __forceinline__ void TensorMultiply(double &c0, double &c1, double &c2, double &c3, const double *a,
                                               const double *b)
{
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c0), "+d"(c1), "+d"(c2), "+d"(c3)
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
/// The same with factors of eleven bits, as bits of floats.
__device__ __forceinline__ void ShortMultiply(float &c0, float &c1, float &c2, float &c3, const unsigned *a,
                                              const unsigned *b)
{
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// v as the sum of two numbers of eleven bits; what is left is below its rounding.
__device__ __forceinline__ void Split(float v, unsigned *high, unsigned *low)
{
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(*high) : "f"(v));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(*low) : "f"(v - __uint_as_float(*high)));
}
/// Three products of parts of the factors, the smallest first.
__device__ __forceinline__ void TensorMultiply(float &c0, float &c1, float &c2, float &c3, const float *a,
                                               const float *b)
{
  unsigned high_a[4], low_a[4], high_b[2], low_b[2];
#pragma unroll
  for (int q = 0; q < 4; q++) Split(a[q], high_a + q, low_a + q);
#pragma unroll
  for (int q = 0; q < 2; q++) Split(b[q], high_b + q, low_b + q);
  ShortMultiply(c0, c1, c2, c3, low_a, high_b);
  ShortMultiply(c0, c1, c2, c3, high_a, low_b);
  ShortMultiply(c0, c1, c2, c3, high_a, high_b);
}

/// Slices of A and B. Four rows, or columns, are apart from each other by as many banks as the lanes of a
/// TensorMultiply() need; B has its rows or its columns together, as threads load it.
template <class Number> struct ProductShared {
  static constexpr int PITCH = BLOCK + (sizeof(Number) == 4 ? 8 : 4), DEEP = DEPTH + 4;
  Number               A[DEPTH * PITCH], B[BLOCK * DEEP];
  static_assert(BLOCK * DEEP >= DEPTH * PITCH, "B in either order");

  template <bool by_rows> __device__ Number &InB(int k, int j) { return B[by_rows ? k * PITCH + j : j * DEEP + k]; }
};

/// Which entries of a block a thread has, SHARE x SHARE of them.
template <class Number> struct ProductPlace {
  static constexpr int SIDE = BLOCK / SHARE;
  const int            lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  __device__ int Row(int u) const
  {
    return TENSOR<Number> ? warp % 2 * 32 + 8 * u + lane / 4 : static_cast<int>(threadIdx.x) % SIDE + u * SIDE;
  }
  __device__ int Column(int v) const
  {
    return TENSOR<Number> ? warp / 2 * 16 + v / 2 * 8 + lane % 4 * 2 + v % 2
                          : static_cast<int>(threadIdx.x) / SIDE + v * SIDE;
  }
};
static_assert(BLOCK == 64 && SHARE == 4 && PRODUCT_THREADS == 256, "a warp's part of a block is 32 x 16");

/// sum += the product of the slices in shared memory.
template <bool by_rows, class Number>
static __device__ void MultiplySlices(ProductShared<Number> *S, Number (&sum)[SHARE][SHARE])
{
  const ProductPlace<Number> P;
  const int                  g = P.lane / 4, t = P.lane % 4;
  if constexpr (TENSOR<Number>) {
#pragma unroll
    for (int k = 0; k < DEPTH; k += 8) {
      Number a[2][4], b[2][2];
#pragma unroll
      for (int q = 0; q < 4; q++)
#pragma unroll
        for (int u = 0; u < 2; u++)
          a[u][q] = S->A[(k + t + q / 2 * 4) * ProductShared<Number>::PITCH + P.warp % 2 * 32 + 16 * u + q % 2 * 8 + g];
#pragma unroll
      for (int q = 0; q < 2; q++)
#pragma unroll
        for (int v = 0; v < 2; v++) b[v][q] = S->template InB<by_rows>(k + t + 4 * q, P.warp / 2 * 16 + 8 * v + g);
#pragma unroll
      for (int u = 0; u < 2; u++)
#pragma unroll
        for (int v = 0; v < 2; v++)
          TensorMultiply(sum[2 * u][2 * v], sum[2 * u][2 * v + 1], sum[2 * u + 1][2 * v], sum[2 * u + 1][2 * v + 1],
                         a[u], b[v]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
      Number a[SHARE], b[SHARE];
#pragma unroll
      for (int u = 0; u < SHARE; u++) {
        a[u] = S->A[k * ProductShared<Number>::PITCH + P.Row(u)];
        b[u] = S->template InB<by_rows>(k, P.Column(u));
      }
#pragma unroll
      for (int u = 0; u < SHARE; u++)
#pragma unroll
        for (int v = 0; v < SHARE; v++) sum[u][v] = sum[u][v] + a[u] * b[v];
    }
  }
}
/// Columns of A or B from k0 on, of which DEPTH are read: entry (i, k) of A is at at[i + k * ld].
template <class Number> struct Slice {
  const Number *at;
  PetscCount    ld;
};
/// All columns ld apart.
template <class Number> struct PlainRows {
  const Number *at;
  PetscCount    ld;

  __device__ Slice<Number> From(PetscCount k0) const { return Slice<Number>{at + k0 * ld, ld}; }
};
/// Columns `first` ..., a multiple of DEPTH, of a half's square, rows `row` ... of them.
template <class Number> struct TileRows {
  const DeviceFront<Number> &F;
  PetscCount                 first, row;

  __device__ Slice<Number> From(PetscCount k0) const
  {
    const PetscCount k = first + k0;
    return Slice<Number>{F.template Column<true>(k) + row, F.pivots - k / LU_TILE * LU_TILE};
  }
};
static_assert(LU_TILE % DEPTH == 0, "a slice is of one tile");

/// Entry (k, j) of B, columns ld apart: neighbouring threads read neighbouring k.
template <class Number> struct PlainFactor {
  static constexpr bool by_rows = false;
  const Number         *at;
  PetscCount            ld;

  __device__ PlainFactor From(PetscCount k0) const { return PlainFactor{at + k0, ld}; }
  __device__ Number      operator()(PetscCount k, PetscCount j) const { return at[k + j * ld]; }
};
/// Entry (k, j) of B = D L^T, or D L^H, L given by its rows, columns `first` ... of it; neighbouring threads read
/// neighbouring j.
template <class Number, class Rows> struct ScaledFactor {
  static constexpr bool      by_rows = true;
  const DeviceFront<Number> &F;
  PetscCount                 first;
  Rows                       rows;

  struct ScaledSlice {
    const DeviceFront<Number> &F;
    Slice<Number>              slice;
    const Number              *pivot;
    PetscCount                 step; ///< between pivots

    __device__ Number operator()(PetscCount k, PetscCount j) const
    {
      return pivot[k * step] * F.Mirrored(slice.at[j + k * slice.ld]);
    }
  };
  __device__ ScaledSlice From(PetscCount k0) const
  {
    const PetscCount k = first + k0;
    return ScaledSlice{F, rows.From(k0), F.template Column<true>(k) + k, F.pivots - k / LU_TILE * LU_TILE + 1};
  }
};
} // namespace

/// C [rows x columns] -= A [rows x depth] B [depth x columns], the block that begins at (i0, j0), or of that what is
/// not above the diagonal of C, if `lower`. column(j): where row 0 of column j of C is. Neighbouring threads have
/// neighbouring rows of C and A.
template <bool lower, class Rows, class Factor, class Column, class Number>
static __device__ void SubtractBlock(PetscInt rows, PetscInt columns, PetscInt depth, const Rows &A, const Factor &B,
                                     Column column, PetscInt i0, PetscInt j0, ProductShared<Number> *S)
{
  constexpr int              LOADS = DEPTH * BLOCK / PRODUCT_THREADS; // of a slice, by a thread
  const ProductPlace<Number> P;
  Number                     sum[SHARE][SHARE], a[LOADS], b[LOADS];

  const auto load = [&](PetscInt k0) {
    const auto a0 = A.From(k0);
    const auto b0 = B.From(k0);
#pragma unroll
    for (int q = 0; q < LOADS; q++) {
      const int      e = static_cast<int>(threadIdx.x) + q * PRODUCT_THREADS, i = e % BLOCK, k = e / BLOCK;
      const int      l = Factor::by_rows ? k : e % DEPTH, j = Factor::by_rows ? i : e / DEPTH;
      const PetscInt row = i0 + i;
      a[q]               = row < rows && k0 + k < depth ? a0.at[row + k * a0.ld] : Number(0);
      b[q]               = j0 + j < columns && k0 + l < depth ? b0(l, j0 + j) : Number(0);
    }
  };
#pragma unroll
  for (int u = 0; u < SHARE; u++)
#pragma unroll
    for (int v = 0; v < SHARE; v++) sum[u][v] = Number(0);
  for (PetscInt k0 = 0; k0 < depth; k0 += DEPTH) {
    load(k0); // all of them, before the first is stored
#pragma unroll
    for (int q = 0; q < LOADS; q++) {
      const int e = static_cast<int>(threadIdx.x) + q * PRODUCT_THREADS, i = e % BLOCK, k = e / BLOCK;
      S->A[k * ProductShared<Number>::PITCH + i] = a[q];
      S->template InB<Factor::by_rows>(Factor::by_rows ? k : e % DEPTH, Factor::by_rows ? i : e / DEPTH) = b[q];
    }
    __syncthreads();
    MultiplySlices<Factor::by_rows>(S, sum);
    __syncthreads();
  }
#pragma unroll
  for (int v = 0; v < SHARE; v++) {
    const PetscInt j = j0 + P.Column(v);
    if (j >= columns) continue;
    Number *const to = column(j);
#pragma unroll
    for (int u = 0; u < SHARE; u++) {
      const PetscInt i = i0 + P.Row(u);
      if (i < rows && (!lower || i >= j)) to[i] = to[i] - sum[u][v];
    }
  }
}

} // namespace sparsegpu::lu
