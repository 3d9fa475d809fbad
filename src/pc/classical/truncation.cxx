/// On the device the product is computed as any other, and its rows are looked at twice. On the host one pass over the
/// rows of the factors does all, with a table of the places that columns have in the present row.
#include "pc/classical/truncation.hpp"
#include "mat/rows/running_sum.hpp"
#include "pc/classical/operations.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::classical
{

namespace
{
/// A row of the product: its columns in the order in which they are met.
class RowOfProduct
{
public:
  PetscErrorCode Begin(PetscInt columns)
  {
    PetscFunctionBegin;
    PetscCallCXX(place_.assign(static_cast<size_t>(columns), -1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void Compute(const CsrArrays &left, const CsrArrays &right, PetscInt row)
  {
    for (const PetscInt column : j_) place_[static_cast<size_t>(column)] = -1;
    j_.clear();
    a_.clear();
    for (PetscInt e = left.i[row]; e < left.i[row + 1]; e++)
      for (PetscInt k = right.i[left.j[e]]; k < right.i[left.j[e] + 1]; k++) {
        PetscInt *const place = &place_[static_cast<size_t>(right.j[k])];
        if (*place < 0) {
          *place = static_cast<PetscInt>(j_.size());
          j_.push_back(right.j[k]);
          a_.push_back(Scalar(0));
        }
        a_[static_cast<size_t>(*place)] += left.a[e] * right.a[k];
      }
    ends_[1] = static_cast<PetscInt>(j_.size());
  }
  Factors View() const { return Factors{1, ends_, j_.data(), a_.data()}; }

private:
  std::vector<PetscInt> place_, j_;
  std::vector<Scalar>   a_;
  PetscInt              ends_[2] = {0, 0};
};

PetscErrorCode OnHost(const SparseRows &left, const SparseRows &right, const Choice &choice, OwnedRows *kept)
{
  RowOfProduct          row;
  std::vector<PetscInt> i{0}, j;
  std::vector<Scalar>   a;

  PetscFunctionBegin;
  PetscCall(row.Begin(right.cols));
  for (PetscInt r = 0; r < left.rows; r++) {
    PetscInt ends[2] = {i.back(), 0}, count;

    PetscCallCXX(row.Compute(left.arrays, right.arrays, r));
    CountKept{row.View(), choice, &count}(0);
    PetscCheck(count <= PETSC_MAX_INT - i.back(), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Interpolation has more than %" PetscInt_FMT " entries in its first %" PetscInt_FMT " rows",
               PETSC_MAX_INT, r + 1);
    PetscCallCXX(i.push_back(i.back() + count));
    PetscCallCXX(j.resize(static_cast<size_t>(i.back())));
    PetscCallCXX(a.resize(static_cast<size_t>(i.back())));
    KeepLargest{row.View(), choice, ends, j.data(), a.data()}(0);
  }
  PetscCall(kept->i.Take(std::move(i), Space::Host));
  PetscCall(kept->j.Take(std::move(j), Space::Host));
  PetscCall(kept->a.Take(std::move(a), Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode Truncate(Space space, const Factors &W, const Choice &choice, OwnedRows *kept)
{
  PetscInt all = 0;

  PetscFunctionBegin;
  PetscCall(kept->i.Allocate(static_cast<size_t>(W.rows) + 1, space));
  PetscCall(ForEach(space, W.rows, CountKept{W, choice, kept->i.data()}));
  PetscCall(RunningSumIn(space, W.rows, &kept->i, &all));
  PetscCall(kept->j.Allocate(static_cast<size_t>(all), space));
  PetscCall(kept->a.Allocate(static_cast<size_t>(all), space));
  PetscCall(ForEach(space, W.rows, KeepLargest{W, choice, kept->i.data(), kept->j.data(), kept->a.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultiplyAndTruncate(Space space, const SparseRows &left, const SparseRows &right, const Choice &choice,
                                   OwnedRows *kept)
{
  products::Pattern W;
  Array<Scalar>     a;

  PetscFunctionBegin;
  if (space == Space::Host) {
    PetscCall(OnHost(left, right, choice, kept));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MultiplyPattern(space, left, right, &W));
  PetscCall(a.Allocate(W.j.size(), space));
  const SparseRows product{left.rows, right.cols, static_cast<PetscInt>(W.j.size()),
                           CsrArrays{W.i.data(), W.j.data(), a.data()}};
  PetscCall(MultiplyValues(space, left, right, product, W.longest, W.place.data_or_null(), a.data(), nullptr));
  PetscCall(Truncate(space, Factors{left.rows, W.i.data(), W.j.data(), a.data()}, choice, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::classical
