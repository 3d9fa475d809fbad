/// The engine on the device: factors, vectors and the matrix stay there; the host reads one report per factorization
/// and one per residual.
#include <algorithm>
#include <numeric>
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "mat/rows/transpose.hpp"
#include "pc/lu/krylov.hpp"
#include "pc/lu/system.hpp"
#include "pc/trisolve/poll.cuh"
#include "petsc/compat.hpp"

namespace sparsegpu
{

namespace
{
/// Host arrays of FrontsView that the tree does not have.
struct Families {
  std::vector<PetscInt> child_begin, child, owner, source_begin, source;

  explicit Families(const FrontTree &tree)
  {
    const PetscInt fronts = tree.Fronts();
    const auto     number = [&](PetscInt f, PetscInt a) { return tree.first[f] + tree.row_begin[f] + a; };
    child_begin.assign(static_cast<size_t>(fronts) + 1, 0);
    owner.resize(tree.row.size());
    source_begin.assign(static_cast<size_t>(tree.first.back()) + tree.row.size() + 1, 0);
    for (PetscInt f = 0; f < fronts; f++) {
      const PetscInt parent = tree.parent[f];
      std::fill(owner.begin() + tree.row_begin[f], owner.begin() + tree.row_begin[f + 1], f);
      if (parent < 0) continue;
      ++child_begin[parent + 1];
      for (PetscCount q = tree.row_begin[f]; q < tree.row_begin[f + 1]; q++)
        ++source_begin[number(parent, tree.relative[q]) + 1];
    }
    std::partial_sum(child_begin.begin(), child_begin.end(), child_begin.begin());
    std::partial_sum(source_begin.begin(), source_begin.end(), source_begin.begin());
    child.resize(child_begin.back());
    source.resize(source_begin.back());
    std::vector<PetscInt> next(child_begin.begin(), child_begin.end() - 1);
    std::vector<PetscInt> at(source_begin.begin(), source_begin.end() - 1);
    for (PetscInt f = 0; f < fronts; f++) {
      const PetscInt parent = tree.parent[f];
      if (parent < 0) continue;
      child[next[parent]++] = f;
      for (PetscCount q = tree.row_begin[f]; q < tree.row_begin[f + 1]; q++)
        source[at[number(parent, tree.relative[q])]++] = static_cast<PetscInt>(q);
    }
  }
};

/// What the analysis keeps on the host, too.
template <class T> PetscErrorCode TakeCopy(Array<T> *array, const std::vector<T> &entries)
{
  std::vector<T> copy;

  PetscFunctionBegin;
  PetscCallCXX(copy = entries);
  PetscCall(array->Take(std::move(copy), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class DeviceEngine : public LuEngine
{
public:
  ~DeviceEngine() override
  {
    (void)DeviceFreePinned(heard_);
    (void)DeviceFreePinned(stuck_);
  }
  PetscErrorCode Symbolic(const LuAnalysis &analysis) override;
  PetscErrorCode Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report) override;
  PetscErrorCode Apply(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, bool transpose) override;
  PetscErrorCode Residual(const Scalar *b, const Scalar *x, bool transpose, ResidualSize *size) override;
  PetscErrorCode Correct(Scalar *x, bool transpose) override;
  PetscErrorCode Undo(Scalar *x) override;
  PetscErrorCode Basis(PetscInt count, Scalar **v) override;
  PetscErrorCode KeptResidual(Scalar *v, bool scaled, bool transpose) override;
  PetscErrorCode Precondition(const Scalar *v, Scalar *z, bool scaled, bool transpose) override;
  PetscErrorCode Multiply(const Scalar *z, Scalar *v, bool scaled, bool transpose) override;
  PetscErrorCode Dots(PetscInt count, const Scalar *v, const Scalar *w, Scalar *result) override;
  PetscErrorCode Combine(PetscInt count, const Scalar *c, const Scalar *v, PetscReal beta, Scalar *y) override;
  PetscErrorCode AddTo(Scalar *x, const Scalar *d) override;
  PetscErrorCode Sample(const Scalar **b, Scalar **x) override;
  Space          Where() const override { return Space::Device; }
  PetscLogDouble Bytes() const override;

private:
  PetscErrorCode TakeTree();
  PetscErrorCode TakeLists();
  PetscErrorCode TakeMatrix();
  PetscErrorCode TakeTransposed();
  PetscErrorCode CheckMemory() const;
  PetscErrorCode Hear(Stream stream);
  PetscErrorCode CheckStuck();
  PetscErrorCode SystemOf(bool transpose, SystemView *system);
  PetscErrorCode ApplyTo(const Scalar *b, bool scale, const Scalar *before, Scalar *x, bool transpose);
  FrontsView     Fronts() const;
  size_t         Vectors() const { return static_cast<size_t>(3 * analysis_->rows) + analysis_->tree.row.size(); }

  const LuAnalysis *analysis_ = nullptr;
  // the fronts
  Array<PetscInt>   first_, parent_, row_, relative_, owner_, child_begin_, child_, source_begin_, source_;
  Array<PetscCount> row_begin_, lower_, upper_, update_;
  Array<int>        children_, pending_; ///< [fronts]
  // what is done with them
  Array<PetscInt>        list_; ///< [fronts] FrontPlan::step
  Array<SolveItem>       forward_, backward_;
  std::vector<LargeStep> large_;
  // the system
  Array<PetscInt>   i_, j_, transposed_i_, transposed_j_, transposed_source_, row_order_, column_order_;
  Array<PetscCount> place_, mirror_;
  Array<PetscReal>  row_scale_, column_scale_;
  Array<Scalar>     a_; ///< as it was factored; none without refinement
  bool              columns_measured_ = false;
  // the numbers
  Array<Scalar>       values_, work_;
  Array<PetscInt>     local_row_;
  Array<Scalar>       vectors_; ///< [rows] right-hand side; flags: [rows] y, [rows] x, [others] parts
  Array<Scalar>       residual_, before_, sample_; ///< [rows], [rows], [2 * rows]
  Array<Scalar>       basis_, dots_;               ///< as GMRES wants them, [LU_BASIS]
  Array<DeviceReport> report_;
  DeviceReport       *heard_ = nullptr; ///< pinned
  int                *stuck_ = nullptr; ///< pinned: a solve has given up, maybe one that nobody has waited for
};

PetscErrorCode DeviceEngine::TakeTree()
{
  const FrontTree          &tree = analysis_->tree;
  const FrontPlan          &plan = analysis_->plan;
  std::unique_ptr<Families> families;
  std::vector<int>          children;

  PetscFunctionBegin;
  PetscCallCXX(families = std::make_unique<Families>(tree));
  PetscCallCXX(children.resize(tree.Fronts()));
  for (PetscInt f = 0; f < tree.Fronts(); f++)
    children[f] = static_cast<int>(families->child_begin[f + 1] - families->child_begin[f]);
  PetscCall(TakeCopy(&first_, tree.first));
  PetscCall(TakeCopy(&parent_, tree.parent));
  PetscCall(TakeCopy(&row_begin_, tree.row_begin));
  PetscCall(TakeCopy(&row_, tree.row));
  PetscCall(TakeCopy(&relative_, tree.relative));
  PetscCall(TakeCopy(&lower_, plan.lower));
  PetscCall(TakeCopy(&upper_, plan.upper));
  PetscCall(TakeCopy(&update_, plan.update));
  PetscCall(owner_.Take(std::move(families->owner), Space::Device));
  PetscCall(child_begin_.Take(std::move(families->child_begin), Space::Device));
  PetscCall(child_.Take(std::move(families->child), Space::Device));
  PetscCall(source_begin_.Take(std::move(families->source_begin), Space::Device));
  PetscCall(source_.Take(std::move(families->source), Space::Device));
  PetscCall(children_.Take(std::move(children), Space::Device));
  PetscCall(pending_.Allocate(tree.Fronts(), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::TakeLists()
{
  const FrontTree       &tree = analysis_->tree;
  const FrontPlan       &plan = analysis_->plan;
  std::vector<SolveItem> forward, backward;

  PetscFunctionBegin;
  large_.clear();
  for (PetscInt s = SMALL_CLASSES; s < plan.Steps(); s++) {
    LargeStep step;
    for (PetscInt k = plan.step_begin[s]; k < plan.step_begin[s + 1]; k++) {
      const PetscInt f = plan.step[k], p = tree.Pivots(f), r = tree.Others(f);
      PetscCallCXX(step.front.push_back(f));
      PetscCallCXX(step.pivots.push_back(p));
      PetscCallCXX(step.others.push_back(r));
      const PetscInt own = (p + LU_TILE - 1) / LU_TILE, tiles = own + (r + LU_TILE - 1) / LU_TILE;
      for (PetscInt t = 0; t < tiles; t++) {
        PetscCallCXX(forward.push_back(SolveItem{f, t}));
        if (t < own) PetscCallCXX(backward.push_back(SolveItem{f, t}));
      }
    }
    step.count = static_cast<PetscInt>(step.front.size());
    PetscCallCXX(large_.push_back(std::move(step)));
  }
  std::reverse(backward.begin(), backward.end());
  PetscCall(TakeCopy(&list_, plan.step));
  PetscCall(forward_.Take(std::move(forward), Space::Device));
  PetscCall(backward_.Take(std::move(backward), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::TakeMatrix()
{
  const LuAnalysis &A = *analysis_;

  PetscFunctionBegin;
  PetscCall(TakeCopy(&i_, A.i));
  PetscCall(TakeCopy(&j_, A.j));
  PetscCall(TakeCopy(&place_, A.plan.place));
  PetscCall(TakeCopy(&mirror_, A.plan.mirror));
  PetscCall(TakeCopy(&row_order_, A.row_order));
  PetscCall(TakeCopy(&column_order_, A.column_order));
  PetscCall(TakeCopy(&row_scale_, A.row_scale));
  PetscCall(TakeCopy(&column_scale_, A.column_scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns of the matrix, for residuals of the transposed system.
PetscErrorCode DeviceEngine::TakeTransposed()
{
  const LuAnalysis     &A = *analysis_;
  const CsrView         pattern{A.rows, A.rows, static_cast<PetscInt>(A.j.size()), A.i.data(), A.j.data(), nullptr};
  std::vector<PetscInt> i, j, source;

  PetscFunctionBegin;
  PetscCall(TransposePattern(pattern, &i, &j, &source));
  PetscCall(transposed_i_.Take(std::move(i), Space::Device));
  PetscCall(transposed_j_.Take(std::move(j), Space::Device));
  PetscCall(transposed_source_.Take(std::move(source), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::CheckMemory() const
{
  const LuAnalysis &A       = *analysis_;
  const size_t      vectors = Vectors() + (A.refine ? 2 * static_cast<size_t>(A.rows) + A.j.size() : 0);
  const double      needed  = static_cast<double>(sizeof(Scalar)) *
                        (static_cast<double>(A.plan.values + A.plan.work) + static_cast<double>(vectors));
  double left;

  PetscFunctionBegin;
  PetscCall(DeviceMemoryLeft(&left));
  PetscCheck(needed <= left, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "The direct factorization will need %.4g bytes of the device's memory, of which %.4g are free (another "
             "-pc_factor_mat_ordering_type may need less, -sparsegpu_backend kokkos uses the host's)",
             needed, left);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Symbolic(const LuAnalysis &analysis)
{
  const size_t rows = static_cast<size_t>(analysis.rows), others = analysis.tree.row.size();

  PetscFunctionBegin;
  analysis_ = &analysis;
  PetscCall(basis_.Allocate(0, Space::Device));
  PetscCheck(2 * rows + others < static_cast<size_t>(PETSC_MAX_INT), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The fronts have %zu rows, more than PetscInt counts: configure PETSC with 64-bit indices", rows + others);
  PetscCall(TakeTree());
  PetscCall(TakeLists());
  PetscCall(TakeMatrix());
  PetscCall(local_row_.Allocate(rows, Space::Device));
  PetscCall(report_.Allocate(1, Space::Device));
  if (!heard_) PetscCall(DeviceAllocatePinned(sizeof(DeviceReport), reinterpret_cast<void **>(&heard_)));
  if (!stuck_) PetscCall(DeviceAllocatePinned(sizeof(int), reinterpret_cast<void **>(&stuck_)));
  *stuck_ = 0;
  PetscCall(CheckMemory());
  PetscFunctionReturn(PETSC_SUCCESS);
}

FrontsView DeviceEngine::Fronts() const
{
  return FrontsView{first_.data(), parent_.data(),       row_begin_.data(), row_.data(),    relative_.data(),
                    owner_.data(), lower_.data(),        upper_.data(),     update_.data(), child_begin_.data(),
                    child_.data(), source_begin_.data(), source_.data()};
}

/// Looks without waiting: an error of a solve that has given up is told by that call, or by the next.
PetscErrorCode DeviceEngine::CheckStuck()
{
  PetscFunctionBegin;
  if (!*static_cast<volatile int *>(stuck_)) PetscFunctionReturn(PETSC_SUCCESS);
  *stuck_ = 0;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU,
          "A direct factorization or solve made no progress in %lld polls (-mat_sparsegpu_lu_spins) and gave up",
          analysis_->spins);
}

/// Waits for the report.
PetscErrorCode DeviceEngine::Hear(Stream stream)
{
  PetscFunctionBegin;
  SparseGPUCallCUDA(cudaMemcpyAsync(heard_, report_.data(), sizeof(DeviceReport), cudaMemcpyDeviceToHost,
                                    static_cast<cudaStream_t>(stream)));
  PetscCall(DeviceSynchronize(stream));
  if (heard_->stuck) *stuck_ = 1;
  PetscCall(CheckStuck());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report)
{
  const LuAnalysis &A    = *analysis_;
  const FrontPlan  &plan = A.plan;
  Stream            stream;

  PetscFunctionBegin;
  PetscCall(CheckStuck());
  PetscCall(DeviceStream(&stream));
  const cudaStream_t s = static_cast<cudaStream_t>(stream);
  if (values_.size() != static_cast<size_t>(plan.values)) {
    PetscCall(values_.Allocate(static_cast<size_t>(plan.values), Space::Device));
    PetscCall(work_.Allocate(static_cast<size_t>(plan.work), Space::Device));
    PetscCall(vectors_.Allocate(Vectors(), Space::Device));
    PetscCall(residual_.Allocate(A.refine ? A.rows : 0, Space::Device));
    PetscCall(before_.Allocate(A.refine ? A.rows : 0, Space::Device));
    PetscCall(a_.Allocate(A.refine ? A.j.size() : 0, Space::Device));
  }
  const SystemView system{A.rows, i_.data(), j_.data(), nullptr, a};
  columns_measured_ = false;
  PetscCall(PetscLogGpuTimeBegin());
  if (A.refine && !A.j.empty())
    SparseGPUCallCUDA(cudaMemcpyAsync(a_.data(), a, a_.bytes(), cudaMemcpyDeviceToDevice, s));
  PetscCall(ClearReport_CUDA(report_.data(), stream));
  if (!A.matched && A.symmetric)
    PetscCall(ScaleByDiagonal_CUDA(system, row_scale_.data(), column_scale_.data(), stream));
  if (!A.matched && !A.symmetric) PetscCall(Equilibrate_CUDA(system, row_scale_.data(), column_scale_.data(), stream));
  PetscCall(MeasureSystem_CUDA(system, row_scale_.data(), column_scale_.data(), policy, report_.data(), stream));
  if (plan.values > 0) SparseGPUCallCUDA(cudaMemsetAsync(values_.data(), 0, values_.bytes(), s));
  PetscCall(PlaceValues_CUDA(system, row_scale_.data(), column_scale_.data(), place_.data(),
                             mirror_.size() ? mirror_.data() : nullptr, A.hermitian, values_.data(), stream));
  if (A.tree.Fronts() > 0)
    SparseGPUCallCUDA(
        cudaMemcpyAsync(pending_.data(), children_.data(), children_.bytes(), cudaMemcpyDeviceToDevice, s));
  const LuWorkspace work{values_.data(),  work_.data(),   local_row_.data(),
                         pending_.data(), report_.data(), Spins(A.spins)};
  for (PetscInt c = 0; c < SMALL_CLASSES && c < plan.Steps(); c++)
    PetscCall(SmallFronts_CUDA(Fronts(), SMALL_FRONTS[c], list_.data() + plan.step_begin[c],
                               plan.step_begin[c + 1] - plan.step_begin[c], static_cast<int>(c), work, stream));
  for (size_t k = 0; k < large_.size(); k++)
    if (large_[k].count > 0)
      PetscCall(LargeFronts_CUDA(Fronts(), plan, large_[k],
                                 list_.data() + plan.step_begin[SMALL_CLASSES + static_cast<PetscInt>(k)], work,
                                 stream));
  PetscCall(MeasureGrowth_CUDA(plan.values, values_.data(), report_.data(), stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(plan.flops));
  PetscCall(Hear(stream));
  report->perturbed = heard_->perturbed;
  report->first     = heard_->perturbed ? static_cast<PetscInt>(heard_->first) : -1;
  report->smallest  = A.rows > 0 ? RealOf(heard_->smallest) : 0;
  report->negative  = heard_->negative;
  report->finite    = !heard_->not_finite;
  report->growth    = RealOf(heard_->growth) / PetscMax(RealOf(heard_->largest), PetscReal(1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Without `scale`, b is scaled already.
PetscErrorCode DeviceEngine::ApplyTo(const Scalar *b, bool scale, const Scalar *before, Scalar *x, bool transpose)
{
  const LuAnalysis &A     = *analysis_;
  const PetscInt    n     = A.rows;
  const PetscInt    small = A.plan.Steps() > 0 ? A.plan.step_begin[SMALL_CLASSES] : 0;
  Scalar *const w = vectors_.data(), *const y = w + n, *const unknowns = y + n, *const parts = unknowns + n;
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(BeginSolve_CUDA(n, (transpose ? column_order_ : row_order_).data(),
                            scale ? (transpose ? column_scale_ : row_scale_).data() : nullptr, b, w,
                            static_cast<PetscCount>(vectors_.size()) - n, y, report_.data(), stream));
  PetscCall(LuSweeps_CUDA(
      Fronts(),
      SolveLists{list_.data(), small, forward_.data(), backward_.data(), static_cast<PetscInt>(forward_.size()),
                 static_cast<PetscInt>(backward_.size())},
      transpose, LuSolution{values_.data(), local_row_.data(), w, y, parts, unknowns, report_.data(), Spins(A.spins)},
      stream));
  PetscCall(GiveOut_CUDA(n, (transpose ? row_order_ : column_order_).data(),
                         (transpose ? row_scale_ : column_scale_).data(), unknowns, before, x, report_.data(), stuck_,
                         stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * static_cast<PetscLogDouble>(A.plan.values)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Apply(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                                   bool transpose)
{
  PetscFunctionBegin;
  PetscCall(CheckStuck());
  for (PetscInt c = 0; c < count; c++)
    PetscCall(ApplyTo(b + static_cast<size_t>(c) * ldb, true, nullptr, x + static_cast<size_t>(c) * ldx, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The matrix as it was factored, or its transpose, which is found when it is first asked for.
PetscErrorCode DeviceEngine::SystemOf(bool transpose, SystemView *system)
{
  PetscFunctionBegin;
  if (transpose && !transposed_i_.size()) PetscCall(TakeTransposed());
  *system = transpose ? SystemView{analysis_->rows, transposed_i_.data(), transposed_j_.data(),
                                   transposed_source_.data(), a_.data()}
                      : SystemView{analysis_->rows, i_.data(), j_.data(), nullptr, a_.data()};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Residual(const Scalar *b, const Scalar *x, bool transpose, ResidualSize *size)
{
  SystemView system;
  Stream     stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(SystemOf(transpose, &system));
  if (transpose && !columns_measured_) PetscCall(MeasureColumns_CUDA(system, report_.data(), stream));
  columns_measured_ = columns_measured_ || transpose;
  PetscCall(Residual_CUDA(system, b, x, residual_.data(), report_.data(), stream));
  PetscCall(Hear(stream));
  const DeviceReport &r = *heard_;
  *size                 = ResidualSize();
  if (!r.residual_not_finite)
    *size = SizeOf(RealOf(r.residual), RealOf(transpose ? r.column_norm : r.row_norm), RealOf(r.x), RealOf(r.b));
  if (r.b_not_finite) size->error = RealOf(~RealBits(0) >> 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Basis(PetscInt count, Scalar **v)
{
  const size_t entries = static_cast<size_t>(count) * static_cast<size_t>(analysis_->rows);

  PetscFunctionBegin;
  if (basis_.size() < entries) PetscCall(basis_.Allocate(entries, Space::Device));
  if (dots_.size() == 0) PetscCall(dots_.Allocate(LU_BASIS, Space::Device));
  *v = basis_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::KeptResidual(Scalar *v, bool scaled, bool transpose)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(Scale_CUDA(analysis_->rows, scaled ? (transpose ? column_scale_ : row_scale_).data() : nullptr,
                       residual_.data(), v, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Precondition(const Scalar *v, Scalar *z, bool scaled, bool transpose)
{
  PetscFunctionBegin;
  PetscCall(ApplyTo(v, !scaled, nullptr, z, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Multiply(const Scalar *z, Scalar *v, bool scaled, bool transpose)
{
  SystemView system;
  Stream     stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(SystemOf(transpose, &system));
  PetscCall(
      ScaledProduct_CUDA(system, scaled ? (transpose ? column_scale_ : row_scale_).data() : nullptr, z, v, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Dots(PetscInt count, const Scalar *v, const Scalar *w, Scalar *result)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(Dots_CUDA(analysis_->rows, count, v, w, dots_.data(), stream));
  PetscCall(DeviceCopyOut(result, dots_.data(), static_cast<size_t>(count) * sizeof(Scalar), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Combine(PetscInt count, const Scalar *c, const Scalar *v, PetscReal beta, Scalar *y)
{
  LuCoefficients coefficients;
  Stream         stream;

  PetscFunctionBegin;
  std::copy_n(c, count, coefficients.c);
  PetscCall(DeviceStream(&stream));
  PetscCall(Combine_CUDA(analysis_->rows, count, coefficients, v, beta, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::AddTo(Scalar *x, const Scalar *d)
{
  const Scalar one(1);
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyWithin(before_.data(), x, before_.bytes(), stream));
  PetscCall(Combine(1, &one, d, 1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Correct(Scalar *x, bool transpose)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  SparseGPUCallCUDA(
      cudaMemcpyAsync(before_.data(), x, before_.bytes(), cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)));
  PetscCall(ApplyTo(residual_.data(), true, x, x, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Undo(Scalar *x)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  SparseGPUCallCUDA(
      cudaMemcpyAsync(x, before_.data(), before_.bytes(), cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Sample(const Scalar **b, Scalar **x)
{
  const size_t n = static_cast<size_t>(analysis_->rows);
  Stream       stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  if (sample_.size() != 2 * n) PetscCall(sample_.Allocate(2 * n, Space::Device));
  PetscCall(Sample_CUDA(analysis_->rows, sample_.data(), stream));
  *b = sample_.data();
  *x = sample_.data() + n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble DeviceEngine::Bytes() const
{
  size_t bytes = 0;
  for (const auto *array :
       {&first_, &parent_, &row_, &relative_, &owner_, &child_begin_, &child_, &source_begin_, &source_, &list_, &i_,
        &j_, &transposed_i_, &transposed_j_, &transposed_source_, &row_order_, &column_order_, &local_row_})
    bytes += array->bytes();
  for (const auto *array : {&row_begin_, &lower_, &upper_, &update_, &place_, &mirror_}) bytes += array->bytes();
  for (const auto *array : {&a_, &residual_, &before_, &sample_, &basis_, &dots_}) bytes += array->bytes();
  bytes += children_.bytes() + pending_.bytes() + forward_.bytes() + backward_.bytes() + row_scale_.bytes() +
           column_scale_.bytes() + Vectors() * sizeof(Scalar) +
           static_cast<size_t>(analysis_->plan.values + analysis_->plan.work) * sizeof(Scalar);
  return static_cast<PetscLogDouble>(bytes);
}
} // namespace

std::unique_ptr<LuEngine> MakeLuEngine_CUDA()
{
  return std::make_unique<DeviceEngine>();
}

} // namespace sparsegpu
