/// bsr's arrays: blocks found and put into slices on the host, or on the device by convert.cu.
#include "mat/formats/bsr/bsr.hpp"
#include <algorithm>
#include "device/backend_call.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

FormatEntry RegisterFormat_bsr()
{
  return EntryOf<Bsr, BsrOptions>();
}

/// The blocks in CSR, and which entries each has; and whether columns ascend.
PetscErrorCode Bsr::FindBlocks(const CsrView &A, std::vector<unsigned long long> *mask)
{
  const PetscInt        size = layout_.size, block_rows = (A.rows + size - 1) / size;
  std::vector<PetscInt> last, place; // of each block column: the block row that had it last, and where its block is

  PetscFunctionBegin;
  ascending_ = true;
  block_begin_.clear();
  block_column_.clear();
  mask->clear();
  PetscCallCXX(last.assign(A.cols / size + 1, -1));
  PetscCallCXX(place.resize(A.cols / size + 1));
  PetscCallCXX(block_begin_.reserve(block_rows + 1));
  PetscCallCXX(block_begin_.push_back(0));
  for (PetscInt I = 0; I < block_rows; I++) {
    const PetscInt begin = I * size, end = std::min<PetscInt>(size, A.rows - begin) + begin;
    const size_t   first = block_column_.size();
    for (PetscInt e = A.i[begin]; e < A.i[end]; e++) {
      const PetscInt J = A.j[e] / size;
      if (last[J] == I) continue;
      last[J] = I;
      PetscCallCXX(block_column_.push_back(J));
    }
    std::sort(block_column_.begin() + static_cast<std::ptrdiff_t>(first), block_column_.end());
    for (size_t k = first; k < block_column_.size(); k++) place[block_column_[k]] = static_cast<PetscInt>(k);
    PetscCallCXX(mask->resize(block_column_.size(), 0));
    for (PetscInt r = begin; r < end; r++)
      for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
        const PetscInt J = A.j[e] / size;
        (*mask)[place[J]] |= 1ull << ((r - begin) * size + A.j[e] - J * size);
        ascending_ &= e == A.i[r] || A.j[e - 1] < A.j[e];
      }
    block_begin_.push_back(static_cast<PetscInt>(block_column_.size()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Puts the blocks where the slices have them.
PetscErrorCode Bsr::Arrange(const std::vector<unsigned long long> &mask)
{
  const PetscInt                  height = layout_.height, block_rows = static_cast<PetscInt>(block_begin_.size()) - 1;
  const unsigned long long        full   = (1ull << (layout_.size * layout_.size)) - 1;
  const auto                      length = [&](PetscInt I) { return block_begin_[I + 1] - block_begin_[I]; };
  std::vector<PetscInt>           j, partial_column;
  std::vector<unsigned long long> partial_mask;

  PetscFunctionBegin;
  layout_.slices = (block_rows + height - 1) / height;
  PetscCallCXX(slice_begin_.assign(layout_.slices + 1, 0));
  for (PetscInt s = 0; s < layout_.slices; s++) {
    PetscInt width = 0;
    for (PetscInt I = s * height; I < std::min(block_rows, (s + 1) * height); I++) width = std::max(width, length(I));
    slice_begin_[s + 1] = slice_begin_[s] + width;
  }
  PetscCallCXX(j.assign(static_cast<size_t>(height) * slice_begin_[layout_.slices], BsrLayout::NONE));
  for (PetscInt s = 0; s < layout_.slices; s++)
    for (PetscInt k = 0; k < slice_begin_[s + 1] - slice_begin_[s]; k++)
      for (PetscInt I = s * height; I < std::min(block_rows, (s + 1) * height); I++) {
        if (k >= length(I)) continue;
        const PetscInt block = block_begin_[I] + k;
        PetscInt      &to    = j[(slice_begin_[s] + k) * height + I - s * height];
        to                   = block_column_[block];
        if (mask[block] == full) continue;
        to = -2 - static_cast<PetscInt>(partial_column.size());
        PetscCallCXX(partial_column.push_back(block_column_[block]));
        PetscCallCXX(partial_mask.push_back(mask[block]));
      }
  arrays_.blocks = static_cast<PetscCount>(block_column_.size());
  PetscCall(arrays_.begin.Take(std::vector<PetscInt>(slice_begin_), space_));
  PetscCall(arrays_.j.Take(std::move(j), space_));
  PetscCall(arrays_.partial_column.Take(std::move(partial_column), space_));
  PetscCall(arrays_.partial_mask.Take(std::move(partial_mask), space_));
  Lay();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sets the layout and the sizes that follow from the arrays.
void Bsr::Lay()
{
  const BsrArrays &a     = arrays_;
  layout_.begin          = a.begin.data();
  layout_.j              = a.j.data();
  layout_.partial_column = a.partial_column.data();
  layout_.partial_mask   = a.partial_mask.data();
  stored_                = static_cast<PetscInt>(a.j.size()) * layout_.size * layout_.size;
  pattern_bytes_ =
      static_cast<PetscLogDouble>(a.begin.bytes()) + a.j.bytes() + a.partial_column.bytes() + a.partial_mask.bytes();
}

/// The blocks of the plan, and the layout's sizes.
PetscErrorCode Bsr::Begin(Plan *plan, BsrBlocks *blocks)
{
  PetscFunctionBegin;
  PetscCall(static_cast<BsrPlan *>(plan)->Take(blocks));
  PetscCheck(blocks->size, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Fits() took a matrix that no size of block suits");
  layout_        = {};
  layout_.rows   = plan->rows().rows;
  layout_.size   = blocks->size;
  layout_.height = space_ == Space::Host ? 1 : BsrLayout::HEIGHT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bsr::BuildOnHost(const CsrView &A)
{
  std::vector<unsigned long long> mask;

  PetscFunctionBegin;
  PetscCall(FindBlocks(A, &mask));
  PetscCall(Arrange(mask));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bsr::BuildPattern(Plan *plan)
{
  BsrBlocks blocks;

  PetscFunctionBegin;
  PetscCall(Begin(plan, &blocks));
  PetscCall(BuildOnHost(plan->rows()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SPARSEGPU_HAVE_CUDA)
PetscErrorCode Bsr::BuildPatternOnDevice(Plan *plan)
{
  const CsrView &A = plan->rows();
  BsrBlocks      blocks;

  PetscFunctionBegin;
  PetscCall(Begin(plan, &blocks));
  if (!blocks.ascending) { // converted on the host, now and from now on
    PetscCall(BuildOnHost(A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!blocks.cut) PetscCall(CountBsr_CUDA(A, blocks.size, &blocks)); // taken already
  ascending_     = true;
  arrays_.blocks = blocks.blocks;
  PetscCall(BuildBsr_CUDA(A, std::move(*blocks.cut), &layout_, &arrays_));
  Lay();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bsr::SlotsOnDevice(const CsrView &A, PetscInt *slot, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(BsrSlots_CUDA(layout_, A.device, slot, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bsr::PlaceOnDevice(const CsrView &A, Scalar *values, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(BsrPlace_CUDA(layout_, A.device, values, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

void Bsr::Slots(const CsrView &A, PetscInt *slot) const
{
  const PetscInt size = layout_.size, height = layout_.height;
  for (PetscInt r = 0; r < A.rows; r++) {
    const PetscInt I = r / size, s = I / height, to = I % height * size + r % size;
    PetscInt       k = block_begin_[I];
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      const PetscInt J = A.j[e] / size;
      if (J < block_column_[k]) k = block_begin_[I]; // where columns do not ascend
      while (block_column_[k] < J) k++;
      slot[e] = ((slice_begin_[s] + k - block_begin_[I]) * size + A.j[e] - J * size) * height * size + to;
    }
  }
}

PetscErrorCode Bsr::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  const ValueLayout a = EncodedLayout();
  PetscCall(SPARSEGPU_LAUNCH(space_, BsrMult_CUDA(layout_, a, x, {y, z}, stream), BsrMult_Kokkos(layout_, a, x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bsr::MultInto(const Scalar *x, const ProductTarget &to, const comm::DeviceExchange *exchange,
                             Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, BsrMult_CUDA(layout_, EncodedLayout(), x, to, stream, exchange),
                             Format::MultInto(x, to, exchange, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bsr::MultDots(const ProductDots &dots, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, BsrMultDots_CUDA(layout_, EncodedLayout(), dots, stream),
                             Format::MultDots(dots, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bsr::MultDense(const DenseColumns &d, DeviceMemory *scratch, Stream stream)
{
  PetscFunctionBegin;
  const ValueLayout a = EncodedLayout();
  PetscCall(SPARSEGPU_LAUNCH(space_, BsrMultDense_CUDA(layout_, a, cols_, d, scratch, stream),
                             BsrMultDense_Kokkos(layout_, a, d)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Bsr::Details() const
{
  char text[256];
  PetscCallAbort(PETSC_COMM_SELF,
                 PetscSNPrintf(text, sizeof(text), "%s values, %lld blocks of %d x %d, %.1f %% of them partial",
                               ValueCodecNames[static_cast<int>(codec()) + 1], static_cast<long long>(arrays_.blocks),
                               layout_.size, layout_.size,
                               100.0 * static_cast<double>(arrays_.partial_column.size()) /
                                   std::max(1.0, static_cast<double>(arrays_.blocks))));
  return text;
}

} // namespace sparsegpu::formats
