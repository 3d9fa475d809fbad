/// sccsr's plan, the rows sorted into groups, and its arrays.
#include "mat/formats/sccsr/sccsr.hpp"
#include <algorithm>
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_sccsr()
{
  return EntryOf<Sccsr, SccsrOptions>();
}

PetscErrorCode SccsrOptions::Read(SparseGPUOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsInt(
      "-mat_sparsegpu_sccsr_blocks",
      "sccsr: resident blocks per multiprocessor; fewer groups than fill them join the next segment, 0: never",
      "MatSparseGPUSetFormat", blocks, &blocks, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SccsrOptions::Check() const
{
  PetscFunctionBegin;
  PetscCheck(blocks >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_sccsr_blocks %" PetscInt_FMT " must be non-negative", blocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sorts, cuts and groups the rows; groups of a segment that are fewer than `fill` join the next. O(rows).
static PetscErrorCode FindGroups(const CsrView &A, PetscReal fill, SccsrGroups *plan)
{
  constexpr int         S = SccsrLayout::SEGMENTS;
  std::vector<PetscInt> count, order;
  PetscInt              longest = 0, begin = 0;

  PetscFunctionBegin;
  const auto length = [&A](PetscInt r) { return A.i[r + 1] - A.i[r]; };
  for (PetscInt r = 0; r < A.rows; r++) longest = std::max(longest, length(r));
  PetscCallCXX(
      count.assign(static_cast<size_t>(longest) + 2, 0)); // counting sort: stable, so neighbours stay neighbours
  PetscCallCXX(order.resize(A.rows));
  for (PetscInt r = 0; r < A.rows; r++) count[length(r) + 1]++;
  for (PetscInt l = 0; l <= longest; l++) count[l + 1] += count[l];
  for (PetscInt r = 0; r < A.rows; r++) order[count[length(r)]++] = r;

  plan->row_index.clear();
  PetscCallCXX(plan->start.assign(1, 0));
  plan->stored = 0;
  for (int s = 0, groups = 0; s < S; s++) {
    const PetscInt c   = SccsrLayout::ROWS[s];
    PetscInt       end = begin;
    while (end < A.rows && length(order[end]) <= SccsrLayout::LONGEST[s]) end++;
    plan->first_group[s] = groups;
    plan->first_row[s]   = static_cast<PetscInt>(plan->row_index.size());
    if (s < S - 1 && (end - begin + c - 1) / c < fill) continue; // joins the next segment
    for (; begin < end; begin += c, groups++) {
      const PetscInt last = std::min(begin + c, end);
      for (PetscInt k = begin; k < begin + c; k++) PetscCallCXX(plan->row_index.push_back(k < last ? order[k] : -1));
      plan->stored += static_cast<PetscLogDouble>(c) * length(order[last - 1]); // sorted: the last row is the longest
      if (plan->stored <= PETSC_MAX_INT) PetscCallCXX(plan->start.push_back(static_cast<PetscInt>(plan->stored)));
    }
    begin                    = end;
    plan->first_group[s + 1] = groups;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SccsrPlan::Find()
{
  PetscInt    multiprocessors;
  SccsrGroups found;

  PetscFunctionBegin;
  if (groups_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(look().Multiprocessors(&multiprocessors));
  const PetscReal fill = 0.5 * multiprocessors * options<SccsrOptions>().blocks * SccsrLayout::WARPS_PER_BLOCK; // N_w
  PetscCall(FindGroups(rows(), fill, &found));
  groups_ = std::move(found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SccsrPlan::Take(SccsrGroups *groups)
{
  PetscFunctionBegin;
  PetscCall(Find());
  *groups = std::move(*groups_);
  groups_.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SccsrPlan::Fits(bool *fits, std::string *why)
{
  char text[256];

  PetscFunctionBegin;
  PetscCall(Find());
  *fits = groups_->stored <= static_cast<PetscLogDouble>(PETSC_MAX_INT);
  if (*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "%.0f entries with padding for %" PetscInt_FMT
                          " nonzeros exceed the largest PetscInt, %" PetscInt_FMT,
                          groups_->stored, rows().nonzeros, PETSC_MAX_INT));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sccsr::BuildPattern(Plan *plan)
{
  const CsrView        &A = plan->rows();
  SccsrGroups           groups;
  std::vector<PetscInt> j, slot;

  PetscFunctionBegin;
  PetscCall(plan->options<SccsrOptions>().Check());
  PetscCall(static_cast<SccsrPlan *>(plan)->Take(&groups));
  layout_        = {};
  layout_.rows   = A.rows;
  layout_.groups = static_cast<PetscInt>(groups.start.size()) - 1;
  stored_        = groups.start.back();
  std::copy(groups.first_group, groups.first_group + SccsrLayout::SEGMENTS + 1, layout_.first_group);
  std::copy(groups.first_row, groups.first_row + SccsrLayout::SEGMENTS, layout_.first_row);
  sorted_     = groups.row_index;
  host_start_ = groups.start;
  PetscCallCXX(slot.resize(A.nonzeros));
  PetscCallCXX(j.assign(stored_, -1));
  Slots(A, slot.data());
  for (PetscInt e = 0; e < A.nonzeros; e++) j[slot[e]] = A.j[e];
  PetscCall(start_.Take(std::move(groups.start), space_));
  PetscCall(row_index_.Take(std::move(groups.row_index), space_));
  PetscCall(j_.Take(std::move(j), space_));
  layout_.start     = start_.data();
  layout_.row_index = row_index_.data();
  layout_.j         = j_.data();
  pattern_bytes_    = static_cast<PetscLogDouble>(start_.bytes() + row_index_.bytes() + j_.bytes());
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Sccsr::Slots(const CsrView &A, PetscInt *slot) const
{
  for (int s = 0; s < SccsrLayout::SEGMENTS; s++) {
    const PetscInt c = SccsrLayout::ROWS[s];
    for (PetscInt g = layout_.first_group[s]; g < layout_.first_group[s + 1]; g++) {
      for (PetscInt k = 0; k < c; k++) {
        const PetscInt r = sorted_[layout_.first_row[s] + (g - layout_.first_group[s]) * c + k];
        if (r < 0) continue;
        for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) slot[e] = host_start_[g] + (e - A.i[r]) * c + k;
      }
    }
  }
}

PetscErrorCode Sccsr::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, SccsrMult_CUDA(Layout(), x, y, z, stream), SccsrMult_Kokkos(Layout(), x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
