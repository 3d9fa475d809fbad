/// Builds vab's arrays: rows cut into padded blocks of 4 entries.
#include "mat/formats/vab/vab.hpp"
#include "device/backend_call.hpp"
#include "mat/formats/csr/csr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_vab()
{
  return EntryOf<Vab, VabOptions>();
}

PetscErrorCode VabOptions::Read(SparseGPUOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-mat_sparsegpu_vab_block", "vab: threads per block, a multiple of 64",
                            "MatSparseGPUSetFormat", block, &block, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VabOptions::Check() const
{
  PetscFunctionBegin;
  PetscCheck(block > 0 && block <= 1024 && block % 64 == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_vab_block %" PetscInt_FMT " must be a multiple of 64 from 64 to 1024", block);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Vab::BuildPattern(Plan *plan)
{
  const CsrView        &A    = plan->rows();
  const PetscInt        size = plan->options<VabOptions>().block, E = VabLayout::ENTRIES;
  std::vector<PetscInt> j, slot;

  PetscFunctionBegin;
  PetscCall(plan->options<VabOptions>().Check());
  PetscCallCXX(host_row_start_.assign(A.rows + 1, 0));
  for (PetscInt r = 0; r < A.rows; r++) host_row_start_[r + 1] = host_row_start_[r] + (A.i[r + 1] - A.i[r] + E - 1) / E;
  layout_                     = {};
  layout_.rows                = A.rows;
  layout_.blocks              = host_row_start_[A.rows];
  layout_.size                = size;
  layout_.width               = CsrWidth(A.rows ? static_cast<PetscReal>(layout_.blocks) / A.rows : 0);
  const PetscLogDouble stored = static_cast<PetscLogDouble>((layout_.blocks + size - 1) / size) * size * E;
  PetscCheck(stored <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%.0f entries with padding for %" PetscInt_FMT " nonzeros exceed the largest PetscInt, %" PetscInt_FMT,
             stored, A.nonzeros, PETSC_MAX_INT);
  stored_ = static_cast<PetscInt>(stored);
  PetscCallCXX(slot.resize(A.nonzeros));
  PetscCallCXX(j.assign(stored_, -1));
  Slots(A, slot.data());
  for (PetscInt e = 0; e < A.nonzeros; e++) j[slot[e]] = A.j[e];
  PetscCall(row_start_.Take(std::vector<PetscInt>(host_row_start_), space_));
  PetscCall(j_.Take(std::move(j), space_));
  PetscCall(intermediate_.Allocate(layout_.blocks, space_));
  layout_.row_start    = row_start_.data();
  layout_.j            = j_.data();
  layout_.intermediate = intermediate_.data();
  // the intermediates are written and read once in every product
  pattern_bytes_ = static_cast<PetscLogDouble>(row_start_.bytes() + j_.bytes() + 2 * intermediate_.bytes());
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Vab::Slots(const CsrView &A, PetscInt *slot) const
{
  for (PetscInt r = 0; r < A.rows; r++) {
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      const PetscInt k = e - A.i[r];
      slot[e]          = VabSlot(host_row_start_[r] + k / VabLayout::ENTRIES, k % VabLayout::ENTRIES, layout_.size);
    }
  }
}

PetscErrorCode Vab::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, VabMult_CUDA(Layout(), x, y, z, stream), VabMult_Kokkos(Layout(), x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
