/// Boxes of a grid and their colours, which need no graph of blocks: one pass over the entries tells whether they lead
/// to neighbouring boxes alone.
#include "pc/ordering/boxes.hpp"
#include "pc/ordering/in_parts.hpp"
#include "pc/ordering/keys.hpp"
#include "pc/ordering/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::ordering
{

namespace
{
/// The shortest side of the box grows first, so that chains of rows in it are short and few entries leave it. Then
/// boxes share each side of the grid evenly.
void SizeBoxes(PetscInt most, Boxes *boxes)
{
  PetscInt nodes = 1;
  for (PetscInt &size : boxes->size) size = 1;
  for (;;) {
    int shortest = -1;
    for (int d = 0; d < DIMENSIONS; d++) {
      const bool fits = boxes->size[d] < boxes->sides[d] && nodes / boxes->size[d] <= most - nodes;
      if (fits && (shortest < 0 || boxes->size[d] < boxes->size[shortest])) shortest = d;
    }
    if (shortest < 0) break;
    nodes += nodes / boxes->size[shortest];
    boxes->size[shortest]++;
  }
  for (int d = 0; d < DIMENSIONS; d++) {
    boxes->count[d] = (boxes->sides[d] - 1) / boxes->size[d] + 1;
    boxes->size[d]  = (boxes->sides[d] - 1) / boxes->count[d] + 1;
  }
}

constexpr PetscInt PARTS = 8; ///< of the rows, for as many threads of the host at most

/// make(p) of all rows of part p; the device has all of them in part 0. Kokkos may have one thread on the host.
template <class Make> PetscErrorCode ForRows(const RowPattern &A, int threads, const Make &make)
{
  PetscFunctionBegin;
  if (A.space == Space::Device) {
    PetscCall(ForEach(A.space, A.rows, make(0)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCXX(InParts(PARTS, threads, [&](PetscInt p) {
    const auto       operation = make(p);
    const PetscCount end       = static_cast<PetscCount>(A.rows) * (p + 1) / PARTS;
    for (PetscCount r = static_cast<PetscCount>(A.rows) * p / PARTS; r < end; r++) operation(r);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KeysOfBoxes(const RowPattern &A, PetscInt block, int threads, RowKeys *keys, bool *found)
{
  Boxes           boxes{};
  Array<BoxPlace> place;
  Array<int>      flags;
  int             unfit[2 * PARTS] = {}; // whether an entry is far, and diagonal, of each part
  bool            far = false, diagonal = false;

  PetscFunctionBegin;
  *found = block >= A.unknowns;
  if (*found) PetscCall(FindGrid(A, boxes.sides, found));
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  boxes.unknowns = A.unknowns;
  SizeBoxes(block / A.unknowns, &boxes);
  for (const PetscInt count : boxes.count) *found = *found && count < Boxes::MOST;
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(place.Allocate(static_cast<size_t>(A.rows), A.space));
  PetscCall(flags.Copy(unfit, 2 * PARTS, A.space));
  PetscCall(ForRows(A, threads, [&](PetscInt) { return PlaceRows{boxes, place.data()}; }));
  PetscCall(ForRows(A, threads, [&](PetscInt p) {
    return CheckBoxes{A.i, A.j, place.data(), flags.data() + 2 * p, flags.data() + 2 * p + 1};
  }));
  PetscCall(flags.ToHost(unfit));
  for (PetscInt p = 0; p < PARTS; p++) {
    far      = far || unfit[2 * p];
    diagonal = diagonal || unfit[2 * p + 1];
  }
  *found = !far;
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  const bool alternate = !diagonal;
  int        several   = 0; // directions with more than one box
  for (const PetscInt count : boxes.count) several += count > 1;
  PetscCall(keys->Allocate(A.space, A.rows, PetscInt(1) << (alternate && several > 0 ? 1 : several),
                           boxes.count[0] * boxes.count[1] * boxes.count[2]));
  PetscCall(ForRows(A, threads, [&](PetscInt) {
    return KeyOfBox{boxes, alternate, keys->block_bits, place.data(), keys->key.data()};
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::ordering
