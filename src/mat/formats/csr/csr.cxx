/// csr's plan and its arrays: the matrix's own, on the host and, where these may be kept, on the device.
#include "mat/formats/csr/csr.hpp"
#include <algorithm>
#include "petsc/compat.hpp"
#include "petsc/may_lack_memory.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_csr()
{
  return EntryOf<Csr, CsrOptions>();
}

PetscInt CsrWidth(PetscReal mean)
{
  const PetscInt widest = mean < 128 ? 16 : 32; // measured: docs/performance.md
  PetscInt       width  = 1;
  while (width < widest && 3.3 * width < mean) width *= 2;
  return width;
}

PetscErrorCode CsrOptions::Read(SparseGPUOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-mat_sparsegpu_csr_width",
                            "csr on a GPU: threads per row, a power of two <= 32, 0: by mean row length",
                            "MatSparseGPUSetFormat", width, &width, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsrOptions::Check() const
{
  PetscFunctionBegin;
  PetscCheck(width == 0 || (PowerOfTwo(width) && width <= 32), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_csr_width %" PetscInt_FMT " must be a power of two from 1 to 32, or 0 for a width by the "
             "mean row length",
             width);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsrPlan::Shape(PetscInt *width, PetscInt *longest)
{
  const CsrView &A     = rows();
  const PetscInt asked = options<CsrOptions>().width;
  PetscInt       multiprocessors;

  PetscFunctionBegin;
  PetscCall(look().Multiprocessors(&multiprocessors));
  *width           = asked ? asked : CsrWidth(A.rows ? static_cast<PetscReal>(A.nonzeros) / A.rows : 0);
  const bool small = static_cast<PetscCount>(A.rows) * *width <= 2048 * multiprocessors;
  *longest         = (small ? CsrLayout::SMALL_TURNS : CsrLayout::LONG_TURNS) * *width;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On a GPU of real numbers alone.
PetscErrorCode CsrPlan::InOrder(bool *in_order)
{
  PetscFunctionBegin;
  *in_order = space() == Space::Host;
#if !defined(PETSC_USE_COMPLEX)
  if (!*in_order) {
    const RowLengths *lengths;
    PetscInt          width, longest;
    PetscCall(Shape(&width, &longest));
    *in_order = width == 1;
    if (*in_order) PetscCall(look().Lengths(&lengths));
    if (*in_order) *in_order = lengths->longest <= longest;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The baseline. On the device its threads share rows and reach less bandwidth than one thread per row does.
PetscErrorCode CsrPlan::Estimate(PetscLogDouble, bool *candidate, Cost *cost)
{
  PetscFunctionBegin;
  *candidate  = true;
  cost->bytes = static_cast<PetscLogDouble>(rows().nonzeros) * (sizeof(Scalar) + sizeof(PetscInt)) +
                static_cast<PetscLogDouble>(rows().rows) * sizeof(PetscInt);
  cost->reach = space() == Space::Device ? 0.75 : 1;
  PetscCall(InOrder(&cost->in_order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether enough neighbouring rows are alike for FindNodes(), from one row in SAMPLE: a pass over all rows takes as
/// long as a product. Empty rows, as off-diagonal blocks have, are no gain.
static bool MayHaveNodes(const CsrView &A)
{
  constexpr PetscInt SAMPLE = 31; // odd, to meet all places in blocks of 2 and 4
  PetscInt           alike = 0, seen = 0;
  for (PetscInt r = 1; r < A.rows; r += SAMPLE, seen++) {
    const PetscInt length = A.i[r + 1] - A.i[r];
    alike += length > 0 && length == A.i[r] - A.i[r - 1] &&
             std::equal(A.j + A.i[r], A.j + A.i[r] + length, A.j + A.i[r - 1]);
  }
  return 5 * alike >= 2 * seen; // half of all rows, less what the sample may be off
}

/// Runs of rows with the same columns; kept only where they halve the rows, as they cost a level of indirection.
PetscErrorCode Csr::FindNodes(const CsrView &A)
{
  std::vector<PetscInt> node;

  PetscFunctionBegin;
  if (!MayHaveNodes(A)) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt r = 0; r < A.rows; r++) {
    bool same = false;
    if (!node.empty() && r - node.back() < CsrLayout::NODE_ROWS) {
      const PetscInt first = node.back(), length = A.i[r + 1] - A.i[r];
      same = length == A.i[first + 1] - A.i[first] && std::equal(A.j + A.i[r], A.j + A.i[r] + length, A.j + A.i[first]);
    }
    if (!same) PetscCallCXX(node.push_back(r));
  }
  if (2 * node.size() > static_cast<size_t>(A.rows)) PetscFunctionReturn(PETSC_SUCCESS);
  layout_.nodes = static_cast<PetscInt>(node.size());
  PetscCallCXX(node.push_back(A.rows));
  pattern_bytes_ += sizeof(PetscInt) * static_cast<PetscLogDouble>(node.size());
  PetscCall(node_.Take(std::move(node), space_));
  layout_.node = node_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The bin of long rows on the device.
PetscErrorCode Csr::CutLongRows(Look *look)
{
  std::vector<PetscInt> row, begin;
  const PetscInt       *i;

  PetscFunctionBegin;
  PetscCall(look->Beginnings(&i));
  for (PetscInt r = 0; r < layout_.rows; r++) {
    if (i[r + 1] - i[r] <= layout_.long_length) continue;
    for (PetscInt e = i[r]; e < i[r + 1]; e += CsrLayout::CHUNK) {
      PetscCallCXX(row.push_back(r));
      PetscCallCXX(begin.push_back(e));
    }
  }
  layout_.chunks = static_cast<PetscInt>(row.size());
  PetscCall(chunk_row_.Take(std::move(row), space_));
  PetscCall(chunk_begin_.Take(std::move(begin), space_));
  PetscCall(chunk_sum_.Allocate(layout_.chunks, space_));
  PetscCall(arrived_.Take(std::vector<int>(layout_.chunks, 0), space_));
  layout_.chunk_row   = chunk_row_.data();
  layout_.chunk_begin = chunk_begin_.data();
  layout_.chunk_sum   = chunk_sum_.data();
  layout_.arrived     = arrived_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Csr::BuildPattern(Plan *plan)
{
  const CsrView    &A = plan->rows();
  const RowLengths *lengths;

  PetscFunctionBegin;
  layout_          = {};
  layout_.filled   = CsrLayout::UNKNOWN;
  layout_.rows     = A.rows;
  layout_.nonzeros = A.nonzeros;
  stored_          = A.nonzeros;
  pattern_bytes_   = sizeof(PetscInt) * (static_cast<PetscLogDouble>(A.rows) + 1 + A.nonzeros);
  if (space_ == Space::Host) {
    bool lacks;
    PetscCall(MayLackMemory([&] { return FindNodes(A); }, &lacks));
    if (lacks) layout_.nodes = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscCall(plan->options<CsrOptions>().Check());
  PetscCall(static_cast<CsrPlan *>(plan)->Shape(&layout_.width, &layout_.long_length));
  PetscCall(plan->look().Lengths(&lengths));
  const PetscInt filled = static_cast<PetscInt>(lengths->filled), asked = plan->options<CsrOptions>().width;
  const bool     empty = 2 * PetscCount(filled) <= A.rows; // most rows are
  PetscInt       width = layout_.width;                    // of a row that is not, where they are
  if (empty && filled && !asked) width = CsrWidth(static_cast<PetscReal>(A.nonzeros) / filled);
  if (adds_) layout_.long_length = std::max(layout_.long_length, CsrLayout::ADDED_TURNS * width);
  if (lengths->longest > layout_.long_length) PetscCall(CutLongRows(&plan->look()));
  pattern_              = A.device.i ? A.owners.pattern : nullptr;
  shared_pattern_bytes_ = pattern_ ? pattern_bytes_ : 0;
  if (!pattern_) {
    PetscCall(i_.CopyFrom(A.device.i, A.i, static_cast<size_t>(A.rows) + 1));
    PetscCall(j_.CopyFrom(A.device.j, A.j, A.nonzeros));
  }
  layout_.i      = pattern_ ? A.device.i : i_.data();
  layout_.j      = pattern_ ? A.device.j : j_.data();
  layout_.filled = -1;
  if (empty) PetscCall(PlaceFilled(filled, width));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Csr::Borrow(const CsrView &A)
{
  if (space_ != Space::Host) return;
  layout_.i      = A.i;
  layout_.j      = A.j;
  layout_.filled = CsrLayout::UNKNOWN;
  borrowed_      = A.a;
}

/// Appends to *filled the rows that are not empty, until these are half of them.
static PetscErrorCode FilledRows(PetscInt rows, const PetscInt *i, std::vector<PetscInt> *filled)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < rows && 2 * filled->size() <= static_cast<size_t>(rows); r++)
    if (i[r] < i[r + 1]) PetscCallCXX(filled->push_back(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same for the device, once, where most rows are empty: `filled` are not. `width`: threads for each of them.
PetscErrorCode Csr::PlaceFilled(PetscInt filled, PetscInt width)
{
  PetscFunctionBegin;
  layout_.filled       = filled;
  layout_.filled_width = width;
  pattern_bytes_ += sizeof(PetscInt) * static_cast<PetscLogDouble>(filled);
  PetscCall(filled_row_.Allocate(static_cast<size_t>(filled), Space::Device));
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscCall(FilledRows_CUDA(layout_.rows, layout_.i, &filled_row_));
#endif
  layout_.filled_row = filled_row_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows that are not empty, found anew when the beginnings of rows are others than before: the arrays are AIJ's own.
/// Without memory for them all rows are walked.
PetscErrorCode Csr::FindFilled()
{
  const size_t count = static_cast<size_t>(layout_.rows) + 1;
  bool         lacks = false;

  PetscFunctionBegin;
  if (filled_i_.size() != count || !std::equal(layout_.i, layout_.i + count, filled_i_.begin())) {
    const auto find = [&]() -> PetscErrorCode {
      PetscFunctionBegin;
      filled_.clear();
      PetscCall(FilledRows(layout_.rows, layout_.i, &filled_));
      PetscCallCXX(filled_i_.assign(layout_.i, layout_.i + count));
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    PetscCall(MayLackMemory(find, &lacks));
    if (lacks) filled_i_.clear();
  }
  layout_.filled     = !lacks && 2 * filled_.size() < count ? static_cast<PetscInt>(filled_.size()) : -1;
  layout_.filled_row = filled_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
