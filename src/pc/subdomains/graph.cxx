/// Recursive bisection of the graph of A by breadth-first searches. Entries lead from rows to columns: where the
/// pattern is not symmetric some rows are found late, which costs entries between subdomains and nothing else.
#include <algorithm>
#include <numeric>
#include "pc/subdomains/cut.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::subdomains
{

namespace
{
/// Rows `begin` to `end` of the order, which become `count` subdomains from number `first` on.
struct Piece {
  PetscInt begin, end, first, count;
};

class Bisection
{
public:
  explicit Bisection(const CsrView &A) : A_(A), order_(A.rows), of_(A.rows, 0), seen_(A.rows, 0), found_(A.rows)
  {
    std::iota(order_.begin(), order_.end(), 0);
  }
  std::vector<PetscInt> Cut(PetscInt count)
  {
    std::vector<Piece> pieces{Piece{0, A_.rows, 0, count}};
    while (!pieces.empty()) {
      const Piece p = pieces.back();
      pieces.pop_back();
      if (p.count == 1) continue;
      if (p.end - p.begin == A_.rows) Search(p, order_[p.begin]);
      Search(p, order_[p.end - 1]); // found last, far out
      const PetscInt left = p.count / 2, at = Middle(p, left);
      for (PetscInt k = at; k < p.end; k++) of_[order_[k]] = p.first + left;
      pieces.push_back(Piece{p.begin, at, p.first, left});
      pieces.push_back(Piece{at, p.end, p.first + left, p.count - left});
    }
    return std::move(of_);
  }

private:
  /// Orders the rows of a piece by their distance from `root`, component after component.
  void Search(const Piece &p, PetscInt root)
  {
    PetscInt tail = p.begin, next = p.begin;
    ++search_;
    const auto visit = [&](PetscInt r) {
      seen_[r]       = search_;
      found_[tail++] = r;
    };
    visit(root);
    for (PetscInt head = p.begin; head < p.end; head++) {
      if (head == tail) { // another component
        while (seen_[order_[next]] == search_) next++;
        visit(order_[next]);
      }
      const PetscInt r = found_[head];
      for (PetscInt e = A_.i[r]; e < A_.i[r + 1]; e++) {
        const PetscInt other = A_.j[e];
        if (of_[other] == of_[r] && seen_[other] != search_) visit(other);
      }
    }
    std::copy(found_.begin() + p.begin, found_.begin() + p.end, order_.begin() + p.begin);
  }
  /// Where `left` of the piece's subdomains end: in proportion to the entries, and none of them empty.
  PetscInt Middle(const Piece &p, PetscInt left) const
  {
    const auto length = [&](PetscInt k) { return static_cast<double>(A_.i[order_[k] + 1] - A_.i[order_[k]]); };
    double     all = 0, sum = 0;
    PetscInt   at = p.begin;
    for (PetscInt k = p.begin; k < p.end; k++) all += length(k);
    for (; at < p.end && (sum + length(at) / 2) * p.count <= all * left; at++) sum += length(at);
    return std::clamp(at, p.begin + left, p.end - (p.count - left));
  }

  const CsrView        &A_;
  std::vector<PetscInt> order_; ///< [rows] piece after piece
  std::vector<PetscInt> of_;    ///< [rows] first subdomain of the piece
  std::vector<PetscInt> seen_;  ///< [rows] the last search that met the row
  std::vector<PetscInt> found_; ///< [rows] scratch
  PetscInt              search_ = 0;
};
} // namespace

PetscErrorCode CutGraph(const CsrView &A, PetscInt count, std::vector<PetscInt> *of)
{
  PetscFunctionBegin;
  PetscCallCXX(*of = Bisection(A).Cut(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::subdomains
