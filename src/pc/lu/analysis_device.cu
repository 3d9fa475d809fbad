/// The device engine's analysis: the tree, the lists of tasks and the matrix's pattern are uploaded, and the memory
/// that the numbers will need is compared with what is free.
#include <algorithm>
#include <numeric>
#include "device/cublas.hpp"
#include "pc/lu/engine_device.hpp"
#include "pc/lu/swept_rows.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::lu
{

namespace
{
/// Host arrays of FrontsView that the tree does not have.
struct Families {
  std::vector<int>      children; ///< how many a front has
  std::vector<PetscInt> owner, source_begin, source;

  explicit Families(const FrontTree &tree)
  {
    const PetscInt fronts = tree.Fronts();
    const auto     number = [&](PetscInt f, PetscInt a) { return tree.first[f] + tree.row_begin[f] + a; };
    children.assign(fronts, 0);
    owner.resize(tree.row.size());
    source_begin.assign(static_cast<size_t>(tree.first.back()) + tree.row.size() + 1, 0);
    for (PetscInt f = 0; f < fronts; f++) {
      const PetscInt parent = tree.parent[f];
      std::fill(owner.begin() + tree.row_begin[f], owner.begin() + tree.row_begin[f + 1], f);
      if (parent < 0) continue;
      ++children[parent];
      for (PetscCount q = tree.row_begin[f]; q < tree.row_begin[f + 1]; q++)
        ++source_begin[number(parent, tree.relative[q]) + 1];
    }
    std::partial_sum(source_begin.begin(), source_begin.end(), source_begin.begin());
    source.resize(source_begin.back());
    std::vector<PetscInt> at(source_begin.begin(), source_begin.end() - 1);
    for (PetscInt f = 0; f < fronts; f++) {
      const PetscInt parent = tree.parent[f];
      if (parent < 0) continue;
      for (PetscCount q = tree.row_begin[f]; q < tree.row_begin[f + 1]; q++)
        source[at[number(parent, tree.relative[q])]++] = static_cast<PetscInt>(q);
    }
  }
};

/// Uploads a copy of an array that the analysis keeps on the host.
template <class T> PetscErrorCode TakeCopy(Array<T> *array, const std::vector<T> &entries)
{
  std::vector<T> copy;

  PetscFunctionBegin;
  PetscCallCXX(copy = entries);
  PetscCall(array->Take(std::move(copy), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a front has a product so large that its factors go in short parts, see large_updates.cu and
/// subtract_pivots.cu.
bool HasShortProducts(const FrontTree &tree, const FrontPlan &plan)
{
  for (size_t k = static_cast<size_t>(plan.FirstLarge()); k < plan.step.size(); k++) {
    const PetscInt p = tree.Pivots(plan.step[k]), r = tree.Others(plan.step[k]), rest = PetscMax(p - WIDE, 0);
    if (CublasServesByParts(r, r)) return true;
    if (!plan.Half() && (CublasServesByParts(rest + r, rest) || CublasServesByParts(rest, r))) return true;
  }
  return false;
}

/// Blocks that assemble the fronts of a step: enough to fill a GPU, and none with many more entries than the others.
void AddItems(const LargeStep &step, std::vector<AssembleItem> *items)
{
  constexpr double MOST = 8192, BLOCKS = 2048; // entries of a block; blocks, if they have fewer
  double           all = 0;
  for (PetscInt k = 0; k < step.count; k++) {
    const double rows = step.pivots[k] + step.others[k];
    all += rows * rows;
  }
  const double entries = std::min(MOST, all / BLOCKS);
  for (PetscInt k = 0; k < step.count; k++) {
    const PetscInt rows    = step.pivots[k] + step.others[k];
    const PetscInt columns = std::max(static_cast<PetscInt>(1), static_cast<PetscInt>(entries / rows));
    for (PetscInt j = 0; j < rows; j += columns)
      items->push_back(AssembleItem{step.front[k], j, std::min(rows, j + columns)});
  }
}

/// Of AddItems() for all steps: an item has a column at least.
double MostItemBytes(const FrontTree &tree, const FrontPlan &plan)
{
  double columns = 0;
  for (size_t k = static_cast<size_t>(plan.FirstLarge()); k < plan.step.size(); k++)
    columns += tree.Pivots(plan.step[k]) + tree.Others(plan.step[k]);
  return columns * static_cast<double>(sizeof(AssembleItem));
}

} // namespace

PetscErrorCode DeviceEngine::TakeTree()
{
  const FrontTree          &tree = analysis_->tree;
  const FrontPlan          &plan = analysis_->plan;
  std::unique_ptr<Families> families;

  PetscFunctionBegin;
  PetscCallCXX(families = std::make_unique<Families>(tree));
  PetscCall(TakeCopy(&first_, tree.first));
  PetscCall(TakeCopy(&parent_, tree.parent));
  PetscCall(TakeCopy(&row_begin_, tree.row_begin));
  PetscCall(TakeCopy(&row_, tree.row));
  PetscCall(TakeCopy(&relative_, tree.relative));
  PetscCall(TakeCopy(&lower_, plan.lower));
  PetscCall(TakeCopy(&upper_, plan.upper));
  PetscCall(TakeCopy(&update_, plan.update));
  PetscCall(owner_.Take(std::move(families->owner), Space::Device));
  PetscCall(source_begin_.Take(std::move(families->source_begin), Space::Device));
  PetscCall(source_.Take(std::move(families->source), Space::Device));
  PetscCall(children_.Take(std::move(families->children), Space::Device));
  PetscCall(pending_.Allocate(tree.Fronts(), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the sweeps visit of large fronts, so many rows at a time: of the fronts of a step first the pivots, which their
/// others wait for.
PetscErrorCode DeviceEngine::TakeItems(PetscInt rows, SolveItemArrays *items)
{
  const FrontTree       &tree = analysis_->tree;
  const FrontPlan       &plan = analysis_->plan;
  std::vector<SolveItem> forward, backward;
  const auto             parts = [&](PetscInt n) { return (n + rows - 1) / rows; };

  PetscFunctionBegin;
  for (PetscInt s = SMALL_CLASSES; s < plan.Steps(); s++) {
    for (PetscInt k = plan.step_begin[s]; k < plan.step_begin[s + 1]; k++) {
      const PetscInt f = plan.step[k], own = parts(tree.Pivots(f));
      for (PetscInt t = 0; t < own; t++) {
        PetscCallCXX(forward.push_back(SolveItem{f, t}));
        PetscCallCXX(backward.push_back(SolveItem{f, t}));
      }
    }
    for (PetscInt k = plan.step_begin[s]; k < plan.step_begin[s + 1]; k++) {
      const PetscInt f = plan.step[k], own = parts(tree.Pivots(f)), others = parts(tree.Others(f));
      for (PetscInt t = own == 1 ? TAKEN_ALONG / rows : 0; t < others; t++)
        PetscCallCXX(forward.push_back(SolveItem{f, own + t}));
    }
  }
  std::reverse(backward.begin(), backward.end());
  PetscCall(items->forward.Take(std::move(forward), Space::Device));
  PetscCall(items->backward.Take(std::move(backward), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::TakeLists()
{
  const FrontTree &tree = analysis_->tree;
  const FrontPlan &plan = analysis_->plan;

  PetscFunctionBegin;
  small_rows_ = 0;
  for (PetscInt k = 0; k < plan.FirstLarge(); k++)
    small_rows_ = PetscMax(small_rows_, tree.Pivots(plan.step[k]) + tree.Others(plan.step[k]));
  PetscCall(TakeCopy(&list_, plan.step));
  PetscCall(TakeItems(SweptRows(NumberBytes()), &single_));
  PetscCall(TakeItems(LU_TILE, &columns_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::TakeMatrix()
{
  const LuAnalysis &A = *analysis_;

  PetscFunctionBegin;
  PetscCall(TakeCopy(&i_, A.i));
  PetscCall(TakeCopy(&j_, A.j));
  PetscCall(TakeCopy(&place_, A.plan.place));
  PetscCall(TakeCopy(&row_order_, A.row_order));
  PetscCall(TakeCopy(&column_order_, A.column_order));
  PetscCall(TakeCopy(&row_scale_, A.row_scale));
  PetscCall(TakeCopy(&column_scale_, A.column_scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// large_, of the parts of spill_.
PetscErrorCode DeviceEngine::MakeSteps()
{
  const FrontTree          &tree = analysis_->tree;
  const FrontPlan          &plan = analysis_->plan;
  std::vector<AssembleItem> items;

  PetscFunctionBegin;
  large_.clear();
  for (size_t part = 0; part + 1 < spill_.parts.size(); part++) {
    LargeStep step;
    step.begin = spill_.parts[part];
    step.count = spill_.parts[part + 1] - step.begin;
    for (PetscInt k = step.begin; k < step.begin + step.count; k++) {
      PetscCallCXX(step.front.push_back(plan.step[k]));
      PetscCallCXX(step.pivots.push_back(tree.Pivots(plan.step[k])));
      PetscCallCXX(step.others.push_back(tree.Others(plan.step[k])));
    }
    step.items_begin = static_cast<PetscInt>(items.size());
    PetscCallCXX(AddItems(step, &items));
    step.items = static_cast<PetscInt>(items.size()) - step.items_begin;
    PetscCallCXX(large_.push_back(std::move(step)));
  }
  PetscCall(assemble_.Take(std::move(items), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What of the factors lies on the device, and what on the host.
PetscErrorCode DeviceEngine::DivideMemory()
{
  constexpr double  OTHERS  = 1.0 / 16; // of what is free: for the rest of the program, where factors may go elsewhere
  const LuAnalysis &A       = *analysis_;
  const size_t      vectors = 2 * Kept() + (A.refine ? A.j.size() : 0);
  const double      number = static_cast<double>(NumberBytes()), updates = static_cast<double>(A.plan.work) * number;
  const double      fixed =
      SweepBytes() + static_cast<double>(vectors * sizeof(Scalar)) + updates + MostItemBytes(A.tree, A.plan);
  double left;
  bool   blas;

  PetscFunctionBegin;
  // cuBLAS takes the memory that it needs
  if (A.plan.widest > MOST_OTHERS || (!A.plan.Half() && A.plan.HasLarge())) {
    PetscCall(CublasFound(&blas, true));
    if (blas && NumberBytes() == sizeof(float) && HasShortProducts(A.tree, A.plan)) PetscCall(CublasTakeParts(&blas));
  }
  PetscCall(DeviceMemoryLeft(&left));
  const bool       fits   = fixed + static_cast<double>(A.plan.values) * number <= left;
  const double     spared = fits || A.spill == Spill::Never ? 0 : OTHERS * left;
  const PetscCount room   = static_cast<PetscCount>((left - spared - fixed) / number);
  PetscCall(PlanSpill(A.tree, A.plan, A.spill, room, &spill_));
  PetscCall(MakeSteps());
  PetscCheck(
      spill_.needed <= room, PETSC_COMM_SELF, PETSC_ERR_MEM,
      "The direct factorization will need %.4g bytes of the device's memory%s, of which %.4g are free (%sanother "
      "-pc_factor_mat_ordering_type may need less, -sparsegpu_backend kokkos uses the host's)",
      fixed + static_cast<double>(spill_.needed) * number,
      A.spill == Spill::Never ? "" : " beside the factors that the host's keeps", left - spared,
      A.spill == Spill::Never ? "-mat_sparsegpu_lu_spill auto keeps factors in the host's, " : "");
  if (spill_.Entries() > 0)
    PetscCall(PetscInfo(
        nullptr,
        "%g of %g MB of the factors will lie in the host's memory, computed in %" PetscInt_FMT " buffers of %g MB\n",
        static_cast<double>(spill_.Entries()) * number / 1e6, static_cast<double>(A.plan.values) * number / 1e6,
        spill_.buffers, static_cast<double>(spill_.buffer) * number / 1e6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceEngine::Symbolic(const LuAnalysis &analysis)
{
  const size_t rows = static_cast<size_t>(analysis.rows), others = analysis.tree.row.size();

  PetscFunctionBegin;
  analysis_  = &analysis;
  allocated_ = false;
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
  PetscCall(DivideMemory());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble DeviceEngine::Bytes() const
{
  size_t bytes = 0;
  for (const auto *array :
       {&first_, &parent_, &row_, &relative_, &owner_, &source_begin_, &source_, &list_, &i_, &j_, &transposed_i_,
        &transposed_j_, &transposed_source_, &row_order_, &column_order_, &local_row_})
    bytes += array->bytes();
  for (const auto *array : {&row_begin_, &lower_, &upper_, &update_, &place_}) bytes += array->bytes();
  for (const auto *array : {&a_, &residual_, &before_, &sample_, &basis_, &dots_}) bytes += array->bytes();
  for (const SolveItemArrays *items : {&single_, &columns_}) bytes += items->forward.bytes() + items->backward.bytes();
  bytes += children_.bytes() + pending_.bytes() + assemble_.bytes() + row_scale_.bytes() + column_scale_.bytes();
  return static_cast<PetscLogDouble>(bytes) + FactorBytes() + SweepBytes() + SpilledBytes();
}

} // namespace sparsegpu::lu
