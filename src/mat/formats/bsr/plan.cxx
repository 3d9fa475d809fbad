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

template <int size> PetscErrorCode CountBlocks(const CsrView &A, const Parameters &parameters, BsrPlan *plan)
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
  if (TooMuchFill(static_cast<PetscLogDouble>(plan->steps) * size * size, A, parameters)) plan->size = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int size> PetscErrorCode SampleSize(const CsrView &A, PetscLogDouble value, PetscLogDouble *bytes)
{
  const PetscInt rows = A.rows / size, step = rows / 256 + 1;
  PetscCount     entries = 0;
  Scratch        scratch;
  BsrPlan        plan;

  PetscFunctionBegin;
  PetscCallCXX(scratch.last.assign(A.cols / size + 1, -1));
  PetscCallCXX(scratch.entries.resize(A.cols / size + 1));
  plan.size = size;
  for (PetscInt I = 0; I < rows; I += step) {
    PetscCall(CountBlockRow<size>(A, I, &scratch, &plan));
    entries += A.i[(I + 1) * size] - A.i[I * size];
  }
  if (entries) *bytes = std::min(*bytes, plan.Bytes(Space::Host, value) / static_cast<PetscLogDouble>(entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Calls function(std::integral_constant<int, size>) for a size that is known only now.
template <class Function> PetscErrorCode WithSize(int size, Function &&function)
{
  switch (size) {
  case 2: return function(std::integral_constant<int, 2>());
  case 3: return function(std::integral_constant<int, 3>());
  case 4: return function(std::integral_constant<int, 4>());
  case 5: return function(std::integral_constant<int, 5>());
  default: return function(std::integral_constant<int, 6>());
  }
}

} // namespace

PetscErrorCode PlanBsr(const CsrView &A, const Parameters &parameters, BsrPlan *plan)
{
  constexpr PetscLogDouble GAIN  = 0.95; // over the matrix's own block size
  const PetscInt           asked = parameters.bsr_block;
  const auto     bytes = [](const BsrPlan &p) { return p.size ? p.Bytes(Space::Device, sizeof(Scalar)) : 1e300; };
  PetscLogDouble least = 1e300;

  PetscFunctionBegin;
  PetscCheck(asked == 0 || (asked >= BsrLayout::SMALLEST && asked <= BsrLayout::LARGEST), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "-mat_sparsegpu_bsr_block %" PetscInt_FMT " must be from %d to %d, or 0", asked,
             BsrLayout::SMALLEST, BsrLayout::LARGEST);
  *plan = BsrPlan();
  for (int size = BsrLayout::SMALLEST; size <= BsrLayout::LARGEST; size++) {
    BsrPlan other;
    if (asked && asked != size) continue;
    PetscCall(WithSize(size, [&](auto s) { return CountBlocks<decltype(s)::value>(A, parameters, &other); }));
    if (!other.size) { // tell of the one that would store the fewest
      const PetscLogDouble stored = static_cast<PetscLogDouble>(other.steps) * size * size;
      if (stored < least) {
        least              = stored;
        plan->refused_size = size;
        plan->refused      = stored;
      }
      continue;
    }
    const bool own = size == A.block_size, against = plan->size == A.block_size;
    if (bytes(other) * (own ? GAIN : 1) < bytes(*plan) * (against ? GAIN : 1)) {
      other.refused_size = plan->refused_size;
      other.refused      = plan->refused;
      *plan              = other;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SampleBsr(const CsrView &A, PetscLogDouble value, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  *bytes = 1e300;
  for (int size = BsrLayout::SMALLEST; size <= BsrLayout::LARGEST; size++)
    PetscCall(WithSize(size, [&](auto s) { return SampleSize<decltype(s)::value>(A, value, bytes); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
