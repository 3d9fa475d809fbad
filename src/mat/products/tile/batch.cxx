/// A batch of small bitmap matrices: sizes, storage and the choice of a backend.
#include <algorithm>
#include "device/backend_call.hpp"
#include "mat/products/tile/tile.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::products
{

static PetscInt SizeOf(const TileShape &s)
{
  return std::max(s.rows, s.cols);
}

PetscInt TileBatch::Largest() const
{
  return classes_.empty() ? 0 : classes_.back().size;
}

/// Tiles by classes of size: a launch keeps room in fast memory for the largest of its tiles.
PetscErrorCode TileBatch::Sort()
{
  constexpr PetscInt limits[] = {8, 16, 32, 64, 96, 128, 144}; // as pc/tile has kernels for; the last two share one
  const auto         class_of = [&](PetscInt t) {
    return std::lower_bound(std::begin(limits), std::end(limits), SizeOf(pattern_.shape[t])) - std::begin(limits);
  };
  std::vector<PetscInt> order;

  PetscFunctionBegin;
  classes_.clear();
  PetscCallCXX(order.resize(pattern_.shape.size()));
  for (PetscInt t = 0; t < pattern_.Count(); t++) order[t] = t;
  PetscCallCXX(
      std::stable_sort(order.begin(), order.end(), [&](PetscInt s, PetscInt t) { return class_of(s) < class_of(t); }));
  for (PetscInt k = 0; k < pattern_.Count(); k++) {
    if (k == 0 || class_of(order[k]) != class_of(order[k - 1])) PetscCallCXX(classes_.push_back(TileClass{k, k, 0}));
    classes_.back().end  = k + 1;
    classes_.back().size = std::max(classes_.back().size, SizeOf(pattern_.shape[order[k]]));
  }
  PetscCall(order_.Take(std::move(order), space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileBatch::Build(TilePattern &&pattern, Space space, int bits)
{
  std::vector<PetscInt> start;
  PetscCount            values  = 0;
  PetscInt              longest = 0;

  PetscFunctionBegin;
  space_   = space;
  pattern_ = std::move(pattern);
  for (PetscInt t = 0; t < pattern_.Count(); t++) {
    TileShape *shape = &pattern_.shape[t];
    PetscInt   count = 0;
    longest          = std::max(longest, pattern_.Length(t));
    shape->start     = static_cast<PetscCount>(start.size());
    shape->value     = values;
    PetscCallCXX(start.push_back(0));
    for (PetscInt l = 0; l < pattern_.Lines(t); l++) {
      for (size_t w = 0; w < pattern_.Words(t); w++) count += CountBits(pattern_.Line(t, l)[w]);
      PetscCallCXX(start.push_back(count));
    }
    values += count;
  }
  bits_ = bits ? bits : BitmapBits(longest);
  PetscCheck(bits_ == 64 || (bits_ == 32 && longest <= 32), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Tiles with lines of %" PetscInt_FMT " places in words of %d bits: of 64, or of 32 up to 32 places",
             longest, bits_);
  PetscCall(Sort());
  PetscCall(start_.Take(std::move(start), space));
  PetscCall(shape_.Take(std::vector<TileShape>(pattern_.shape), space));
  flags32_ = Array<Word32>();
  flags64_ = Array<Word64>();
  if (bits_ == 32) // one word a line, whatever its bits
    PetscCall(flags32_.Take(std::vector<Word32>(pattern_.flags.begin(), pattern_.flags.end()), space));
  else
    PetscCall(flags64_.Take(std::vector<Word64>(pattern_.flags), space));
  PetscCall(values_.Allocate(static_cast<size_t>(values), space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileBatch::SetValues(const std::vector<Scalar> &values)
{
  PetscFunctionBegin;
  PetscCheck(values.size() == Entries(), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%zu values for %zu entries",
             values.size(), Entries());
  PetscCall(values_.Take(std::vector<Scalar>(values), space_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileBatch::GetValues(std::vector<Scalar> *values) const
{
  Stream stream;

  PetscFunctionBegin;
  PetscCallCXX(values->resize(Entries()));
  if (space_ == Space::Host) {
    std::copy(values_.data(), values_.data() + Entries(), values->begin());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceCopyOut(values->data(), values_.data(), values_.bytes(), stream));
  PetscCall(DeviceSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TileLayout TileBatch::Layout()
{
  const void *flags = bits_ == 32 ? static_cast<const void *>(flags32_.data()) : flags64_.data();
  return TileLayout{pattern_.Count(), pattern_.by_columns, bits_, order_.data(),
                    shape_.data(),    start_.data(),       flags, values_.data()};
}

static PetscErrorCode CheckTogether(const TileLayout &A, const TileLayout &B, const TileLayout &C)
{
  PetscFunctionBegin;
  PetscCheck(A.count == C.count && B.count == C.count, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Batches of %" PetscInt_FMT ", %" PetscInt_FMT " and %" PetscInt_FMT " tiles", A.count, B.count, C.count);
  PetscCheck(A.bits == C.bits && B.bits == C.bits, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "Batches with words of %d, %d and %d bits", A.bits, B.bits, C.bits);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileAdd(TileBatch &A, TileBatch &B, bool subtract, TileBatch *C, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(CheckTogether(A.Layout(), B.Layout(), C->Layout()));
  PetscCall(SPARSEGPU_LAUNCH(C->space(), TileAdd_CUDA(A.Layout(), B.Layout(), subtract, C->Layout(), stream),
                             TileAdd_Kokkos(A.Layout(), B.Layout(), subtract, C->Layout())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TileMultiply(TileBatch &A, TileBatch &B, TileBatch *C, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(CheckTogether(A.Layout(), B.Layout(), C->Layout()));
  PetscCall(SPARSEGPU_LAUNCH(C->space(), TileMultiply_CUDA(A.Layout(), B.Layout(), C->Layout(), stream),
                             TileMultiply_Kokkos(A.Layout(), B.Layout(), C->Layout())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::products
