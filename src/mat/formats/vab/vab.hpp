/// VAB: each row is cut into blocks of 4 entries, the last one padded; blocks are numbered row after row. A thread
/// block of `size` threads holds `size` blocks, stored so that entry e of thread t is at e * size + t within it:
/// coalesced. Step 1: every thread sums the products of its block into an intermediate; step 2: per row the
/// intermediates are summed. Padding has column -1 and value 0. Tian Liang, "Research on optimizing sparse matrix
/// computation based on GPU", HUST 2012, chapter 3. The thesis reads the intermediates and x through the texture cache;
/// on today's GPUs that is the read-only path of __ldg().
#pragma once

#include "mat/formats/format.hpp"
#include "mat/formats/options.hpp"

namespace sparsegpu::formats
{

struct VabLayout {
  static constexpr PetscInt ENTRIES = 4; ///< of a block

  PetscInt        rows, blocks;
  PetscInt        size;         ///< threads of a thread block, a multiple of 64
  PetscInt        width;        ///< threads that sum a row's intermediates on the device
  const PetscInt *row_start;    ///< [rows + 1] first block of each row
  const PetscInt *j;            ///< [ENTRIES * blocks rounded up to size] column
  const Scalar   *a;            ///< [the same] value
  Scalar         *intermediate; ///< [blocks] scratch
};

/// Where entry e of block b lies.
SPARSEGPU_HD PetscInt VabSlot(PetscInt b, PetscInt e, PetscInt size)
{
  return (b / size) * size * VabLayout::ENTRIES + e * size + b % size;
}

/// z = A x + y; y null or z allowed.
PetscErrorCode VabMult_Kokkos(const VabLayout &A, const Scalar *x, const Scalar *y, Scalar *z);
PetscErrorCode VabMult_CUDA(const VabLayout &A, const Scalar *x, const Scalar *y, Scalar *z, Stream stream);

struct VabOptions : OptionsOf<VabOptions> {
  PetscInt block = 128; ///< -mat_sparsegpu_vab_block: threads per block, a multiple of 64

  PetscErrorCode Read(SparseGPUOptionItems PetscOptionsObject) override;
  PetscErrorCode Check() const override;
};

class Vab : public Format
{
public:
  const char    *Name() const override { return "vab"; }
  PetscErrorCode Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream) override;
  /// With the values where they are now.
  VabLayout Layout() const
  {
    VabLayout layout = layout_;
    layout.a         = values();
    return layout;
  }

protected:
  PetscErrorCode BuildPattern(Plan *plan) override;
  void           Slots(const CsrView &A, PetscInt *slot) const override;

private:
  VabLayout             layout_ = {};
  std::vector<PetscInt> host_row_start_;
  Array<PetscInt>       row_start_, j_;
  Array<Scalar>         intermediate_;
};

} // namespace sparsegpu::formats
