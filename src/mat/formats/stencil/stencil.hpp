/// Rows that repeat: a matrix whose rows, seen from the diagonal, are few different ones (a stencil of constant
/// coefficients: one row inside, one for each side, edge and corner) is one byte per row and a table of the
/// different rows. Entry k of row r is value[e] at column r + offset[e], e = begin[row_class[r]] + k. A row's entries
/// are summed one after the other, in CSR's order. The idea of code books for row patterns: Willcock & Lumsdaine, ICS
/// 2006.
#pragma once

#include <optional>
#include "mat/formats/plan.hpp"
#include "mat/formats/target.hpp"

namespace sparsegpu::formats
{

struct CsrLayout;
struct StencilLines;
struct RowTable;

struct StencilLayout {
  static constexpr PetscInt CLASSES = 256;  ///< at most: one byte each
  static constexpr PetscInt ENTRIES = 8192; ///< in the table, at most: what stays in a multiprocessor's L1 cache

  PetscInt             rows, cols;
  const unsigned char *row_class; ///< [rows]
  const PetscInt      *begin;     ///< [classes + 1] first entry of each class
  const PetscInt      *offset;    ///< [begin[classes]] column - row
  const Scalar        *value;     ///< [begin[classes]]
  PetscInt             longest;   ///< entries of a row
  PetscInt             stride;    ///< rows to the next row with mostly the same columns, FindStride(); 0: none
  const StencilLines  *lines;     ///< on the host: how a device walks the rows of a large grid; null: otherwise
};
/// Rows from which on a device with so many multiprocessors has work for all of its threads in walks.
constexpr PetscInt StencilRowsToWalk(PetscInt multiprocessors)
{
  return multiprocessors * 3 * 1536;
}

/// z = A x + y; y null or z allowed.
PetscErrorCode StencilMult_Kokkos(const StencilLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode StencilMult_CUDA(const StencilLayout &A, const Scalar *x, const ProductTarget &to, Stream stream,
                                const comm::DeviceExchange *exchange = nullptr);
/// Format::MultDots().
PetscErrorCode StencilMultDots_CUDA(const StencilLayout &A, const ProductDots &dots, Stream stream);
/// Format::MultDense().
PetscErrorCode StencilMultDense_Kokkos(const StencilLayout &A, const DenseColumns &d);
PetscErrorCode StencilMultDense_CUDA(const StencilLayout &A, const DenseColumns &d, Stream stream);

/// The different rows of A, numbered by their first; *few is false if they are more than the layout takes. O(nonzeros).
struct RowClasses {
  std::vector<PetscInt>      first;     ///< [classes] first row of each
  std::vector<PetscInt>      begin;     ///< [classes + 1] first entry of each class, of these rows alone
  std::vector<unsigned char> row_class; ///< [rows]
  Array<unsigned char>       on_device; ///< the same, instead, where A.device is there
};
PetscErrorCode FindRowClasses(const CsrView &A, RowClasses *classes, bool *few);
/// The same from A.device; *collide: different rows have one hash, nothing was found. Waits for the device.
PetscErrorCode FindRowClasses_CUDA(const CsrView &A, RowClasses *classes, bool *few, bool *collide);
/// The entries of these rows of A.device, as StencilLayout has them, on the device. Waits for it.
PetscErrorCode RowClassEntries_CUDA(const CsrView &A, const RowClasses &classes, PetscInt *offset, Scalar *value);

/// The different rows are found once for Fits(), Estimate() and the build, which takes them.
class StencilPlan : public Plan
{
public:
  using Plan::Plan;
  PetscErrorCode Fits(bool *fits, std::string *why) override;
  PetscErrorCode Estimate(PetscLogDouble beat, bool *candidate, Cost *cost) override;
  PetscErrorCode Take(RowClasses *classes);

private:
  PetscErrorCode Find();

  bool                      looked_ = false;
  std::optional<RowClasses> classes_; ///< where they are few
};

class Stencil : public Format
{
public:
  const char           *Name() const override { return "stencil"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<StencilPlan>(look); }
  PetscErrorCode        Update(const CsrView &A, const Scalar *a, Space where, bool *fits) override;
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  PetscErrorCode        MultDots(const ProductDots &dots, Stream stream) override;
  PetscErrorCode        MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                                 Stream stream) override;
  bool                  TakesSteps() const override { return space_ == Space::Device; }
  bool                  TakesDifferences() const override { return true; }
  PetscErrorCode        TakesGhosts(const Format &off, std::uint64_t version, bool *takes, bool *changed) override;
  bool                  MayTakeGhosts() const override;
  PetscErrorCode        MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream) override;
  bool                  GainsByColumns() const override { return !layout_.lines; }
  std::string           Details() const override;
  const StencilLayout  &Layout() const { return layout_; }
  Stencil();
  ~Stencil() override;
#if defined(SPARSEGPU_HAVE_CUDA)
  bool UpdatesReadPattern() const override
  {
    return true;
  }
  bool ConvertsOnDevice() const override
  {
    return true;
  }
#endif

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  PetscErrorCode BuildValues(const Look &look) override;
  PetscErrorCode BuildPatternOnDevice(Plan *plan) override
  {
    return BuildPattern(plan);
  }

private:
  PetscErrorCode TakeEntries(const CsrView &A, const RowClasses &classes, std::vector<PetscInt> *offset);
  PetscErrorCode FindGhosts(const CsrLayout &off);
  PetscErrorCode FindLinesOf(const RowTable &table, const std::vector<size_t> &stencils, PetscInt multiprocessors);
  PetscErrorCode TakeLines(const std::vector<PetscInt> &begin, const std::vector<PetscInt> &offset);

  StencilLayout                 layout_  = {};
  PetscInt                      classes_ = 0;
  Array<unsigned char>          row_class_;
  Array<PetscInt>               begin_, offset_;
  Array<Scalar>                 value_;
  std::unique_ptr<StencilLines> lines_; ///< that layout_ points to
  Array<unsigned short>         line_bits_;
  Array<PetscInt>               left_out_;      ///< StencilLines::left_out
  Array<unsigned char>          with_ghosts_;   ///< GhostPlanes::with
  std::uint64_t                 ghosts_of_ = 0; ///< the version of the off-diagonal block that lines_->ghosts are of
};

} // namespace sparsegpu::formats
