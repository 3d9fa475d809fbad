/// hyb's plan, the width of its ELL part, and its arrays.
#include "mat/formats/hyb/hyb.hpp"
#include <algorithm>
#include "device/backend_call.hpp"
#include "mat/rows/sizes.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_hyb()
{
  return EntryOf<Hyb, HybOptions>();
}

PetscErrorCode HybOptions::Read(SparseGPUOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsReal("-mat_sparsegpu_hyb_fraction",
                             "hyb: part of the rows that must reach the width of its ell part", "MatSparseGPUSetFormat",
                             fraction, &fraction, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybOptions::Check() const
{
  PetscFunctionBegin;
  PetscCheck(fraction > 0 && fraction <= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_hyb_fraction %g must be in (0, 1]", (double)fraction);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybWidth(const CsrView &A, PetscReal fraction, PetscInt *width)
{
  std::vector<PetscInt> histogram; // rows of each length; the longest row bounds it
  PetscInt              longest = 0, reach = A.rows;

  PetscFunctionBegin;
  *width = 0;
  for (PetscInt r = 0; r < A.rows; r++) longest = std::max(longest, A.i[r + 1] - A.i[r]);
  PetscCallCXX(histogram.assign(static_cast<size_t>(longest) + 1, 0));
  for (PetscInt r = 0; r < A.rows; r++) histogram[A.i[r + 1] - A.i[r]]++;
  for (PetscInt k = 1; k <= longest; k++) {
    reach -= histogram[k - 1]; // rows with at least k entries
    if (reach >= fraction * A.rows && reach > 0) *width = k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybPlan::Fits(bool *fits, std::string *why)
{
  const CsrView &A = rows();
  PetscInt       width;
  PetscLogDouble rest = 0;
  char           text[256];

  PetscFunctionBegin;
  PetscCall(HybWidth(A, options<HybOptions>().fraction, &width));
  for (PetscInt r = 0; r < A.rows; r++) rest += std::max<PetscInt>(0, A.i[r + 1] - A.i[r] - width);
  const PetscLogDouble stored = PaddedEntries(A.rows, static_cast<PetscLogDouble>(width)) + rest;
  *fits                       = FitsPetscInt(stored);
  if (*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "%" PetscInt_FMT " rows of %" PetscInt_FMT
                          " entries, and %.0f entries beside them, would store %.0f for %" PetscInt_FMT
                          " nonzeros, more than the %" PetscInt_FMT " that PetscInt counts",
                          A.rows, width, rest, stored, A.nonzeros, PETSC_MAX_INT));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Hyb::BuildPattern(Plan *plan)
{
  const HybOptions     &options = plan->options<HybOptions>();
  const CsrView        &A       = plan->rows();
  std::vector<PetscInt> ell_j, row, j;
  PetscInt              width;

  PetscFunctionBegin;
  PetscCall(options.Check());
  PetscCall(HybWidth(A, options.fraction, &width));
  ell_.rows  = A.rows;
  ell_.width = width;
  ell_.pitch = EllPitch(A.rows);
  PetscCall(EllColumns(A, width, &ell_j));
  for (PetscInt r = 0; r < A.rows; r++) {
    for (PetscInt e = A.i[r] + width; e < A.i[r + 1]; e++) {
      PetscCallCXX(row.push_back(r));
      PetscCallCXX(j.push_back(A.j[e]));
    }
  }
  stored_ = ell_.width * ell_.pitch + static_cast<PetscInt>(row.size());
  PetscCall(ell_j_.Take(std::move(ell_j), space_));
  PetscCall(coo_.Build(A.rows, std::move(row), std::move(j), space_));
  ell_.j         = ell_j_.data();
  pattern_bytes_ = static_cast<PetscLogDouble>(ell_j_.bytes()) + coo_.Bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Hyb::Slots(const CsrView &A, PetscInt *slot) const
{
  PetscInt rest = ell_.width * ell_.pitch;
  for (PetscInt r = 0; r < A.rows; r++) {
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      const PetscInt k = e - A.i[r];
      slot[e]          = k < ell_.width ? k * ell_.pitch + r : rest++;
    }
  }
}

PetscErrorCode Hyb::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  const EllLayout ell = Ell();

  PetscFunctionBegin;
  const CooLayout remain = coo_.Layout(values() + static_cast<size_t>(ell_.width) * ell_.pitch);
  PetscCall(SPARSEGPU_LAUNCH(space_, EllMult_CUDA(ell, x, {y, z}, stream), EllMult_Kokkos(ell, x, y, z)));
  if (remain.nonzeros)
    PetscCall(SPARSEGPU_LAUNCH(space_, CooMult_CUDA(remain, x, z, z, stream), CooMult_Kokkos(remain, x, z, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
