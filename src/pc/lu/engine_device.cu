/// The device engine's factorization and its solves: the launches, and the report that the host reads.
#include "device/cuda_check.hpp"
#include "device/limits.hpp"
#include "pc/lu/engine_device.hpp"
#include "pc/trisolve/poll.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

/// Scales, thresholds and the matrix's entries in the fronts.
template <class Number>
PetscErrorCode DeviceFactors<Number>::Fill(const SystemView &system, const LuPolicy &policy, Stream stream)
{
  const LuAnalysis  &A = *analysis_;
  const cudaStream_t s = static_cast<cudaStream_t>(stream);

  PetscFunctionBegin;
  PetscCall(ClearReport_CUDA(report_.data(), stream));
  if (!A.matched && A.symmetric)
    PetscCall(ScaleByDiagonal_CUDA(system, row_scale_.data(), column_scale_.data(), stream));
  if (!A.matched && !A.symmetric) PetscCall(Equilibrate_CUDA(system, row_scale_.data(), column_scale_.data(), stream));
  PetscCall(MeasureSystem_CUDA(system, row_scale_.data(), column_scale_.data(), policy, report_.data(), stream));
  if (values_.size() > 0) SparseGPUCallCUDA(cudaMemsetAsync(values_.data(), 0, values_.bytes(), s));
  PetscCall(PlaceValues_CUDA(system, row_scale_.data(), column_scale_.data(), place_.data(),
                             A.plan.shape == Shape::Hermitian, values_.data(), stream));
  if (A.tree.Fronts() > 0)
    SparseGPUCallCUDA(
        cudaMemcpyAsync(pending_.data(), children_.data(), children_.bytes(), cudaMemcpyDeviceToDevice, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All fronts, in the steps of the plan.
template <class Number> PetscErrorCode DeviceFactors<Number>::Factor(Stream stream)
{
  const LuAnalysis         &A    = *analysis_;
  const FrontPlan          &plan = A.plan;
  const LuWorkspace<Number> work{values_.data(),
                                 work_.data(),
                                 local_row_.data(),
                                 pending_.data(),
                                 met_.size() > 0 ? met_.data() : nullptr,
                                 A.paired ? pair_.data() : nullptr,
                                 report_.data(),
                                 Spins(A.spins)};

  PetscFunctionBegin;
  for (PetscInt c = 0; c < SMALL_CLASSES && c < plan.Steps(); c++)
    PetscCall(SmallFronts_CUDA(Fronts(), SMALL_FRONTS[c], list_.data() + plan.step_begin[c],
                               plan.step_begin[c + 1] - plan.step_begin[c], static_cast<int>(c), work, stream));
  for (size_t k = 0; k < large_.size(); k++) {
    const PetscInt *const list = list_.data() + plan.step_begin[SMALL_CLASSES + static_cast<PetscInt>(k)];
    if (large_[k].count == 0) continue;
    if (large_[k].front[0] == A.tree.apart) { // alone in its step
      PetscCall(AssembleFronts_CUDA(Fronts(), large_[k], list, work, stream));
      PetscCall(TakeApart_CUDA(Fronts(), A.tree.apart, A.tree.Pivots(A.tree.apart), work, apart_.data(), stream));
    } else {
      PetscCall(LargeFronts_CUDA(Fronts(), plan, large_[k], list, work, stream));
    }
  }
  if (plan.Half())
    PetscCall(MeasureHalfGrowth_CUDA(Fronts(), A.tree.Fronts(), A.rows, values_.data(), report_.data(), stream));
  else
    PetscCall(MeasureGrowth_CUDA(plan.values, static_cast<const Number *>(values_.data()), report_.data(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number>
PetscErrorCode DeviceFactors<Number>::Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report)
{
  const LuAnalysis &A    = *analysis_;
  const FrontPlan  &plan = A.plan;
  Stream            stream;

  PetscFunctionBegin;
  PetscCall(CheckStuck());
  PetscCall(DeviceStream(&stream));
  if (values_.size() != static_cast<size_t>(plan.values)) {
    PetscCall(values_.Allocate(static_cast<size_t>(plan.values), Space::Device));
    PetscCall(work_.Allocate(static_cast<size_t>(plan.work), Space::Device));
    PetscCall(met_.Allocate(plan.Half() ? static_cast<size_t>(A.rows) : 0, Space::Device));
    PetscCall(pair_.Allocate(A.paired ? static_cast<size_t>(A.rows) : 0, Space::Device));
    const size_t apart = A.tree.apart >= 0 ? static_cast<size_t>(A.tree.Pivots(A.tree.apart)) : 0;
    PetscCall(apart_.Allocate(apart * apart, Space::Device));
    PetscCall(Reserve(1));
    PetscCall(a_.Allocate(A.refine ? A.j.size() : 0, Space::Device));
    if (sizeof(Number) < sizeof(Scalar)) PetscCall(largest_.Allocate(LU_COLUMNS, Space::Device));
  }
  columns_measured_ = false;
  PetscCall(root_.Allocate(0, Space::Device));
  PetscCall(PetscLogGpuTimeBegin());
  if (A.refine && !A.j.empty() && a != a_.data())
    SparseGPUCallCUDA(
        cudaMemcpyAsync(a_.data(), a, a_.bytes(), cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)));
  PetscCall(Fill(SystemView{A.rows, i_.data(), j_.data(), nullptr, a}, policy, stream));
  PetscCall(Factor(stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(plan.flops));
  PetscCall(Hear(stream));
  report->perturbed = heard_->perturbed;
  report->first     = heard_->perturbed ? static_cast<PetscInt>(heard_->first) : -1;
  report->smallest  = A.rows > 0 ? RealOf(heard_->smallest) : 0;
  report->negative  = heard_->negative;
  report->finite    = !heard_->not_finite;
  report->largest   = RealOf(heard_->largest);
  report->growth    = RealOf(heard_->growth) / PetscMax(RealOf(heard_->largest), PetscReal(1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Memory for blocks of so many columns.
template <class Number> PetscErrorCode DeviceFactors<Number>::Reserve(PetscInt columns)
{
  PetscFunctionBegin;
  PetscCall(vectors_.Allocate(Vectors() * static_cast<size_t>(SweptColumns(columns)), Space::Device));
  PetscCall(residual_.Allocate(Kept() * static_cast<size_t>(columns), Space::Device));
  PetscCall(before_.Allocate(Kept() * static_cast<size_t>(columns), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A block is all columns or, where the memory is not there, one: few columns gain little, and what is free may change.
template <class Number> PetscErrorCode DeviceFactors<Number>::Room(PetscInt *width)
{
  const PetscInt columns = PetscMin(*width, LU_COLUMNS), swept = SweptColumns(columns);
  const size_t   sweeps = Vectors() * static_cast<size_t>(swept) * sizeof(Number);
  const size_t   needed = sweeps + 2 * Kept() * static_cast<size_t>(columns) * sizeof(Scalar);
  const size_t   there  = vectors_.bytes() + residual_.bytes() + before_.bytes();
  double         left;

  PetscFunctionBegin;
  *width = columns;
  if (vectors_.size() >= Vectors() * static_cast<size_t>(swept) &&
      residual_.size() >= Kept() * static_cast<size_t>(columns))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceMemoryLeft(&left));
  *width = 1;
  if (static_cast<double>(needed) - static_cast<double>(there) > left) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Reserve(columns));
  *width = columns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The vectors of the sweeps, and what they read.
template <class Number> LuSolution<Number> DeviceFactors<Number>::Solution(PetscInt columns)
{
  const PetscInt n      = analysis_->rows;
  const bool     paired = analysis_->paired;
  Number *const w = vectors_.data(), *const y = w + n, *const x = y + n, *const parts = x + n;
  return LuSolution<Number>{values_.data(),
                            local_row_.data(),
                            paired ? pair_.data() : nullptr,
                            w,
                            y,
                            parts,
                            x,
                            paired ? parts + analysis_->tree.row.size() : nullptr,
                            SweptColumns(columns),
                            static_cast<PetscCount>(Vectors()),
                            report_.data(),
                            Spins(analysis_->spins)};
}

template <class Number> PetscErrorCode DeviceFactors<Number>::Sweep(const LuSolution<Number> &solution, bool transpose,
                                                                    Sweeps sweeps, Stream stream)
{
  const LuAnalysis &A      = *analysis_;
  const PetscInt    small  = A.plan.Steps() > 0 ? A.plan.step_begin[SMALL_CLASSES] : 0;
  const FrontsView  fronts = Fronts();
  const SolveLists  lists{list_.data(),
                         small,
                         small_rows_,
                         forward_.data(),
                         backward_.data(),
                         static_cast<PetscInt>(forward_.size()),
                         static_cast<PetscInt>(backward_.size())};
  const auto        large = solution.columns == 1 ? SweepLargeFronts_CUDA<Number> : SweepLargeColumns_CUDA<Number>;

  PetscFunctionBegin;
  if (sweeps != Sweeps::Backward) {
    PetscCall(SweepSmallFronts_CUDA(fronts, lists, true, transpose, solution, stream));
    PetscCall((*large)(fronts, lists, true, transpose, solution, stream));
  }
  if (sweeps != Sweeps::Forward) {
    PetscCall((*large)(fronts, lists, false, transpose, solution, stream));
    PetscCall(SweepSmallFronts_CUDA(fronts, lists, false, transpose, solution, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode DeviceFactors<Number>::ApplyTo(const LuColumns &columns, const Scalar *b,
                                                                      PetscInt ldb, bool scale, Scalar *kept, Scalar *x,
                                                                      PetscInt ldx, bool transpose)
{
  const LuAnalysis &A      = *analysis_;
  const PetscInt    n      = A.rows;
  const PetscCount  stride = static_cast<PetscCount>(Vectors());
  Number *const w = vectors_.data(), *const y = w + n, *const unknowns = y + n;
  const bool               conjugate = transpose && A.plan.shape == Shape::Hermitian; // A^T is its conjugate
  const SweepOrder         in{n, (transpose ? column_order_ : row_order_).data(),
                      scale ? (transpose ? column_scale_ : row_scale_).data() : nullptr, conjugate,
                      largest_.size() > 0 ? largest_.data() : nullptr};
  const SweepOrder         out{n, (transpose ? row_order_ : column_order_).data(),
                       (transpose ? row_scale_ : column_scale_).data(), conjugate, in.largest};
  const LuSolution<Number> solution = Solution(columns.count);
  Stream                   stream;
  bool                     stuck;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  if (in.largest) PetscCall(MeasureRightSides_CUDA(in, columns, b, ldb, stream));
  PetscCall(BeginSolve_CUDA(in, columns, b, ldb, solution.columns, w, stride, stride - n, y, report_.data(), stream));
  PetscCall(PretendsStuck(&stuck));
  if (stuck) SparseGPUCallCUDA(cudaMemsetAsync(&report_.data()->stuck, 1, 1, static_cast<cudaStream_t>(stream)));
  PetscCall(Sweep(solution, transpose, Sweeps::Both, stream));
  PetscCall(GiveOut_CUDA(out, columns, static_cast<const Number *>(unknowns), stride, kept, x, ldx, report_.data(),
                         stuck_, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(A.plan.solve_flops * columns.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> double DeviceFactors<Number>::FactorBytes() const
{
  return static_cast<double>(analysis_->plan.values + analysis_->plan.work) * sizeof(Number);
}
template <class Number> double DeviceFactors<Number>::SweepBytes() const
{
  return static_cast<double>(PetscMax(Vectors() * sizeof(Number), vectors_.bytes()));
}

// for half_device.cu
template LuSolution<Scalar> DeviceFactors<Scalar>::Solution(PetscInt);
template PetscErrorCode     DeviceFactors<Scalar>::Sweep(const LuSolution<Scalar> &, bool, Sweeps, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template LuSolution<Single> DeviceFactors<Single>::Solution(PetscInt);
template PetscErrorCode     DeviceFactors<Single>::Sweep(const LuSolution<Single> &, bool, Sweeps, Stream);
#endif

std::unique_ptr<LuEngine> MakeLuEngine_CUDA(bool single)
{
  if (single && HAVE_SINGLE) return std::make_unique<DeviceFactors<Single>>();
  return std::make_unique<DeviceFactors<Scalar>>();
}

} // namespace sparsegpu::lu
