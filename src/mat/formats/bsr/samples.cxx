/// Of a matrix whose pattern is on the device alone the samples come to the host in one piece.
#include "mat/formats/bsr/samples.hpp"
#include <algorithm>
#include "mat/formats/bsr/bsr.hpp"
#include "mat/rows/value_operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

/// take(first, end): the rows [first, end) of each block row that is sampled.
template <class Take> static void EachSample(const CsrView &A, const Take &take)
{
  for (PetscInt size = BsrLayout::SMALLEST; size <= BsrLayout::LARGEST; size++)
    for (PetscInt I = 0, rows = A.rows / size; I < rows; I += rows / BsrSamples::COUNT + 1)
      take(I * size, (I + 1) * size);
}

/// (*to)[k] = from[k] of the device for each k of the ranges; the others of `size` are not set.
PetscErrorCode BsrSamples::Gather(const std::vector<Range> &ranges, const PetscInt *from, size_t size, Room *to)
{
  std::vector<PetscInt> begin, offset, found;
  Array<PetscInt>       begin_there, offset_there, found_there;
  PetscInt              all = 0;

  Room room;

  PetscFunctionBegin;
  PetscCallCXX(room.reset(new PetscInt[size])); // pages that nobody touches cost nothing
  for (const Range &range : ranges) {
    PetscCallCXX(begin.push_back(range.begin));
    PetscCallCXX(offset.push_back(all));
    all += range.count;
  }
  PetscCallCXX(offset.push_back(all));
  PetscCall(begin_there.Copy(begin.data(), begin.size(), Space::Device));
  PetscCall(offset_there.Copy(offset.data(), offset.size(), Space::Device));
  PetscCall(found_there.Allocate(static_cast<size_t>(all), Space::Device));
  PetscCall(values::ForEach(Space::Device, all,
                            values::GatherRanges{static_cast<PetscInt>(ranges.size()), offset_there.data(),
                                                 begin_there.data(), from, found_there.data()}));
  PetscCallCXX(found.resize(static_cast<size_t>(all)));
  PetscCall(found_there.ToHost(found.data()));
  for (size_t r = 0; r < ranges.size(); r++)
    std::copy_n(found.data() + offset[r], ranges[r].count, room.get() + ranges[r].begin);
  *to = std::move(room); // what a failure left is no sample
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrSamples::Bring(const CsrView &A, CsrView *view)
{
  constexpr PetscInt MOST = LONG * BsrLayout::LARGEST; // entries: no sample reads more
  std::vector<Range> ranges;

  PetscFunctionBegin;
  *view = A;
  if (A.j || !A.device.i) PetscFunctionReturn(PETSC_SUCCESS);
  if (!A.i && !i_) {
    PetscCallCXX(EachSample(A, [&](PetscInt first, PetscInt end) { ranges.push_back(Range{first, end - first + 1}); }));
    PetscCall(Gather(ranges, A.device.i, static_cast<size_t>(A.rows) + 1, &i_));
  }
  if (!A.i) view->i = i_.get();
  if (!j_) {
    ranges.clear();
    PetscCallCXX(EachSample(A, [&](PetscInt first, PetscInt end) {
      const PetscInt begin = view->i[first];
      ranges.push_back(Range{begin, std::min(view->i[end] - begin, MOST)});
    }));
    PetscCall(Gather(ranges, A.device.j, static_cast<size_t>(A.nonzeros), &j_));
  }
  view->j = j_.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
