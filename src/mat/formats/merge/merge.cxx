/// Builds the merge path of a pattern, once for all products.
#include <algorithm>
#include <bitset>
#include "device/kokkos.hpp"
#include "device/backend_call.hpp"
#include "mat/formats/merge/merge.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_merge()
{
  return EntryOf<Merge, MergeOptions>();
}

#if !defined(SPARSEGPU_HAVE_CUDA)
PetscInt MergeTile_CUDA()
{
  return 1;
}
#endif

PetscErrorCode MergeOptions::Read(SparseGPUOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-mat_sparsegpu_merge_workers", "merge: shares of the merge path, 0: what fits the backend",
                            "MatSparseGPUSetFormat", workers, &workers, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MergeOptions::Check() const
{
  PetscFunctionBegin;
  PetscCheck(workers >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_merge_workers %" PetscInt_FMT " must be positive, or 0 for what fits the backend",
             workers);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Merge::BuildPattern(Plan *plan)
{
  const CsrView        &A       = plan->rows();
  const PetscCount      steps   = static_cast<PetscCount>(A.rows) + A.nonzeros;
  const PetscInt        useful  = static_cast<PetscInt>(std::clamp<PetscCount>(steps, 1, PETSC_MAX_INT - 1));
  PetscInt              workers = plan->options<MergeOptions>().workers;
  std::vector<PetscInt> start;

  PetscFunctionBegin;
  PetscCall(plan->options<MergeOptions>().Check());
  if (!workers && space_ == Space::Host) PetscCall(KokkosConcurrency(&workers));
  layout_          = {};
  layout_.rows     = A.rows;
  layout_.nonzeros = A.nonzeros;
  layout_.share    = workers ? (steps + workers - 1) / workers : MergeTile_CUDA();
  layout_.share    = std::max<PetscCount>(layout_.share, 1);
  layout_.workers =
      workers ? std::min(workers, useful) : static_cast<PetscInt>((steps + layout_.share - 1) / layout_.share);
  stored_        = A.nonzeros;
  pattern_bytes_ = sizeof(PetscInt) * (static_cast<PetscLogDouble>(A.rows) + 1 + A.nonzeros);
  // The paper searches in every product. The path depends on the pattern alone, so one search serves all of them.
  PetscCallCXX(start.resize(layout_.workers + 1));
  for (PetscInt w = 0; w <= layout_.workers; w++)
    start[w] = MergeSearch(std::min(w * layout_.share, steps), A.i + 1, A.rows, A.nonzeros);
  PetscCall(start_row_.Take(std::move(start), space_));
  PetscCall(carry_row_.Allocate(layout_.workers, space_));
  PetscCall(carry_value_.Allocate(layout_.workers, space_));
  layout_.start_row   = start_row_.data();
  layout_.carry_row   = carry_row_.data();
  layout_.carry_value = carry_value_.data();
  if (space_ == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KeepPath(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The device's arrays: the path in bits, and the columns.
PetscErrorCode Merge::KeepPath(const CsrView &A)
{
  const size_t          words = static_cast<size_t>((static_cast<PetscCount>(A.rows) + A.nonzeros) / 32 + 2);
  std::vector<unsigned> path;
  std::vector<PetscInt> rank, j;

  PetscFunctionBegin;
  PetscCallCXX(path.assign(words, 0));
  PetscCallCXX(rank.assign(words, 0));
  for (PetscInt r = 0; r < A.rows; r++) {
    const PetscCount step = static_cast<PetscCount>(A.i[r + 1]) + r;
    path[static_cast<size_t>(step / 32)] |= 1u << (step % 32);
  }
  for (size_t w = 1; w < words; w++)
    rank[w] = rank[w - 1] + static_cast<PetscInt>(std::bitset<32>(path[w - 1]).count());
  PetscCallCXX(j.assign(A.j, A.j + A.nonzeros));
  PetscCall(path_.Take(std::move(path), space_));
  PetscCall(rank_.Take(std::move(rank), space_));
  PetscCall(j_.Take(std::move(j), space_));
  layout_.path   = path_.data();
  layout_.rank   = rank_.data();
  layout_.j      = j_.data();
  pattern_bytes_ = static_cast<PetscLogDouble>(words) * (sizeof(unsigned) + sizeof(PetscInt)) +
                   static_cast<PetscLogDouble>(sizeof(PetscInt)) * A.nonzeros;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Merge::Borrow(const CsrView &A)
{
  if (space_ != Space::Host) return;
  layout_.i = A.i;
  layout_.j = A.j;
  borrowed_ = A.a;
}

PetscErrorCode Merge::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, MergeMult_CUDA(Layout(), x, y, z, stream), MergeMult_Kokkos(Layout(), x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
