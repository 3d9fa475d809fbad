/// One sweep of the device engine at a time, the pivots, and the front that is not factored.
#include "device/cuda_check.hpp"
#include "pc/lu/engine_device.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

template <class Number>
PetscErrorCode DeviceFactors<Number>::Pivots(std::vector<Scalar> *met, std::vector<Scalar> *used)
{
  const size_t        n = analysis_->rows;
  std::vector<Number> own;
  Array<Number>       gathered;
  Stream              stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(gathered.Allocate(n, Space::Device));
  PetscCallCXX(own.resize(n));
  PetscCall(TakePivots_CUDA(Stored(), analysis_->tree.Fronts(), static_cast<PetscInt>(n), values_.data(),
                            gathered.data(), stream));
  for (auto *to : {met, used}) {
    const Array<Number> &from = to == met ? met_ : gathered;
    PetscCallCXX(to->resize(from.size()));
    if (from.size() > 0) PetscCall(from.ToHost(own.data()));
    for (size_t k = 0; k < from.size(); k++) (*to)[k] = Widened(own[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode DeviceFactors<Number>::Apart(Scalar *block)
{
  std::vector<Number> own;

  PetscFunctionBegin;
  PetscCallCXX(own.resize(apart_.size()));
  if (!own.empty()) PetscCall(apart_.ToHost(own.data()));
  for (size_t k = 0; k < own.size(); k++) block[k] = Widened(own[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// root_, unless it is there.
template <class Number> PetscErrorCode DeviceFactors<Number>::TakeRoots()
{
  const size_t           n = met_.size();
  std::vector<Scalar>    met, used;
  std::vector<PetscReal> root;

  PetscFunctionBegin;
  if (root_.size() > 0 || n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Pivots(&met, &used));
  PetscCallCXX(root.resize(2 * n));
  for (size_t k = 0; k < n; k++) {
    root[k]     = PetscSqrtReal(RealPart(used[k]));
    root[k + n] = 1 / root[k];
  }
  PetscCall(root_.Take(std::move(root), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode DeviceFactors<Number>::ApplyHalf(const LuHalf &half, const LuColumns &columns,
                                                                        const Scalar *b, PetscInt ldb, Scalar *x,
                                                                        PetscInt ldx)
{
  const LuAnalysis        &A        = *analysis_;
  const PetscInt           n        = A.rows;
  const LuSolution<Number> solution = Solution(columns.count);
  const PetscCount         stride   = solution.stride;
  const bool               forward = half.forward, transpose = half.transpose;
  const bool               conjugate = transpose && A.plan.shape == Shape::Hermitian;
  RealBits *const          largest   = largest_.size() > 0 ? largest_.data() : nullptr;
  Number *const w = vectors_.data(), *const y = w + n, *const unknowns = y + n;
  Stream stream;

  PetscFunctionBegin;
  PetscCall(CheckStuck());
  PetscCall(DeviceStream(&stream));
  if (half.roots) PetscCall(TakeRoots());
  const bool       roots = half.roots && root_.size() > 0;
  const PetscReal *root = roots ? root_.data() : nullptr, *inverse = roots ? root_.data() + n : nullptr;
  const PetscInt  *from = (transpose ? column_order_ : row_order_).data();
  const PetscInt  *to   = (transpose ? row_order_ : column_order_).data();
  const SweepOrder in{n, forward ? from : nullptr, forward ? (transpose ? column_scale_ : row_scale_).data() : root,
                      conjugate, largest};
  const SweepOrder out{n, forward ? nullptr : to, forward ? inverse : (transpose ? row_scale_ : column_scale_).data(),
                       conjugate, largest};
  PetscCall(PetscLogGpuTimeBegin());
  if (largest) PetscCall(MeasureRightSides_CUDA(in, columns, b, ldb, stream));
  if (forward)
    PetscCall(BeginSolve_CUDA(in, columns, b, ldb, solution.columns, w, stride, stride - n, y, report_.data(), stream));
  else // what the forward sweep leaves is there
    PetscCall(BeginSolve_CUDA(in, columns, b, ldb, solution.columns, y, stride, stride - 2 * n, unknowns,
                              report_.data(), stream));
  PetscCall(Sweep(solution, transpose, forward ? Sweeps::Forward : Sweeps::Backward, stream));
  PetscCall(GiveOut_CUDA(out, columns, static_cast<const Number *>(forward ? y : unknowns), stride, nullptr, x, ldx,
                         report_.data(), stuck_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(A.plan.solve_flops / 2 * columns.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode DeviceFactors<Scalar>::Pivots(std::vector<Scalar> *, std::vector<Scalar> *);
template PetscErrorCode DeviceFactors<Scalar>::Apart(Scalar *);
template PetscErrorCode DeviceFactors<Scalar>::ApplyHalf(const LuHalf &, const LuColumns &, const Scalar *, PetscInt,
                                                         Scalar *, PetscInt);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode DeviceFactors<Single>::Pivots(std::vector<Scalar> *, std::vector<Scalar> *);
template PetscErrorCode DeviceFactors<Single>::Apart(Scalar *);
template PetscErrorCode DeviceFactors<Single>::ApplyHalf(const LuHalf &, const LuColumns &, const Scalar *, PetscInt,
                                                         Scalar *, PetscInt);
#endif

} // namespace sparsegpu::lu
