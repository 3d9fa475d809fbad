/// The engine on the device: factors, vectors and the matrix stay there; the host reads one report per factorization
/// and one per residual. Factors and what sweeps over them work on are of another type, Scalar or Single.
#pragma once

#include "device/buffer.hpp"
#include "device/buffered_copies.hpp"
#include "pc/lu/engine.hpp"
#include "pc/lu/system.hpp"

namespace sparsegpu::lu
{

/// SolveLists' items on the device.
struct SolveItemArrays {
  Array<SolveItem> forward, backward;
};

class DeviceEngine : public LuEngine
{
public:
  ~DeviceEngine() override
  {
    (void)DeviceFreePinned(heard_);
    (void)DeviceFreePinned(stuck_);
  }
  PetscErrorCode Symbolic(const LuAnalysis &analysis) override;
  PetscErrorCode Apply(const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx,
                       bool transpose) override;
  PetscErrorCode Residual(const LuColumns &columns, const Scalar *b, PetscInt ldb, const Scalar *x, PetscInt ldx,
                          bool transpose, ResidualSize *size) override;
  PetscErrorCode Correct(const LuColumns &columns, Scalar *x, PetscInt ldx, bool transpose) override;
  PetscErrorCode Undo(PetscInt column, Scalar *x) override;
  PetscErrorCode Basis(PetscInt count, Scalar **v) override;
  PetscErrorCode KeptResidual(Scalar *v, bool scaled, bool transpose) override;
  PetscErrorCode Precondition(const Scalar *v, Scalar *z, bool scaled, bool transpose) override;
  PetscErrorCode Multiply(const Scalar *z, Scalar *v, bool scaled, bool transpose) override;
  PetscErrorCode Dots(PetscInt count, const Scalar *v, const Scalar *w, Scalar *result) override;
  PetscErrorCode Combine(PetscInt count, const Scalar *c, const Scalar *v, PetscReal beta, Scalar *y) override;
  PetscErrorCode AddTo(Scalar *x, const Scalar *d) override;
  PetscErrorCode Sample(const Scalar **b, Scalar **product, Scalar **x) override;
  PetscErrorCode Values(std::vector<Scalar> *a) override;
  PetscErrorCode Scales(std::vector<PetscReal> *row, std::vector<PetscReal> *column) override;
  Space          Where() const override { return Space::Device; }
  PetscLogDouble Bytes() const override;
  PetscLogDouble SpilledBytes() const override
  {
    return static_cast<PetscLogDouble>(spill_.Entries()) * static_cast<PetscLogDouble>(NumberBytes());
  }

protected:
  /// x = A^-1 b. Without `scale`, b is scaled already. Unless `kept` is null, x goes there and is added to.
  virtual PetscErrorCode ApplyTo(const LuColumns &columns, const Scalar *b, PetscInt ldb, bool scale, Scalar *kept,
                                 Scalar *x, PetscInt ldx, bool transpose) = 0;
  /// Bytes of an entry of the factors, and of the sweeps' vectors for one column or for those that there is room for.
  virtual size_t NumberBytes() const = 0;
  virtual double SweepBytes() const  = 0;
  /// Of factors and updates on the device.
  double FactorBytes() const
  {
    return static_cast<double>(spill_.needed + analysis_->plan.work) * static_cast<double>(NumberBytes());
  }

  PetscErrorCode Hear(Stream stream);
  PetscErrorCode CheckStuck();
  FrontsView     Fronts() const;
  /// Entries of the sweeps' vectors, and of those of refinement, for one column.
  size_t Vectors() const
  {
    return (analysis_->paired ? 4 : 3) * static_cast<size_t>(analysis_->rows) + analysis_->tree.row.size();
  }
  size_t Kept() const { return analysis_->refine ? static_cast<size_t>(analysis_->rows) : 0; }

  const LuAnalysis *analysis_ = nullptr;
  // the fronts
  Array<PetscInt>   first_, parent_, row_, relative_, owner_, source_begin_, source_;
  Array<PetscCount> row_begin_, lower_, upper_, update_;
  Array<int>        children_, pending_; ///< [fronts]
  // what is done with them
  Array<PetscInt>        list_;             ///< [fronts] FrontPlan::step
  SolveItemArrays        single_, columns_; ///< of solves with one column, and with several
  Array<AssembleItem>    assemble_;         ///< of all large steps
  std::vector<LargeStep> large_;            ///< SpillPlan::parts
  SpillPlan              spill_;
  bool                   allocated_  = false; ///< what a factorization takes
  PetscInt               small_rows_ = 0;     ///< of the largest small front
  // the system
  Array<PetscInt>   i_, j_, transposed_i_, transposed_j_, transposed_source_, row_order_, column_order_;
  Array<PetscCount> place_;
  Array<PetscReal>  row_scale_, column_scale_;
  Array<Scalar>     a_; ///< as it was factored; none without refinement
  bool              columns_measured_ = false;
  // the numbers
  Array<PetscInt>     local_row_;
  Array<Scalar>       residual_, before_; ///< [rows x columns of a block]
  Array<Scalar>       sample_;            ///< [3 * rows]
  Array<Scalar>       basis_, dots_;      ///< as GMRES wants them, [LU_BASIS]
  Array<DeviceReport> report_;
  DeviceReport       *heard_ = nullptr; ///< pinned
  int                *stuck_ = nullptr; ///< pinned: a solve has given up, possibly one the host did not wait for

private:
  PetscErrorCode TakeTree();
  PetscErrorCode TakeLists();
  PetscErrorCode TakeItems(PetscInt rows, SolveItemArrays *items);
  PetscErrorCode MakeSteps();
  PetscErrorCode TakeMatrix();
  PetscErrorCode TakeTransposed();
  PetscErrorCode DivideMemory();
  PetscErrorCode SystemOf(bool transpose, SystemView *system);
};

/// With factors of type Number, Scalar or Single. A right-hand side is brought into the range of Single by a power of
/// two.
template <class Number> class DeviceFactors final : public DeviceEngine
{
public:
  PetscErrorCode Numeric(const Scalar *a, const LuPolicy &policy, LuReport *report) override;
  PetscErrorCode Room(PetscInt *width) override;
  PetscErrorCode ApplyHalf(const LuHalf &half, const LuColumns &columns, const Scalar *b, PetscInt ldb, Scalar *x,
                           PetscInt ldx) override;
  PetscErrorCode Pivots(std::vector<Scalar> *met, std::vector<Scalar> *used) override;
  PetscErrorCode PivotRows(std::vector<PetscInt> *row) override
  {
    PetscFunctionBegin;
    PetscCallCXX(row->resize(local_row_.size()));
    if (!row->empty()) PetscCall(local_row_.ToHost(row->data()));
    RowsOfFronts(analysis_->tree, row);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Pairs(std::vector<PairCode> *pair) override
  {
    PetscFunctionBegin;
    PetscCallCXX(pair->resize(pair_.size()));
    if (!pair->empty()) PetscCall(pair_.ToHost(pair->data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Apart(Scalar *block) override;

protected:
  PetscErrorCode ApplyTo(const LuColumns &columns, const Scalar *b, PetscInt ldb, bool scale, Scalar *kept, Scalar *x,
                         PetscInt ldx, bool transpose) override;
  size_t         NumberBytes() const override { return sizeof(Number); }
  double         SweepBytes() const override;

private:
  PetscErrorCode Allocate();
  PetscErrorCode Reserve(PetscInt columns);
  PetscErrorCode Prepare(const SystemView &system, const LuPolicy &policy, Stream stream);
  PetscErrorCode Fill(const SystemView &system, const FactorPart<Number> &part, Stream stream);
  PetscErrorCode Measure(const FactorPart<Number> &part, Stream stream);
  PetscErrorCode FactorLarge(const LargeStep &step, Number *values, Stream stream);
  PetscErrorCode FactorSpilled(const SystemView &system, const LargeStep &step, Stream stream);
  PetscErrorCode Factor(const SystemView &system, Stream stream);
  /// Of the factors on the device: before those on the host, and after.
  FactorPart<Number> Before() { return FactorPart<Number>{0, spill_.begin, values_.data()}; }
  FactorPart<Number> After()
  {
    return FactorPart<Number>{spill_.end, analysis_->plan.values, Moved(values_.data(), -spill_.Entries())};
  }
  /// p + entries, which may be outside of what p points to.
  static Number *Moved(Number *p, PetscCount entries)
  {
    return reinterpret_cast<Number *>(reinterpret_cast<uintptr_t>(p) +
                                      static_cast<uintptr_t>(entries) * sizeof(Number));
  }
  LuWorkspace<Number> Workspace(Number *values);
  PetscErrorCode      FindStored();
  FrontsView          Stored() const;
  PetscErrorCode      TakeRoots();
  LuSolution<Number>  Solution(PetscInt columns);
  PetscErrorCode      Sweep(const LuSolution<Number> &solution, bool transpose, Sweeps sweeps, Stream stream);

  Array<Number>     values_, work_;               ///< FrontPlan; of the values those that are not on the host
  BufferedCopies    spilled_;                     ///< the others
  Array<PetscCount> stored_lower_, stored_upper_; ///< [fronts], if some are: from values_ to where each front is
  Array<Number>     apart_;                       ///< [pivots x pivots of FrontTree::apart]
  Array<Number>     met_;                         ///< LuWorkspace::met
  Array<PairCode>   pair_;                        ///< LuWorkspace::pair
  Array<Number>     vectors_; ///< a column: [rows] right-hand side; flags: [rows] y, [rows] x, [others] parts and, with
                              ///< pairs, [rows] x in the order and the pairs of the pivots
  Array<PetscReal> root_; ///< [2 * rows] roots of pivots in the order of elimination, their inverses; empty: not known
  Array<RealBits>  largest_; ///< [LU_COLUMNS] of right-hand sides; empty: they are in range
};

} // namespace sparsegpu::lu
