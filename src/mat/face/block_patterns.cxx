/// Entries are counted and placed where the rows lie; the host sees the columns of other processes alone.
#include "mat/face/block_patterns.hpp"
#include "mat/face/numbers.hpp"
#include "mat/rows/running_sum.hpp"
#include "mat/rows/value_operations.hpp"

namespace sparsegpu::face
{

PetscErrorCode SplitPattern(Space space, const Array<PetscInt> &i, const Array<PetscInt> &j, PetscInt begin,
                            PetscInt end, BlockPatterns *patterns)
{
  const PetscInt rows = static_cast<PetscInt>(i.size()) - 1;
  PetscInt       total;

  PetscFunctionBegin;
  for (Array<PetscInt> &of_block : patterns->i) PetscCall(of_block.Allocate(i.size(), space));
  PetscInt *const own_i = patterns->i[0].data(), *const others_i = patterns->i[1].data();
  PetscCall(
      rows::values::ForEach(space, rows, rows::values::CountParts{begin, end, i.data(), j.data(), own_i, others_i}));
  for (int b = 0; b < 2; b++) {
    PetscCall(rows::RunningSumIn(space, rows, &patterns->i[b], &total));
    PetscCall(patterns->j[b].Allocate(static_cast<size_t>(total), space));
  }
  PetscCall(rows::values::ForEach(space, rows,
                                  rows::values::SplitRows{begin, end, i.data(), j.data(), own_i, others_i,
                                                          patterns->j[0].data(), patterns->j[1].data()}));
  Array<PetscInt> *const others = &patterns->j[1];
  PetscCall(Bring(WhereNumbersGo(space, others->size()), others));
  PetscCall(NumberLocally(0, 0, {}, others, &patterns->ghosts));
  PetscCall(Bring(space, others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KeepUsed(Space space, std::vector<PetscInt> &&given, BlockPatterns *patterns)
{
  Array<PetscInt> *const j       = &patterns->j[1];
  const PetscCount       entries = static_cast<PetscCount>(j->size());
  std::vector<PetscInt>  flags;
  Array<PetscInt>        used;

  PetscFunctionBegin;
  patterns->ghosts.clear();
  if (given.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(flags.assign(given.size(), 0));
  PetscCall(used.Copy(flags.data(), flags.size(), space));
  PetscCall(rows::values::ForEach(space, entries, rows::values::MarkUsed{j->data(), used.data()}));
  PetscCall(used.ToHost(flags.data()));
  for (size_t k = 0; k < given.size(); k++) {
    if (!flags[k]) continue;
    flags[k] = static_cast<PetscInt>(patterns->ghosts.size());
    PetscCallCXX(patterns->ghosts.push_back(given[k]));
  }
  if (patterns->ghosts.size() == given.size()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(used.Take(std::move(flags), space));
  PetscCall(rows::values::ForEach(space, entries, rows::values::GatherIndices{j->data(), used.data(), j->data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
