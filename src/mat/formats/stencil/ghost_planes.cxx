/// Whether the rows with ghosts of a rank are walked with its other rows.
#include <cstring>
#include "device/bulk_places.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/stencil/lines.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::formats
{

/// lines_->ghosts: where all rows of `off` are of the first plane or the last one, and their ghosts planes. Thread
/// blocks that await ghosts, of both planes, are half of those at a time on the device, at most, so that others which
/// send find room; and with the sums that they keep as many blocks are there at a time as without.
PetscErrorCode Stencil::FindGhosts(const CsrLayout &off)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  constexpr PetscInt EACH = 4; // of all thread blocks those of a plane
  const LineWalk    &walk = lines_->walk;
  PetscInt           multiprocessors;
  bool               lacks;
  PetscCall(DeviceFacts(nullptr, &multiprocessors, nullptr));
  if (off.chunks > 0 || off.filled <= 0 || layout_.rows % walk.stride || layout_.rows < 2 * walk.stride ||
      walk.chunks > walk.AtOnce(multiprocessors) / EACH)
    PetscFunctionReturn(PETSC_SUCCESS);
  const auto find = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(with_ghosts_.Allocate(static_cast<size_t>(2 * walk.stride), space_));
    PetscCall(FindGhostPlanes_CUDA(layout_, off, with_ghosts_.data(), &lines_->ghosts));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(MayLackMemory(find, &lacks)); // then without
  if (lacks || !lines_->ghosts.with || lines_->BlockBytes() > StencilLines::SHARED) {
    lines_->ghosts = GhostPlanes();
    with_ghosts_   = Array<unsigned char>();
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Stencil::MayTakeGhosts() const
{
  constexpr bool ANY_LIES = sizeof(Scalar) < BULK; // LiesForLines() of all vectors
  return ANY_LIES && layout_.lines && layout_.rows == layout_.cols;
}

PetscErrorCode Stencil::TakesGhosts(const Format &off, std::uint64_t version, bool *takes, bool *changed)
{
  PetscFunctionBegin;
  *takes = *changed = false;
  if (!MayTakeGhosts() || strcmp(off.Name(), "csr")) PetscFunctionReturn(PETSC_SUCCESS);
  if (ghosts_of_ != version) {
    pattern_bytes_ -= static_cast<PetscLogDouble>(with_ghosts_.bytes());
    lines_->ghosts = GhostPlanes();
    with_ghosts_   = Array<unsigned char>();
    PetscCall(FindGhosts(static_cast<const Csr &>(off).Layout()));
    pattern_bytes_ += static_cast<PetscLogDouble>(with_ghosts_.bytes());
    ghosts_of_ = version;
    *changed   = true;
  }
  *takes = lines_->ghosts.with != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
