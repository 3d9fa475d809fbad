/// The device engine's solves: the launches, and the memory that they take.
#include "device/cuda_check.hpp"
#include "device/limits.hpp"
#include "pc/lu/engine_device.hpp"
#include "pc/trisolve/poll.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

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
/// Of factors on the host, which each block reads through the bus, half as many, and so on.
template <class Number> PetscErrorCode DeviceFactors<Number>::Room(PetscInt *width)
{
  const double there = static_cast<double>(vectors_.bytes() + residual_.bytes() + before_.bytes());
  double       left;

  PetscFunctionBegin;
  *width = PetscMin(*width, LU_COLUMNS);
  if (vectors_.size() >= Vectors() * static_cast<size_t>(SweptColumns(*width)) &&
      residual_.size() >= Kept() * static_cast<size_t>(*width))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceMemoryLeft(&left));
  for (; *width > 1; *width = spill_.Entries() > 0 ? *width / 2 : 1) {
    const size_t sweeps = Vectors() * static_cast<size_t>(SweptColumns(*width)) * sizeof(Number);
    const size_t needed = sweeps + 2 * Kept() * static_cast<size_t>(*width) * sizeof(Scalar);
    if (static_cast<double>(needed) - there > left) continue;
    PetscCall(Reserve(*width));
    break;
  }
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
  const PetscInt    small  = A.plan.FirstLarge();
  const FrontsView  fronts = Stored();
  const bool        one    = solution.columns == 1;
  const auto       &items  = one ? single_ : columns_;
  const SolveLists  lists{list_.data(),
                         small,
                         small_rows_,
                         items.forward.data(),
                         items.backward.data(),
                         static_cast<PetscInt>(items.forward.size()),
                         static_cast<PetscInt>(items.backward.size())};
  const auto        large = one ? SweepLargeFronts_CUDA<Number> : SweepLargeColumns_CUDA<Number>;

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

template <class Number> double DeviceFactors<Number>::SweepBytes() const
{
  return static_cast<double>(PetscMax(Vectors() * sizeof(Number), vectors_.bytes()));
}

// for half_device.cu and numeric_device.cu
template LuSolution<Scalar> DeviceFactors<Scalar>::Solution(PetscInt);
template PetscErrorCode     DeviceFactors<Scalar>::Reserve(PetscInt);
template PetscErrorCode     DeviceFactors<Scalar>::Sweep(const LuSolution<Scalar> &, bool, Sweeps, Stream);
#if !defined(PETSC_USE_REAL_SINGLE)
template LuSolution<Single> DeviceFactors<Single>::Solution(PetscInt);
template PetscErrorCode     DeviceFactors<Single>::Reserve(PetscInt);
template PetscErrorCode     DeviceFactors<Single>::Sweep(const LuSolution<Single> &, bool, Sweeps, Stream);
#endif

std::unique_ptr<LuEngine> MakeLuEngine_CUDA(bool single)
{
  if (single && HAVE_SINGLE) return std::make_unique<DeviceFactors<Single>>();
  return std::make_unique<DeviceFactors<Scalar>>();
}

} // namespace sparsegpu::lu
