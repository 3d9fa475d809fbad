/// C -= A B for one block of C, through shared memory.
#pragma once

#include "device/split_short.cuh"
#include "pc/lu/copy_ahead.cuh"
#include "pc/lu/fronts.cuh"

namespace sparsegpu::lu
{

static constexpr int BLOCK = 64, DEPTH = 16; ///< of a product: BLOCK x BLOCK entries a block, DEPTH at a time
static constexpr int SHARE_ROWS = 4, SHARE_COLUMNS = 8; ///< of these a thread has so many rows and columns
static constexpr int PRODUCT_THREADS = (BLOCK / SHARE_ROWS) * (BLOCK / SHARE_COLUMNS);
static constexpr int PRODUCT_BLOCKS  = 3; ///< that a multiprocessor has at a time

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
/// Three products of parts of the factors, the smallest first.
__device__ __forceinline__ void TensorMultiply(float &c0, float &c1, float &c2, float &c3, const float *a,
                                               const float *b)
{
  unsigned high_a[4], low_a[4], high_b[2], low_b[2];
#pragma unroll
  for (int q = 0; q < 4; q++) SplitShort(a[q], high_a + q, low_a + q);
#pragma unroll
  for (int q = 0; q < 2; q++) SplitShort(b[q], high_b + q, low_b + q);
  ShortMultiply(c0, c1, c2, c3, low_a, high_b);
  ShortMultiply(c0, c1, c2, c3, high_a, low_b);
  ShortMultiply(c0, c1, c2, c3, high_a, high_b);
}

/// Slices of A and B, and factors of B's rows. Four rows, or columns, are apart from each other by as many banks as the
/// lanes of a TensorMultiply() need; B has its rows or its columns together, as threads load it.
template <class Number> struct ProductSlices {
  static constexpr int PITCH = BLOCK + (sizeof(Number) == 4 ? 8 : 4), DEEP = DEPTH + 4;
  Number               A[DEPTH * PITCH], B[BLOCK * DEEP], scale[DEPTH];
  static_assert(BLOCK * DEEP >= DEPTH * PITCH, "B in either order");

  __device__ Number                         &InA(int k, int i) { return A[k * PITCH + i]; }
  template <bool by_rows> __device__ Number &InB(int k, int j) { return B[by_rows ? k * PITCH + j : j * DEEP + k]; }
};
/// With tensor cores one pair of slices is multiplied while the next one is on its way.
template <class Number> struct ProductShared {
  ProductSlices<Number> stage[TENSOR<Number> ? 2 : 1];
};

/// Which entries of a block a thread has, SHARE_ROWS x SHARE_COLUMNS of them.
template <class Number> struct ProductPlace {
  static constexpr int SIDE = BLOCK / SHARE_ROWS;
  const int            lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  __device__ int Row(int u) const
  {
    return TENSOR<Number> ? warp % 2 * 32 + 8 * u + lane / 4 : static_cast<int>(threadIdx.x) % SIDE + u * SIDE;
  }
  __device__ int Column(int v) const
  {
    return TENSOR<Number> ? warp / 2 * 32 + v / 2 * 8 + lane % 4 * 2 + v % 2
                          : static_cast<int>(threadIdx.x) / SIDE + v * (PRODUCT_THREADS / SIDE);
  }
};
static_assert(BLOCK == 64 && SHARE_ROWS == 4 && SHARE_COLUMNS == 8, "a warp's part of a block is 32 x 32");

/// sum += the product of the slices in shared memory.
template <class Factor, class Number>
static __device__ void MultiplySlices(ProductSlices<Number> &S, Number (&sum)[SHARE_ROWS][SHARE_COLUMNS])
{
  constexpr bool             by_rows = Factor::by_rows;
  const ProductPlace<Number> P;
  const int                  g = P.lane / 4, t = P.lane % 4;
  if constexpr (TENSOR<Number>) {
#pragma unroll
    for (int k = 0; k < DEPTH; k += 8) {
      Number a[2][4], b[4][2];
#pragma unroll
      for (int q = 0; q < 4; q++)
#pragma unroll
        for (int u = 0; u < 2; u++) a[u][q] = S.InA(k + t + q / 2 * 4, P.warp % 2 * 32 + 16 * u + q % 2 * 8 + g);
#pragma unroll
      for (int q = 0; q < 2; q++)
#pragma unroll
        for (int v = 0; v < 4; v++) {
          b[v][q] = S.template InB<by_rows>(k + t + 4 * q, P.warp / 2 * 32 + 8 * v + g);
          if (Factor::scaled) b[v][q] = S.scale[k + t + 4 * q] * b[v][q];
        }
#pragma unroll
      for (int u = 0; u < 2; u++)
#pragma unroll
        for (int v = 0; v < 4; v++)
          TensorMultiply(sum[2 * u][2 * v], sum[2 * u][2 * v + 1], sum[2 * u + 1][2 * v], sum[2 * u + 1][2 * v + 1],
                         a[u], b[v]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
      Number a[SHARE_ROWS], b[SHARE_COLUMNS];
#pragma unroll
      for (int u = 0; u < SHARE_ROWS; u++) a[u] = S.InA(k, P.Row(u));
#pragma unroll
      for (int v = 0; v < SHARE_COLUMNS; v++) {
        b[v] = S.template InB<by_rows>(k, P.Column(v));
        if (Factor::scaled) b[v] = S.scale[k] * b[v];
      }
#pragma unroll
      for (int u = 0; u < SHARE_ROWS; u++)
#pragma unroll
        for (int v = 0; v < SHARE_COLUMNS; v++) sum[u][v] = sum[u][v] + a[u] * b[v];
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
  static constexpr bool by_rows = false, scaled = false;
  const Number         *at;
  PetscCount            ld;

  __device__ PlainFactor   From(PetscCount k0) const { return PlainFactor{at + k0, ld}; }
  __device__ const Number *Place(PetscCount k, PetscCount j) const { return at + k + j * ld; }
  __device__ const Number *Scale(PetscCount) const { return nullptr; }
  __device__ Number        Taken(const Number &v) const { return v; }
};
/// Entry (k, j) of B = D L^T, or D L^H, L given by its rows, columns `first` ... of it; neighbouring threads read
/// neighbouring j.
template <class Number, class Rows> struct ScaledFactor {
  static constexpr bool      by_rows = true, scaled = true;
  const DeviceFront<Number> &F;
  PetscCount                 first;
  Rows                       rows;

  struct ScaledSlice {
    const DeviceFront<Number> &F;
    Slice<Number>              slice;
    const Number              *pivot;
    PetscCount                 step; ///< between pivots

    __device__ const Number *Place(PetscCount k, PetscCount j) const { return slice.at + j + k * slice.ld; }
    __device__ const Number *Scale(PetscCount k) const { return pivot + k * step; }
    __device__ Number        Taken(const Number &v) const { return F.Mirrored(v); }
  };
  __device__ ScaledSlice From(PetscCount k0) const
  {
    const PetscCount k = first + k0;
    return ScaledSlice{F, rows.From(k0), F.template Column<true>(k) + k, F.pivots - k / LU_TILE * LU_TILE + 1};
  }
};

/// Slices k0 ... of one block of a product on their way to shared memory; to be waited for, and synchronized.
template <class Rows, class Factor, class Number>
static __device__ void LoadSlices(PetscInt rows, PetscInt columns, PetscInt depth, const Rows &A, const Factor &B,
                                  PetscInt i0, PetscInt j0, PetscInt k0, ProductSlices<Number> &S)
{
  constexpr int LOADS = DEPTH * BLOCK / PRODUCT_THREADS; // of a slice, by a thread
  const auto    a0    = A.From(k0);
  const auto    b0    = B.From(k0);

#pragma unroll
  for (int q = 0; q < LOADS; q++) {
    const int           e = static_cast<int>(threadIdx.x) + q * PRODUCT_THREADS, i = e % BLOCK, k = e / BLOCK;
    const int           l = Factor::by_rows ? k : e % DEPTH, j = Factor::by_rows ? i : e / DEPTH;
    const bool          a = i0 + i < rows && k0 + k < depth, b = j0 + j < columns && k0 + l < depth;
    const Number *const at = a0.at + (i0 + i + k * a0.ld), *const bt = b0.Place(l, j0 + j);
    if constexpr (TENSOR<Number>) {
      CopyAhead(&S.InA(k, i), at, a);
      CopyAhead(&S.template InB<Factor::by_rows>(l, j), bt, b);
    } else {
      S.InA(k, i)                           = a ? *at : Number(0);
      S.template InB<Factor::by_rows>(l, j) = b ? b0.Taken(*bt) : Number(0);
    }
  }
  if (Factor::scaled && threadIdx.x < DEPTH) {
    const int  k     = static_cast<int>(threadIdx.x);
    const bool there = k0 + k < depth;
    if constexpr (TENSOR<Number>)
      CopyAhead(S.scale + k, b0.Scale(k), there);
    else
      S.scale[k] = there ? *b0.Scale(k) : Number(0);
  }
  if constexpr (TENSOR<Number>) asm volatile("cp.async.commit_group;" ::: "memory");
}
} // namespace

/// C [rows x columns] -= A [rows x depth] B [depth x columns], the block that begins at (i0, j0), or of that what is
/// not above the diagonal of C, if `lower`. column(j): where row 0 of column j of C is. Neighbouring threads have
/// neighbouring rows of C and A.
template <bool lower, class Rows, class Factor, class Column, class Number>
static __device__ void SubtractBlock(PetscInt rows, PetscInt columns, PetscInt depth, const Rows &A, const Factor &B,
                                     Column column, PetscInt i0, PetscInt j0, ProductShared<Number> *S)
{
  constexpr int              STAGES = TENSOR<Number> ? 2 : 1;
  const ProductPlace<Number> P;
  Number                     sum[SHARE_ROWS][SHARE_COLUMNS];
  const auto                 load = [&](PetscInt k0) {
    LoadSlices(rows, columns, depth, A, B, i0, j0, k0, S->stage[k0 / DEPTH % STAGES]);
  };
#pragma unroll
  for (int u = 0; u < SHARE_ROWS; u++)
#pragma unroll
    for (int v = 0; v < SHARE_COLUMNS; v++) sum[u][v] = Number(0);
  load(0);
  if constexpr (TENSOR<Number>) { // a lane's column of the warp's part of C, which is needed at the end
    const PetscInt i = i0 + P.warp % 2 * 32, j = j0 + P.warp / 2 * 32 + P.lane;
    if (j < columns)
      for (int u = 0; u <= 32; u += 16)
        if (i < rows) fetch_to_l2(column(j) + PetscMin(i + u, rows - 1));
  }
  for (PetscInt k0 = 0; k0 < depth; k0 += DEPTH) {
    if constexpr (TENSOR<Number>) AwaitCopies();
    __syncthreads(); // this slice is there, and the one before has been read
    if (STAGES > 1 && k0 + DEPTH < depth) load(k0 + DEPTH);
    MultiplySlices<Factor>(S->stage[k0 / DEPTH % STAGES], sum);
    if (STAGES == 1) {
      __syncthreads();
      if (k0 + DEPTH < depth) load(k0 + DEPTH);
    }
  }
  // all entries are read before one is written: the compiler cannot tell their places apart
  Number     c[SHARE_ROWS][SHARE_COLUMNS];
  const auto each = [&](auto visit) {
#pragma unroll
    for (int v = 0; v < SHARE_COLUMNS; v++) {
      const PetscInt j  = j0 + P.Column(v);
      Number *const  to = column(j < columns ? j : j0);
#pragma unroll
      for (int u = 0; u < SHARE_ROWS; u++) {
        const PetscInt i = i0 + P.Row(u);
        visit(j < columns && i < rows && (!lower || i >= j), to + i, c[u][v], sum[u][v]);
      }
    }
  };
  each([](bool there, const Number *at, Number &was, const Number &) { was = there ? *at : Number(0); });
  each([](bool there, Number *at, const Number &was, const Number &product) {
    if (there) *at = was - product;
  });
}

} // namespace sparsegpu::lu
