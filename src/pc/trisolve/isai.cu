/// Sparse approximate inverses on the GPU: a small triangular system for some lanes of a warp, and products.
#include "pc/trisolve/isai.hpp"
#include "device/cuda_check.hpp"
#include "device/grid.cuh"
#include "device/search.cuh"
#include "device/segmented.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

static constexpr int SYSTEMS = 128; ///< threads of a block that solves the systems
static constexpr int SHARED  = 8;   ///< unknowns for each lane that a system keeps in shared memory

/// The rows of M with (M L)_ij = I_ij on M's pattern, L the lower factor of F with the values a, into m[to[e]] for
/// entry e of M; `to` null: e. W lanes a row, which go back from its last unknown: each, once known, is subtracted
/// times its row of L from the others. Unknowns lie in shared memory, those of rows of more than SHARED W entries in m
/// itself. Each sum has one order: bitwise reproducible.
template <int W> static __global__ void __launch_bounds__(SYSTEMS)
    inverse_kernel(FactorView F, const Scalar *a, FactorView M, const PetscInt *to, Scalar *m)
{
  __shared__ Scalar   unknowns[SYSTEMS / W][SHARED * W];
  __shared__ PetscInt columns[SYSTEMS / W][SHARED * W];
  const PetscInt      r    = static_cast<PetscInt>((static_cast<PetscCount>(blockIdx.x) * SYSTEMS + threadIdx.x) / W);
  const int           lane = threadIdx.x % W, group = threadIdx.x / W;
  const unsigned      mates = (W == 32 ? ~0u : (1u << W % 32) - 1) << (threadIdx.x % 32 / W * W);
  if (r >= F.rows) return; // all lanes of the row
  const PetscInt  first = M.i[r], last = M.diagonal[r] - first;
  const bool      fits = last < SHARED * W;
  const PetscInt *J    = fits ? columns[group] : M.j + first;
  // a place of the row, in shared memory or in m
  const auto at = [&](PetscInt q) -> Scalar & { return fits ? unknowns[group][q] : m[to ? to[first + q] : first + q]; };
  for (PetscInt q = lane; q <= last; q += W) {
    if (fits) columns[group][q] = M.j[first + q];
    if (q < last) at(q) = Scalar(0);
  }
  __syncwarp(mates);
  for (PetscInt p = last; p >= 0; p--) {
    const PetscInt k = J[p];
    Scalar         v = p < last ? at(p) : Scalar(1);
    if (F.lower_diagonal) v = v * a[F.diagonal[k]];
    const PetscInt end = F.diagonal[k];
    for (PetscInt e = F.i[k] + lane; e < end; e += W) {
      const PetscInt c = F.j[e], q = lower_bound<PetscInt>(J, 0, p, c);
      if (q < p && J[q] == c) at(q) = at(q) - v * a[e];
    }
    __syncwarp(mates);
  }
  for (PetscInt q = lane; q <= last; q += W) {
    if (q == last && !F.lower_diagonal) continue; // the place is the other factor's
    const Scalar v                    = q < last ? at(q) : Scalar(1);
    m[to ? to[first + q] : first + q] = F.lower_diagonal ? v * a[F.diagonal[J[q]]] : v;
  }
}

/// out = base + M in, M one of the two inverses; in, out at the places that in_at and out_at say; null: their own.
/// base null: 0. W lanes a row.
template <int W, class Values> static __global__ void __launch_bounds__(THREADS)
    product_kernel(FactorView M, bool upper, Values m, const Scalar *in, const PetscInt *in_at, const Scalar *base,
                   Scalar *out, const PetscInt *out_at)
{
  const PetscInt r    = static_cast<PetscInt>((static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x) / W);
  const int      lane = threadIdx.x % W;
  Scalar         sum(0);
  if (r < M.rows) {
    const PetscInt begin = upper ? M.diagonal[r] + 1 : M.i[r], end = upper ? M.i[r + 1] : M.diagonal[r];
    for (PetscInt e = begin + lane; e < end; e += W) sum += m[e] * in[in_at ? in_at[M.j[e]] : M.j[e]];
  }
  sum = group_sum<W>(sum);
  if (r >= M.rows || lane != 0) return;
  Scalar own = in[in_at ? in_at[r] : r];
  if (upper != M.lower_diagonal) own = m[M.diagonal[r]] * own;
  if (base) own = base[r] + own;
  out[out_at ? out_at[r] : r] = own + sum;
}

/// residual = in - L y, L the lower or the upper factor. W lanes a row.
template <int W, class Values> static __global__ void __launch_bounds__(THREADS)
    residual_kernel(FactorView F, bool upper, Values a, const Scalar *in, const PetscInt *in_at, const Scalar *y,
                    Scalar *residual)
{
  const PetscInt r    = static_cast<PetscInt>((static_cast<PetscCount>(blockIdx.x) * THREADS + threadIdx.x) / W);
  const int      lane = threadIdx.x % W;
  Scalar         sum(0);
  if (r < F.rows) {
    const PetscInt begin = upper ? F.diagonal[r] + 1 : F.i[r], end = upper ? F.i[r + 1] : F.diagonal[r];
    for (PetscInt e = begin + lane; e < end; e += W) sum += a[e] * y[F.j[e]];
  }
  sum = group_sum<W>(sum);
  if (r >= F.rows || lane != 0) return;
  const Scalar own = upper != F.lower_diagonal ? Inverse(a[F.diagonal[r]]) * y[r] : y[r];
  residual[r]      = in[in_at ? in_at[r] : r] - own - sum;
}

/// Entries of a row of one factor, rounded up.
static PetscInt RowLength(const FactorView &F)
{
  return F.nonzeros / F.rows / 2 + 1;
}
static PetscErrorCode Invert(const FactorView &F, const Scalar *a, const FactorView &M, const PetscInt *to, Scalar *m,
                             Stream stream)
{
  const PetscInt length = RowLength(F);
  const int      lanes  = length <= 4 ? 4 : length <= 16 ? 16 : 32;
  const auto     kernel = lanes == 4 ? inverse_kernel<4> : lanes == 16 ? inverse_kernel<16> : inverse_kernel<32>;

  PetscFunctionBegin;
  kernel<<<Blocks(static_cast<PetscCount>(F.rows) * lanes, SYSTEMS), SYSTEMS, 0, static_cast<cudaStream_t>(stream)>>>(
      F, a, M, to, m);
  SparseGPUCallCUDA(cudaPeekAtLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Isai::Analyse(const FactorView &factors, Stream stream)
{
  PetscFunctionBegin;
  factors_ = factors;
  inverse_ = factors;
  PetscCall(AllocateStuck());
  PetscCall(transposed_.Build(factors, stream));
  if (options.power > 1 && factors.rows > 0) {
    PetscCall(pattern_.Build(factors, Space::Device));
    inverse_ = pattern_.View(factors);
    PetscCall(transposed_inverse_.Build(inverse_, stream));
  }
  PetscCall(lower_.Allocate(factors.rows, Space::Device));
  if (options.relax > 0) PetscCall(upper_.Allocate(factors.rows, Space::Device));
  if (options.relax > 0) PetscCall(residual_.Allocate(factors.rows, Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Isai::SetValues(const Scalar *values, Stream stream)
{
  const TransposedFactors &pattern = options.power > 1 ? transposed_inverse_ : transposed_;

  PetscFunctionBegin;
  if (factors_.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  PetscCall(wide_.Allocate(inverse_.nonzeros, Space::Device));
  PetscCall(Invert(factors_, values, inverse_, nullptr, wide_.data(), stream));
  PetscCall(transposed_.SetValues(values, stream));
  PetscCall(Invert(transposed_.view, transposed_.values(), pattern.view, pattern.from(), wide_.data(), stream));
  PetscCall(m_.Set(wide_.data(), inverse_.nonzeros, options.single, Space::Device, stream));
  if (options.single) {
    wide_ = Array<Scalar>();
    transposed_.DropValues();
  }
  if (options.relax > 0) PetscCall(a_.Set(values, factors_.nonzeros, options.single, Space::Device, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Isai::Product(bool upper, const Scalar *in, const PetscInt *in_at, const Scalar *base, Scalar *out,
                             const PetscInt *out_at, Stream stream)
{
  const FactorView &M     = inverse_;
  const int         lanes = RowLength(M) <= 4 ? 1 : 8;

  PetscFunctionBegin;
  PetscCall(m_.With([&](const auto &m) -> PetscErrorCode {
    using Values      = std::decay_t<decltype(m)>;
    const auto kernel = lanes == 1 ? product_kernel<1, Values> : product_kernel<8, Values>;
    PetscFunctionBegin;
    kernel<<<Blocks(static_cast<PetscCount>(M.rows) * lanes, THREADS), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        M, upper, m, in, in_at, base, out, out_at);
    SparseGPUCallCUDA(cudaPeekAtLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// out = M in, and the relaxation steps; in is a right-hand side or `lower_`, out is `lower_` or a solution.
PetscErrorCode Isai::Half(bool upper, const Scalar *in, Scalar *out, Stream stream)
{
  const FactorView &F     = factors_;
  const PetscInt   *in_at = upper ? nullptr : F.row, *out_at = upper ? F.column : nullptr;
  const int         lanes = RowLength(F) <= 4 ? 1 : 8;
  Scalar           *y     = upper ? upper_.data() : lower_.data();

  PetscFunctionBegin;
  if (options.relax == 0) {
    PetscCall(Product(upper, in, in_at, nullptr, out, out_at, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Product(upper, in, in_at, nullptr, y, nullptr, stream));
  for (PetscInt k = 1; k <= options.relax; k++) {
    const bool last = k == options.relax;
    PetscCall(a_.With([&](const auto &a) -> PetscErrorCode {
      using Values      = std::decay_t<decltype(a)>;
      const auto kernel = lanes == 1 ? residual_kernel<1, Values> : residual_kernel<8, Values>;
      PetscFunctionBegin;
      kernel<<<Blocks(static_cast<PetscCount>(F.rows) * lanes, THREADS), THREADS, 0,
               static_cast<cudaStream_t>(stream)>>>(F, upper, a, in, in_at, y, residual_.data());
      SparseGPUCallCUDA(cudaPeekAtLastError());
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(Product(upper, residual_.data(), nullptr, y, last ? out : y, last ? out_at : nullptr, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Isai::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream stream)
{
  PetscFunctionBegin;
  if (factors_.rows == 0) PetscFunctionReturn(PETSC_SUCCESS); // CUDA rejects an empty grid
  for (PetscInt c = 0; c < count; c++, b += ldb, x += ldx) {
    PetscCall(Half(false, b, lower_.data(), stream));
    PetscCall(Half(true, lower_.data(), x, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t Isai::Bytes() const
{
  return pattern_.Bytes() + transposed_.Bytes() + transposed_inverse_.Bytes() + wide_.bytes() + m_.Bytes() +
         a_.Bytes() + lower_.bytes() + upper_.bytes() + residual_.bytes();
}

} // namespace sparsegpu::trisolve
