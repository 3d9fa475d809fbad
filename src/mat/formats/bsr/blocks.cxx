/// Chooses the block size of a pattern: counts the blocks of each candidate size, or samples them.
#include <algorithm>
#include "mat/formats/bsr/bsr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
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
template <int size> PetscErrorCode CountBlockRow(const CsrView &A, PetscInt I, Scratch *s, BsrBlocks *blocks)
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
  blocks->blocks += static_cast<PetscCount>(s->found.size());
  for (PetscInt J : s->found) blocks->partial += s->entries[J] < size * size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As for dia and ell, but with the slack of a slice or two, so that no tiny matrix is refused.
bool TooMuchFill(PetscLogDouble stored, const CsrView &A, PetscReal max_padding)
{
  constexpr PetscLogDouble slack = 8192; // entries
  return (stored > max_padding * A.nonzeros && stored > A.nonzeros + slack) ||
         stored > static_cast<PetscLogDouble>(PETSC_MAX_INT);
}

template <int size> PetscErrorCode CountBlocks(const CsrView &A, BsrBlocks *blocks)
{
  constexpr PetscInt HEIGHT = BsrLayout::HEIGHT;
  const PetscInt     rows   = (A.rows + size - 1) / size;
  Scratch            scratch;

  PetscFunctionBegin;
  *blocks = BsrBlocks();
  PetscCallCXX(scratch.last.assign(A.cols / size + 1, -1));
  PetscCallCXX(scratch.entries.resize(A.cols / size + 1));
  blocks->size = size;
  for (PetscInt slice = 0; slice < rows; slice += HEIGHT) {
    PetscInt width = 0;
    for (PetscInt I = slice; I < std::min(rows, slice + HEIGHT); I++) {
      PetscCall(CountBlockRow<size>(A, I, &scratch, blocks));
      width = std::max(width, static_cast<PetscInt>(scratch.found.size()));
    }
    blocks->longest = std::max(blocks->longest, width);
    blocks->steps += static_cast<PetscCount>(HEIGHT) * width;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Blocks of the rows [first, first + size), where they are alike: of equal length and with the same first block
/// column.
template <int size>
PetscErrorCode SampleBlockRow(const CsrView &A, PetscInt first, std::vector<PetscInt> *column, BsrBlocks *blocks)
{
  const PetscInt *begin = A.j + A.i[first], *end = A.j + A.i[first + 1];
  bool            same = true; // then one row gives the columns of all

  PetscFunctionBegin;
  for (PetscInt r = first + 1; same && r < first + size; r++) same = std::equal(begin, end, A.j + A.i[r]);
  if (!same) end = A.j + A.i[first + size];
  column->clear();
  for (const PetscInt *j = begin; j < end; j++) PetscCallCXX(column->push_back(*j / size));
  if (!std::is_sorted(column->begin(), column->end())) std::sort(column->begin(), column->end());
  for (auto at = column->begin(), next = at; at != column->end(); at = next) {
    next = std::find_if(at, column->end(), [at](PetscInt J) { return J != *at; });
    blocks->blocks++;
    blocks->partial += next - at < (same ? size : size * size);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int size> PetscErrorCode SampleSize(const CsrView &A, PetscLogDouble value, PetscLogDouble *bytes)
{
  const PetscInt        rows = A.rows / size, step = rows / BsrSamples::COUNT + 1;
  PetscCount            entries = 0;
  std::vector<PetscInt> column; // of the blocks of a block row, one for each entry: few, where counting would clear
                                // an array of all columns
  BsrBlocks blocks;

  PetscFunctionBegin;
  blocks.size = size;
  for (PetscInt I = 0; I < rows; I += step) {
    const PetscInt first = A.i[I * size], length = A.i[I * size + 1] - first, all = A.i[(I + 1) * size] - first;
    bool           alike = length <= BsrSamples::LONG;
    for (PetscInt r = I * size + 1; alike && r < (I + 1) * size; r++)
      alike = A.i[r + 1] - A.i[r] == length && (length == 0 || A.j[A.i[r]] / size == A.j[first] / size);
    entries += all;
    if (alike) {
      PetscCall(SampleBlockRow<size>(A, I * size, &column, &blocks));
    } else { // no full blocks, or too long to inspect: one block per entry
      blocks.blocks += all;
      blocks.partial += all;
    }
  }
  blocks.steps = blocks.blocks; // slices were never cut
  *bytes       = entries ? blocks.Bytes(Space::Host, value) / static_cast<PetscLogDouble>(entries) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

/// On the device where the rows lie there and their columns ascend.
static PetscErrorCode CountSize(const CsrView &A, int size, BsrBlocks *blocks)
{
  bool ascending = true;

  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i) {
    PetscCall(CountBsr_CUDA(A, size, blocks));
    ascending = blocks->ascending;
    if (!ascending && !A.j) blocks->size = 0; // the host, which would count them, has no columns
    if (ascending || !A.j) PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(WithBsrSize(size, [&](auto s) { return CountBlocks<decltype(s)::value>(A, blocks); }));
  blocks->ascending = ascending;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Counts `size`; makes it the best if it is better.
static PetscErrorCode TrySize(const CsrView &A, PetscReal max_padding, int size, BsrBlocks *best)
{
  constexpr PetscLogDouble GAIN  = 0.95; // over the matrix's own block size
  const auto               bytes = [&](const BsrBlocks &p) {
    const PetscLogDouble all = p.size ? p.Bytes(Space::Device, sizeof(Scalar)) : 1e300;
    return p.size == A.block_size ? GAIN * all : all;
  };
  BsrBlocks other;

  PetscFunctionBegin;
  PetscCall(CountSize(A, size, &other));
  const PetscLogDouble stored = static_cast<PetscLogDouble>(other.steps) * size * size;
  if (TooMuchFill(stored, A, max_padding)) other.size = 0;
  if (!other.size && (!best->refused_size || stored < best->refused)) { // the message names the smallest
    best->refused_size = size;
    best->refused      = stored;
  } else if (other.size && bytes(other) < bytes(*best)) {
    *best = std::move(other);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ChooseSize(const CsrView &A, PetscReal max_padding, BsrSamples *samples, BsrBlocks *best)
{
  constexpr PetscLogDouble NEAR  = 1.15; // a sample does not err by more
  constexpr int            SIZES = BsrLayout::LARGEST + 1;
  PetscLogDouble           sampled[SIZES], least = 1e300;
  CsrView                  view;

  PetscFunctionBegin;
  PetscCall(samples->Bring(A, &view));
  for (int size = BsrLayout::SMALLEST; size < SIZES; size++) {
    PetscCall(WithBsrSize(
        size, [&](auto s) { return SampleSize<decltype(s)::value>(view, sizeof(Scalar), sampled + size); }));
    least = std::min(least, sampled[size]);
  }
  for (bool near : {true, false}) {
    if (best->size) break; // the other sizes are counted only if no near one fits
    for (int size = BsrLayout::SMALLEST; size < SIZES; size++)
      if (near == (sampled[size] <= NEAR * least)) PetscCall(TrySize(A, max_padding, size, best));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindBsrBlocks(const CsrView &A, PetscInt asked, PetscReal max_padding, BsrSamples *samples,
                             BsrBlocks *blocks)
{
  PetscFunctionBegin;
  *blocks = BsrBlocks();
  if (asked)
    PetscCall(TrySize(A, max_padding, static_cast<int>(asked), blocks));
  else
    PetscCall(ChooseSize(A, max_padding, samples, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SampleBsr(const CsrView &A, PetscLogDouble value, BsrSamples *samples, PetscLogDouble *bytes)
{
  CsrView view;

  PetscFunctionBegin;
  *bytes = 1e300;
  PetscCall(samples->Bring(A, &view));
  for (int size = BsrLayout::SMALLEST; size <= BsrLayout::LARGEST; size++) {
    PetscLogDouble sampled;
    PetscCall(WithBsrSize(size, [&](auto s) { return SampleSize<decltype(s)::value>(view, value, &sampled); }));
    *bytes = std::min(*bytes, sampled);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
