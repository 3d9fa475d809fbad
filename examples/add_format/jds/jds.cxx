/// jds: its option, its plan, and its arrays.
#include "mat/formats/jds/jds.hpp"
#include <algorithm>
#include <numeric>
#include "device/backend_call.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_jds()
{
  return EntryOf<Jds, JdsOptions>();
}

PetscErrorCode JdsOptions::Read(SparseGPUOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-mat_sparsegpu_jds_longest", "jds: entries of a row, at most, 0: any",
                            "MatSparseGPUSetFormat", longest, &longest, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JdsOptions::Check() const
{
  PetscFunctionBegin;
  PetscCheck(longest >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_jds_longest %" PetscInt_FMT " must be non-negative", longest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JdsPlan::Fits(bool *fits, std::string *why)
{
  const PetscInt    most = options<JdsOptions>().longest;
  const RowLengths *lengths;
  char              text[128];

  PetscFunctionBegin;
  PetscCall(look().Lengths(&lengths));
  *fits = most == 0 || lengths->longest <= most;
  if (*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "its longest row has %" PetscInt_FMT " entries, more than %" PetscInt_FMT
                          " (-mat_sparsegpu_jds_longest)",
                          lengths->longest, most));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Jds::BuildPattern(Plan *plan)
{
  const CsrView        &A      = plan->rows();
  const auto            length = [&A](PetscInt r) { return A.i[r + 1] - A.i[r]; };
  const RowLengths     *lengths;
  std::vector<PetscInt> j, slot;

  PetscFunctionBegin;
  PetscCall(plan->look().Lengths(&lengths));
  PetscCallCXX(rows_by_length_.resize(A.rows));
  std::iota(rows_by_length_.begin(), rows_by_length_.end(), 0);
  std::stable_sort(rows_by_length_.begin(), rows_by_length_.end(),
                   [&](PetscInt r, PetscInt q) { return length(r) > length(q); });
  PetscCallCXX(starts_.assign(lengths->longest + 1, 0)); // rows that have an entry k, then their sums
  for (PetscInt r = 0; r < A.rows; r++)
    for (PetscInt k = 0; k < length(r); k++) starts_[k + 1]++;
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  stored_ = A.nonzeros;
  PetscCallCXX(slot.resize(A.nonzeros));
  PetscCallCXX(j.resize(A.nonzeros));
  Slots(A, slot.data());
  for (PetscInt e = 0; e < A.nonzeros; e++) j[slot[e]] = A.j[e];
  PetscCall(row_.Take(std::vector<PetscInt>(rows_by_length_), space_));
  PetscCall(start_.Take(std::vector<PetscInt>(starts_), space_));
  PetscCall(j_.Take(std::move(j), space_));
  layout_        = JdsLayout{A.rows, lengths->longest, row_.data(), start_.data(), j_.data(), nullptr};
  pattern_bytes_ = static_cast<PetscLogDouble>(row_.bytes() + start_.bytes() + j_.bytes());
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Jds::Slots(const CsrView &A, PetscInt *slot) const
{
  for (PetscInt p = 0; p < A.rows; p++) {
    const PetscInt r = rows_by_length_[p];
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) slot[e] = starts_[e - A.i[r]] + p;
  }
}

PetscErrorCode Jds::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, JdsMult_CUDA(Layout(), x, y, z, stream), JdsMult_Kokkos(Layout(), x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
