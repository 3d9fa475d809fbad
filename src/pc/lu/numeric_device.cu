/// The device engine's factorization: the launches, and the report that the host reads.
#include "device/cuda_check.hpp"
#include "pc/lu/engine_device.hpp"
#include "pc/trisolve/poll.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

/// All that is kept from one factorization to the next.
template <class Number> PetscErrorCode DeviceFactors<Number>::Allocate()
{
  const LuAnalysis &A     = *analysis_;
  const FrontPlan  &plan  = A.plan;
  const size_t      apart = A.tree.apart >= 0 ? static_cast<size_t>(A.tree.Pivots(A.tree.apart)) : 0;

  PetscFunctionBegin;
  if (allocated_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(values_.Allocate(static_cast<size_t>(plan.values - spill_.Entries()), Space::Device));
  PetscCall(work_.Allocate(static_cast<size_t>(plan.work), Space::Device));
  PetscCall(met_.Allocate(plan.Half() ? static_cast<size_t>(A.rows) : 0, Space::Device));
  PetscCall(pair_.Allocate(A.paired ? static_cast<size_t>(A.rows) : 0, Space::Device));
  PetscCall(apart_.Allocate(apart * apart, Space::Device));
  PetscCall(Reserve(1));
  PetscCall(a_.Allocate(A.refine ? A.j.size() : 0, Space::Device));
  if (sizeof(Number) < sizeof(Scalar)) PetscCall(largest_.Allocate(LU_COLUMNS, Space::Device));
  if (spill_.Entries() > 0) {
    PetscCall(spilled_.Allocate(static_cast<size_t>(spill_.Entries()) * sizeof(Number),
                                static_cast<size_t>(spill_.buffer) * sizeof(Number), spill_.buffers));
    PetscCall(FindStored());
  }
  allocated_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where solves find the fronts: the host's memory has an address on the device, too.
template <class Number> PetscErrorCode DeviceFactors<Number>::FindStored()
{
  const FrontPlan        &plan  = analysis_->plan;
  const Number *const     host  = reinterpret_cast<const Number *>(spilled_.host());
  const intptr_t          bytes = reinterpret_cast<intptr_t>(host) - reinterpret_cast<intptr_t>(values_.data());
  const PetscCount        there = bytes / static_cast<intptr_t>(sizeof(Number)) - spill_.begin;
  std::vector<PetscCount> lower, upper;

  PetscFunctionBegin;
  PetscCheck(bytes % static_cast<intptr_t>(sizeof(Number)) == 0, PETSC_COMM_SELF, PETSC_ERR_GPU,
             "Pinned memory at %p is not aligned as the device's", static_cast<void *>(spilled_.host()));
  PetscCallCXX(lower = plan.lower);
  PetscCallCXX(upper = plan.upper);
  for (size_t f = 0; f < lower.size(); f++) {
    const PetscCount shift = spill_.Has(lower[f]) ? there : lower[f] >= spill_.end ? -spill_.Entries() : 0;
    lower[f] += shift;
    upper[f] += shift;
  }
  PetscCall(stored_lower_.Take(std::move(lower), Space::Device));
  PetscCall(stored_upper_.Take(std::move(upper), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Fronts for those who read all factors from values_ on.
template <class Number> FrontsView DeviceFactors<Number>::Stored() const
{
  FrontsView fronts = Fronts();
  if (stored_lower_.size() > 0) {
    fronts.lower = stored_lower_.data();
    fronts.upper = stored_upper_.data();
  }
  return fronts;
}

/// Scales and thresholds.
template <class Number>
PetscErrorCode DeviceFactors<Number>::Prepare(const SystemView &system, const LuPolicy &policy, Stream stream)
{
  const LuAnalysis &A = *analysis_;

  PetscFunctionBegin;
  PetscCall(ClearReport_CUDA(report_.data(), stream));
  if (!A.matched && A.symmetric)
    PetscCall(ScaleByDiagonal_CUDA(system, row_scale_.data(), column_scale_.data(), stream));
  if (!A.matched && !A.symmetric) PetscCall(Equilibrate_CUDA(system, row_scale_.data(), column_scale_.data(), stream));
  PetscCall(MeasureSystem_CUDA(system, row_scale_.data(), column_scale_.data(), policy, report_.data(), stream));
  if (A.tree.Fronts() > 0)
    SparseGPUCallCUDA(cudaMemcpyAsync(pending_.data(), children_.data(), children_.bytes(), cudaMemcpyDeviceToDevice,
                                      static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The matrix's entries in fronts.
template <class Number>
PetscErrorCode DeviceFactors<Number>::Fill(const SystemView &system, const FactorPart<Number> &part, Stream stream)
{
  const size_t bytes = static_cast<size_t>(part.end - part.begin) * sizeof(Number);

  PetscFunctionBegin;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  SparseGPUCallCUDA(cudaMemsetAsync(Moved(part.values, part.begin), 0, bytes, static_cast<cudaStream_t>(stream)));
  PetscCall(PlaceValues_CUDA(system, row_scale_.data(), column_scale_.data(), place_.data(),
                             analysis_->plan.shape == Shape::Hermitian, part, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> PetscErrorCode DeviceFactors<Number>::Measure(const FactorPart<Number> &part, Stream stream)
{
  const LuAnalysis &A = *analysis_;

  PetscFunctionBegin;
  if (A.plan.Half())
    PetscCall(MeasureHalfGrowth_CUDA(Fronts(), A.tree.Fronts(), A.rows, part, report_.data(), stream));
  else
    PetscCall(MeasureGrowth_CUDA(part, report_.data(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number> LuWorkspace<Number> DeviceFactors<Number>::Workspace(Number *values)
{
  return LuWorkspace<Number>{values,
                             work_.data(),
                             local_row_.data(),
                             pending_.data(),
                             met_.size() > 0 ? met_.data() : nullptr,
                             analysis_->paired ? pair_.data() : nullptr,
                             report_.data(),
                             Spins(analysis_->spins)};
}

/// values: where entry 0 of the factors would be.
template <class Number>
PetscErrorCode DeviceFactors<Number>::FactorLarge(const LargeStep &step, Number *values, Stream stream)
{
  const FrontTree          &tree  = analysis_->tree;
  const LuWorkspace<Number> work  = Workspace(values);
  const PetscInt *const     list  = list_.data() + step.begin;
  const AssembleItem *const items = assemble_.data() + step.items_begin;

  PetscFunctionBegin;
  if (step.front[0] == tree.apart) { // alone in its step
    PetscCall(AssembleFronts_CUDA(Fronts(), items, step.items, work, stream));
    PetscCall(TakeApart_CUDA(Fronts(), tree.apart, tree.Pivots(tree.apart), work, apart_.data(), stream));
  } else {
    PetscCall(LargeFronts_CUDA(Fronts(), analysis_->plan, step, list, items, work, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In a buffer, from which the factors go to the host.
template <class Number>
PetscErrorCode DeviceFactors<Number>::FactorSpilled(const SystemView &system, const LargeStep &step, Stream stream)
{
  const FrontPlan &plan  = analysis_->plan;
  const PetscInt   last  = step.front.back();
  const PetscCount begin = plan.lower[step.front[0]];
  const PetscCount end   = plan.lower[last] + plan.FactorEntries(step.pivots.back(), step.others.back());
  void            *buffer;

  PetscFunctionBegin;
  PetscCall(spilled_.Next(stream, &buffer));
  const FactorPart<Number> part{begin, end, Moved(static_cast<Number *>(buffer), -begin)};
  PetscCall(Fill(system, part, stream));
  PetscCall(FactorLarge(step, part.values, stream));
  PetscCall(Measure(part, stream));
  PetscCall(spilled_.Copy(stream, static_cast<size_t>(begin - spill_.begin) * sizeof(Number),
                          static_cast<size_t>(end - begin) * sizeof(Number)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All fronts, in the steps of the plan.
template <class Number> PetscErrorCode DeviceFactors<Number>::Factor(const SystemView &system, Stream stream)
{
  const FrontPlan          &plan = analysis_->plan;
  const LuWorkspace<Number> work = Workspace(values_.data());

  PetscFunctionBegin;
  for (const FactorPart<Number> &part : {Before(), After()}) PetscCall(Fill(system, part, stream));
  for (PetscInt c = 0; c < SMALL_CLASSES && c < plan.Steps(); c++)
    PetscCall(SmallFronts_CUDA(Fronts(), SMALL_FRONTS[c], list_.data() + plan.step_begin[c],
                               plan.step_begin[c + 1] - plan.step_begin[c], static_cast<int>(c), work, stream));
  for (const LargeStep &step : large_) {
    if (spill_.Has(plan.lower[step.front[0]]))
      PetscCall(FactorSpilled(system, step, stream));
    else
      PetscCall(FactorLarge(step, After().values, stream));
  }
  for (const FactorPart<Number> &part : {Before(), After()}) PetscCall(Measure(part, stream));
  if (spill_.Entries() > 0) PetscCall(spilled_.Join(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number>
PetscErrorCode DeviceFactors<Number>::Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report)
{
  const LuAnalysis &A = *analysis_;
  const SystemView  system{A.rows, i_.data(), j_.data(), nullptr, a};
  Stream            stream;

  PetscFunctionBegin;
  PetscCall(CheckStuck());
  PetscCall(DeviceStream(&stream));
  PetscCall(Allocate());
  columns_measured_ = false;
  PetscCall(root_.Allocate(0, Space::Device));
  PetscCall(PetscLogGpuTimeBegin());
  if (A.refine && !A.j.empty() && a != a_.data())
    SparseGPUCallCUDA(
        cudaMemcpyAsync(a_.data(), a, a_.bytes(), cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)));
  PetscCall(Prepare(system, policy, stream));
  PetscCall(Factor(system, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(A.plan.flops));
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

template PetscErrorCode DeviceFactors<Scalar>::Numeric(const Scalar *, const LuPolicy &, LuReport *);
template FrontsView     DeviceFactors<Scalar>::Stored() const;
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode DeviceFactors<Single>::Numeric(const Scalar *, const LuPolicy &, LuReport *);
template FrontsView     DeviceFactors<Single>::Stored() const;
#endif

} // namespace sparsegpu::lu
