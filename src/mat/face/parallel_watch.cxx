/// A pattern of a block is looked at where it is.
#include "mat/face/parallel_watch.hpp"
#include <algorithm>

namespace sparsegpu::face
{

PetscErrorCode GetShapes(Mat M, Mat blocks[2], Context *of_block[2], CsrView csr[2], const PetscInt **ghosts)
{
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(M, &blocks[0], &blocks[1], ghosts));
  for (int b = 0; b < 2; b++) {
    PetscCall(GetContext(blocks[b], &of_block[b]));
    PetscCall(of_block[b]->rows.GetShape(blocks[b], &csr[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
/// Where a block's products run on the device, its pattern is there, or will be: it is looked at there.
PetscErrorCode LookThere(Mat block, Context *context, CsrView *csr)
{
  PetscBool found = PETSC_FALSE;
  Space     space;
  bool      lacks = false;

  PetscFunctionBegin;
  if (context->rows.pattern_away()) {
    const CsrArrays there = context->rows.pattern_there();
    if (context->rows.pattern_space() == Space::Device) {
      csr->device = there;
    } else { // in tests a second array on the host stands for the device's
      csr->i = there.i;
      csr->j = there.j;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PlannedSpace(context, &space));
  if (space == Space::Device) PetscCall(DeviceFound(&found));
  if (!found || csr->nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      MayLackMemory([&] { return context->rows.BringPattern(block, space, &csr->device.i, &csr->device.j); }, &lacks));
  if (lacks) csr->device = CsrArrays{};
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ParallelPatternWatch::Look(Mat M, bool *changed)
{
  Mat             blocks[2];
  Context        *of_block[2];
  CsrView         csr[2];
  const PetscInt *ghosts;

  PetscFunctionBegin;
  PetscCall(GetShapes(M, blocks, of_block, csr, &ghosts));
  *changed =
      ghosts_.size() != static_cast<size_t>(csr[1].cols) || !std::equal(ghosts, ghosts + csr[1].cols, ghosts_.begin());
  if (*changed) PetscCallCXX(ghosts_.assign(ghosts, ghosts + csr[1].cols));
  for (int b = 0; b < 2; b++) {
    bool other, due = false;
    PetscCall(blocks_[b].Due(blocks[b], &of_block[b]->rows, &due));
    if (due) PetscCall(LookThere(blocks[b], of_block[b], &csr[b]));
    PetscCall(blocks_[b].Look(blocks[b], &of_block[b]->rows, csr[b], &other));
    *changed = *changed || other;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
