/// SC-CSR ("segmented, coalesced" CSR): rows sorted by length, ascending, and cut into segments by length [0,8) [8,16)
/// [16,32) [32,inf), in which groups of c = 32, 16, 8, 4 rows are merged. Within a group entries lie column by column
/// (all first entries, then all second ...), so a warp reads 32 neighbouring ones and needs log2(32 / c) reduction
/// steps. Entry k of row r of group g is at start[g] + k * c + r; padding has column -1 and value 0. Every segment is
/// padded with empty rows (row_index -1) to whole groups. A segment with fewer than N_w = 0.5 * N_SM * N_blocks * warps
/// per block groups does not fill the device and joins the next one. Tian Liang, "Research on optimizing sparse matrix
/// computation based on GPU", HUST 2012, chapter 3.
#pragma once

#include <optional>
#include "mat/formats/plan.hpp"

namespace sparsegpu::formats
{

struct SccsrLayout {
  static constexpr int SEGMENTS          = 4;
  static constexpr int ROWS[SEGMENTS]    = {32, 16, 8, 4};          ///< c: rows merged into a group
  static constexpr int LONGEST[SEGMENTS] = {7, 15, 31, 0x7fffffff}; ///< row length, at most
  static constexpr int WARPS_PER_BLOCK   = 8;

  PetscInt        rows, groups;
  PetscInt        first_group[SEGMENTS + 1]; ///< of each segment; the last is groups
  PetscInt        first_row[SEGMENTS];       ///< position in row_index of each segment
  const PetscInt *start;                     ///< [groups + 1] first entry of the group
  const PetscInt *row_index;                 ///< [padded rows] row of the matrix, -1 for padding
  const PetscInt *j;                         ///< [start[groups]] column, -1 for padding
  const Scalar   *a;                         ///< [start[groups]] value
};

/// z = A x + y; y null or z allowed.
PetscErrorCode SccsrMult_Kokkos(const SccsrLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode SccsrMult_CUDA(const SccsrLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream);

struct SccsrOptions : OptionsOf<SccsrOptions> {
  PetscInt blocks = 8; ///< -mat_sparsegpu_sccsr_blocks: N_blocks, resident thread blocks per multiprocessor

  PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject) override;
  PetscErrorCode Check() const override;
};

/// Rows sorted, cut and grouped.
struct SccsrGroups {
  std::vector<PetscInt> row_index, start;
  PetscInt              first_group[SccsrLayout::SEGMENTS + 1], first_row[SccsrLayout::SEGMENTS];
  PetscLogDouble        stored; ///< entries, padding included
};

class SccsrPlan : public Plan
{
public:
  using Plan::Plan;
  PetscErrorCode Fits(bool *fits, std::string *why) override;
  /// The groups, for a build. O(rows) time.
  PetscErrorCode Take(SccsrGroups *groups);

private:
  PetscErrorCode Find();

  std::optional<SccsrGroups> groups_;
};

class Sccsr : public Format
{
public:
  const char           *Name() const override { return "sccsr"; }
  std::unique_ptr<Plan> NewPlan(Look *look) const override { return std::make_unique<SccsrPlan>(look); }
  PetscErrorCode        Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  /// With the values where they are now.
  SccsrLayout Layout() const
  {
    SccsrLayout layout = layout_;
    layout.a           = values();
    return layout;
  }

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;

private:
  SccsrLayout           layout_ = {};
  std::vector<PetscInt> sorted_, host_start_; ///< row_index and start, on the host
  Array<PetscInt>       start_, row_index_, j_;
};

} // namespace sparsegpu::formats
