/// Which size of block suits a pattern.
#include <algorithm>
#include "mat/formats/bsr/bsr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

namespace
{

/// What counting needs for each block column.
struct Scratch {
  std::vector<PetscInt> last;    ///< [block columns] block row that had it last
  std::vector<PetscInt> entries; ///< [block columns] its entries there
  std::vector<PetscInt> found;   ///< of one block row
};

/// Counts the blocks of rows [I * size, (I + 1) * size). The size is known to the compiler: it divides each column.
template <int size> PetscErrorCode CountBlockRow(const CsrView &A, PetscInt I, Scratch *s, BsrPlan *plan)
{
  const PetscInt end = std::min<PetscInt>(A.rows - I * size, size) + I * size;

  PetscFunctionBegin;
  s->found.clear();
  for (PetscInt e = A.i[I * size]; e < A.i[end]; e++) {
    const PetscInt J = A.j[e] / size;
    if (s->last[J] != I) {
      s->last[J]    = I;
      s->entries[J] = 0;
      PetscCallCXX(s->found.push_back(J));
    }
    s->entries[J]++;
  }
  plan->blocks += static_cast<PetscCount>(s->found.size());
  for (PetscInt J : s->found) plan->partial += s->entries[J] < size * size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As for dia and ell, but with the slack of a slice or two, so that no tiny matrix is absurd.
bool TooMuchFill(PetscLogDouble stored, const CsrView &A, const Parameters &parameters)
{
  constexpr PetscLogDouble slack = 8192; // entries
  return (stored > parameters.max_padding * A.nonzeros && stored > A.nonzeros + slack) ||
         stored > static_cast<PetscLogDouble>(PETSC_MAX_INT);
}

template <int size> PetscErrorCode CountBlocks(const CsrView &A, BsrPlan *plan)
{
  constexpr PetscInt HEIGHT = BsrLayout::HEIGHT;
  const PetscInt     rows   = (A.rows + size - 1) / size;
  Scratch            scratch;

  PetscFunctionBegin;
  *plan = BsrPlan();
  PetscCallCXX(scratch.last.assign(A.cols / size + 1, -1));
  PetscCallCXX(scratch.entries.resize(A.cols / size + 1));
  plan->size = size;
  for (PetscInt slice = 0; slice < rows; slice += HEIGHT) {
    PetscInt width = 0;
    for (PetscInt I = slice; I < std::min(rows, slice + HEIGHT); I++) {
      PetscCall(CountBlockRow<size>(A, I, &scratch, plan));
      width = std::max(width, static_cast<PetscInt>(scratch.found.size()));
    }
    plan->longest = std::max(plan->longest, width);
    plan->steps += static_cast<PetscCount>(HEIGHT) * width;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Blocks of the rows [first, first + size), which are alike: of equal length, in the same block column first.
template <int size>
PetscErrorCode SampleBlockRow(const CsrView &A, PetscInt first, std::vector<PetscInt> *column, BsrPlan *plan)
{
  const PetscInt *begin = A.j + A.i[first], *end = A.j + A.i[first + 1];
  bool            same = true; // then a row tells of all

  PetscFunctionBegin;
  for (PetscInt r = first + 1; same && r < first + size; r++) same = std::equal(begin, end, A.j + A.i[r]);
  if (!same) end = A.j + A.i[first + size];
  column->clear();
  for (const PetscInt *j = begin; j < end; j++) PetscCallCXX(column->push_back(*j / size));
  if (!std::is_sorted(column->begin(), column->end())) std::sort(column->begin(), column->end());
  for (auto at = column->begin(), next = at; at != column->end(); at = next) {
    next = std::find_if(at, column->end(), [at](PetscInt J) { return J != *at; });
    plan->blocks++;
    plan->partial += next - at < (same ? size : size * size);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int size> PetscErrorCode SampleSize(const CsrView &A, PetscLogDouble value, PetscLogDouble *bytes)
{
  constexpr PetscInt    LONG = 1024; // entries of a row
  const PetscInt        rows = A.rows / size, step = rows / 32 + 1;
  PetscCount            entries = 0;
  std::vector<PetscInt> column; // of the blocks of a block row, one for each entry: few, where counting would clear
                                // an array of all columns
  BsrPlan plan;

  PetscFunctionBegin;
  plan.size = size;
  for (PetscInt I = 0; I < rows; I += step) {
    const PetscInt first = A.i[I * size], length = A.i[I * size + 1] - first, all = A.i[(I + 1) * size] - first;
    bool           alike = length <= LONG;
    for (PetscInt r = I * size + 1; alike && r < (I + 1) * size; r++)
      alike = A.i[r + 1] - A.i[r] == length && (length == 0 || A.j[A.i[r]] / size == A.j[first] / size);
    entries += all;
    if (alike) {
      PetscCall(SampleBlockRow<size>(A, I * size, &column, &plan));
    } else { // no full blocks, or too long to look at: as if each entry had its own
      plan.blocks += all;
      plan.partial += all;
    }
  }
  plan.steps = plan.blocks; // slices were never cut
  *bytes     = entries ? plan.Bytes(Space::Host, value) / static_cast<PetscLogDouble>(entries) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

/// On the device where the rows lie there and their columns ascend.
static PetscErrorCode CountSize(const CsrView &A, int size, BsrPlan *plan)
{
  bool ascending = true;

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i) {
    PetscCall(CountBsr_CUDA(A, size, plan));
    ascending = plan->ascending;
    if (ascending) PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(WithBsrSize(size, [&](auto s) { return CountBlocks<decltype(s)::value>(A, plan); }));
  plan->ascending = ascending;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Counts `size`; makes it the plan if that is better.
static PetscErrorCode TrySize(const CsrView &A, const Parameters &parameters, int size, BsrPlan *plan)
{
  constexpr PetscLogDouble GAIN  = 0.95; // over the matrix's own block size
  const auto               bytes = [&](const BsrPlan &p) {
    const PetscLogDouble all = p.size ? p.Bytes(Space::Device, sizeof(Scalar)) : 1e300;
    return p.size == A.block_size ? GAIN * all : all;
  };
  BsrPlan other;

  PetscFunctionBegin;
  PetscCall(CountSize(A, size, &other));
  const PetscLogDouble stored = static_cast<PetscLogDouble>(other.steps) * size * size;
  if (TooMuchFill(stored, A, parameters)) other.size = 0;
  if (!other.size && (!plan->refused_size || stored < plan->refused)) { // to tell of the one that stores the least
    plan->refused_size = size;
    plan->refused      = stored;
  } else if (other.size && bytes(other) < bytes(*plan)) {
    *plan = other;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ChooseSize(const CsrView &A, const Parameters &parameters, BsrPlan *plan)
{
  constexpr PetscLogDouble NEAR  = 1.15; // a sample does not err by more
  constexpr int            SIZES = BsrLayout::LARGEST + 1;
  PetscLogDouble           sampled[SIZES], least = 1e300;

  PetscFunctionBegin;
  for (int size = BsrLayout::SMALLEST; size < SIZES; size++) {
    if (!A.j) { // no columns to sample: the device counts all sizes
      sampled[size] = least = 0;
      continue;
    }
    PetscCall(
        WithBsrSize(size, [&](auto s) { return SampleSize<decltype(s)::value>(A, sizeof(Scalar), sampled + size); }));
    least = std::min(least, sampled[size]);
  }
  for (bool near : {true, false}) {
    if (plan->size) break; // the others only where none of the near ones will do
    for (int size = BsrLayout::SMALLEST; size < SIZES; size++)
      if (near == (sampled[size] <= NEAR * least)) PetscCall(TrySize(A, parameters, size, plan));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PlanBsr(const CsrView &A, const Parameters &parameters, BsrPlan *plan)
{
  const PetscInt asked = parameters.bsr_block;
  const BsrPlan *kept  = A.found ? A.found->blocks.get() : nullptr;

  PetscFunctionBegin;
  PetscCheck(asked == 0 || (asked >= BsrLayout::SMALLEST && asked <= BsrLayout::LARGEST), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "-mat_sparsegpu_bsr_block %" PetscInt_FMT " must be from %d to %d, or 0", asked,
             BsrLayout::SMALLEST, BsrLayout::LARGEST);
  if (kept && kept->asked == asked && kept->max_padding == parameters.max_padding) {
    *plan = *kept;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *plan = BsrPlan();
  if (asked)
    PetscCall(TrySize(A, parameters, static_cast<int>(asked), plan));
  else
    PetscCall(ChooseSize(A, parameters, plan));
  plan->asked       = asked;
  plan->max_padding = parameters.max_padding;
  if (A.found) PetscCallCXX(A.found->blocks = std::make_shared<BsrPlan>(*plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SampleBsr(const CsrView &A, PetscLogDouble value, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  *bytes = A.j ? 1e300 : 0; // no columns to sample: it may be worth a count
  for (int size = BsrLayout::SMALLEST; A.j && size <= BsrLayout::LARGEST; size++) {
    PetscLogDouble sampled;
    PetscCall(WithBsrSize(size, [&](auto s) { return SampleSize<decltype(s)::value>(A, value, &sampled); }));
    *bytes = std::min(*bytes, sampled);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
