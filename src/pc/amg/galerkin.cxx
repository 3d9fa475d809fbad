/// P's entries are taken in runs of `width` columns, the unknowns of a coarse node: sums are looked for once a run, and
/// the innermost loops have a length that the compiler knows. Gustavson, ACM Trans. Math. Software 4(3), 1978.
#include "pc/amg/galerkin.hpp"
#include <petsc/private/matimpl.h>
#include <algorithm>
#include <numeric>
#include "mat/face/context.hpp"
#include "pc/aggregate/aggregate.hpp"

namespace sparsegpu::amg
{

namespace
{
/// Are all entries of P in such runs?
bool InRuns(const rows::CsrView &P, PetscInt width)
{
  if (P.cols % width) return false;
  for (PetscInt r = 0; r < P.rows; r++) {
    if ((P.i[r + 1] - P.i[r]) % width) return false;
    for (PetscInt e = P.i[r]; e < P.i[r + 1]; e += width) {
      if (P.j[e] % width) return false;
      for (PetscInt c = 1; c < width; c++)
        if (P.j[e + c] != P.j[e] + c) return false;
    }
  }
  return true;
}

/// Where the run of each node lies among sums in the order in which their nodes are met. Places only ascend, so that
/// those of sums before `begin` are never cleared.
using Place = std::ptrdiff_t;

/// Adds left [ROWS], transposed, times each of the runs [count] at `right`, of the nodes right_run, to the sums that
/// begin at `begin` and end at `end`; returns the new end. run, value: of these sums alone, [ROWS][WIDTH] each.
template <int ROWS, int WIDTH>
Place AddProducts(const PetscScalar *__restrict left, Place  count, const PetscInt *__restrict right_run,
                  const PetscScalar *__restrict right, Place begin, Place end, Place *__restrict place,
                  PetscInt *__restrict run, PetscScalar *__restrict value)
{
  constexpr Place BLOCK = ROWS * WIDTH;
  for (Place q = 0; q < count; q++) {
    const PetscInt node = right_run[q];
    if (place[node] < begin) {
      place[node]      = end;
      run[end - begin] = node;
      std::fill_n(value + (end - begin) * BLOCK, BLOCK, PetscScalar(0));
      end++;
    }
    PetscScalar *const to = value + (place[node] - begin) * BLOCK;
    for (int s = 0; s < ROWS; s++)
      for (int c = 0; c < WIDTH; c++) to[s * WIDTH + c] += left[s] * right[q * WIDTH + c];
  }
  return end;
}

template <int WIDTH> class Product
{
public:
  Product(const rows::CsrView &A, const rows::CsrView &P) : rows_(A.rows), nodes_(P.cols / WIDTH), a_(A), p_(P) {}

  /// All of P^T A P: row(runs, count, value) for each node of C, ascending, with its runs [count], ascending, and its
  /// values [WIDTH rows][count][WIDTH].
  template <class Row> PetscErrorCode Run(const Row &row)
  {
    const size_t nodes = static_cast<size_t>(nodes_);
    size_t       count = 0;
    Place        begin = 0;

    PetscFunctionBegin;
    PetscCallCXX(place_.assign(nodes, -1));
    PetscCallCXX(ap_begin_.assign(static_cast<size_t>(rows_) + 1, 0));
    PetscCallCXX(TransposeRuns());
    PetscCallCXX(MultiplyRight());
    std::fill(place_.begin(), place_.end(), -1);
    PetscCallCXX(found_.resize(nodes));
    PetscCallCXX(sum_.resize(nodes * WIDTH * WIDTH));
    for (PetscInt node = 0; node < nodes_; node++) {
      PetscCallCXX(count = AddRows(node, begin));
      PetscCall(row(found_.data(), count, value_.data()));
      begin += static_cast<Place>(count);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  const PetscScalar *Values(const rows::CsrView &csr) const { return reinterpret_cast<const PetscScalar *>(csr.a); }

  /// The nodes of P's runs; which rows have each node, and where: rows ascend.
  void TransposeRuns()
  {
    const size_t runs = static_cast<size_t>(p_.nonzeros / WIDTH);
    p_run_.resize(runs);
    for (size_t q = 0; q < runs; q++) p_run_[q] = p_.j[q * WIDTH] / WIDTH;
    begin_.assign(static_cast<size_t>(nodes_) + 1, 0);
    for (const PetscInt node : p_run_) begin_[static_cast<size_t>(node) + 1]++;
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<PetscInt> next(begin_.begin(), begin_.end() - 1);
    of_row_.resize(runs);
    of_run_.resize(runs);
    for (PetscInt r = 0; r < rows_; r++)
      for (PetscInt q = p_.i[r] / WIDTH; q < p_.i[r + 1] / WIDTH; q++) {
        const PetscInt at                = next[static_cast<size_t>(p_run_[static_cast<size_t>(q)])]++;
        of_row_[static_cast<size_t>(at)] = r;
        of_run_[static_cast<size_t>(at)] = q;
      }
  }
  /// A P. A row's runs are in the order in which they are met.
  void MultiplyRight()
  {
    const PetscScalar *const a = Values(a_), *const p = Values(p_);
    PetscInt longest = 0; // row of P
    Place    end     = 0;
    for (PetscInt r = 0; r < p_.rows; r++) longest = std::max(longest, (p_.i[r + 1] - p_.i[r]) / WIDTH);
    ap_run_.resize(p_run_.size() * 2);
    for (PetscInt r = 0; r < rows_; r++) {
      const Place  begin = end;
      const size_t most  = static_cast<size_t>(begin) +
                          std::min(static_cast<size_t>(nodes_),
                                   static_cast<size_t>(a_.i[r + 1] - a_.i[r]) * static_cast<size_t>(longest));
      if (ap_run_.size() < most) ap_run_.resize(most * 3 / 2);
      if (ap_.size() < ap_run_.size() * WIDTH) ap_.resize(ap_run_.size() * WIDTH);
      for (PetscInt e = a_.i[r]; e < a_.i[r + 1]; e++) {
        const PetscInt first = p_.i[a_.j[e]] / WIDTH, last = p_.i[a_.j[e] + 1] / WIDTH;
        end = AddProducts<1, WIDTH>(a + e, last - first, p_run_.data() + first, p + Place(first) * WIDTH, begin, end,
                                    place_.data(), ap_run_.data() + begin, ap_.data() + begin * WIDTH);
      }
      ap_begin_[static_cast<size_t>(r) + 1] = static_cast<size_t>(end);
    }
  }
  /// The rows of C of one node, whose sums begin at `begin`: in sum_ all runs of its rows are neighbours.
  size_t AddRows(PetscInt node, Place begin)
  {
    constexpr size_t BLOCK = WIDTH * WIDTH;
    Place            end   = begin;
    for (PetscInt t = begin_[static_cast<size_t>(node)]; t < begin_[static_cast<size_t>(node) + 1]; t++) {
      const size_t             r     = static_cast<size_t>(of_row_[static_cast<size_t>(t)]);
      const PetscScalar *const left  = Values(p_) + static_cast<size_t>(of_run_[static_cast<size_t>(t)]) * WIDTH;
      const size_t             first = ap_begin_[r];
      end =
          AddProducts<WIDTH, WIDTH>(left, static_cast<Place>(ap_begin_[r + 1] - first), ap_run_.data() + first,
                                    ap_.data() + first * WIDTH, begin, end, place_.data(), found_.data(), sum_.data());
    }
    const size_t count = static_cast<size_t>(end - begin);
    std::sort(found_.begin(), found_.begin() + (end - begin));
    value_.resize(count * BLOCK);
    for (size_t k = 0; k < count; k++) {
      const PetscScalar *const from = sum_.data() + static_cast<size_t>(place_[found_[k]] - begin) * BLOCK;
      for (size_t s = 0; s < WIDTH; s++)
        for (size_t c = 0; c < WIDTH; c++) value_[(s * count + k) * WIDTH + c] = from[s * WIDTH + c];
    }
    return count;
  }

  const PetscInt           rows_, nodes_;
  const rows::CsrView      a_, p_;
  std::vector<Place>       place_;
  std::vector<PetscInt>    found_, begin_, of_row_, of_run_, p_run_, ap_run_;
  std::vector<size_t>      ap_begin_;
  std::vector<PetscScalar> ap_, sum_, value_;
};

/// C, empty, with A's settings.
PetscErrorCode Create(Mat A, Mat P, Mat *C)
{
  PetscBool seq, mpi;
  MatType   type;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), C));
  PetscCall(MatSetSizes(*C, P->cmap->n, P->cmap->n, P->cmap->n, P->cmap->n));
  PetscCall(MatSetType(*C, type));
  PetscCall(MatSetBlockSizes(*C, P->cmap->bs, P->cmap->bs));
  PetscCall(face::IsOurs(A, &seq, &mpi));
  if (seq) PetscCall(face::InheritSettings(A, *C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values [count] of all rows become C's.
PetscErrorCode SetValues(Mat C, const PetscScalar *value, size_t count)
{
  PetscScalar *c;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayWrite(C, &c));
  std::copy(value, value + count, c);
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &c));
  PetscCall(PetscObjectStateIncrease((PetscObject)C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of rows [lengths] with the columns j.
PetscErrorCode SetPattern(Mat C, const std::vector<PetscInt> &lengths, std::vector<PetscInt> *j)
{
  PetscFunctionBegin;
  PetscCheck(j->size() <= static_cast<size_t>(PETSC_MAX_INT), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "P^T A P has %zu nonzeros, more than PetscInt counts; configure PETSc with 64-bit indices", j->size());
  PetscCall(MatSeqAIJSetPreallocation(C, 0, lengths.data()));
  if (!j->empty()) PetscCall(MatSeqAIJSetColumnIndices(C, j->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int WIDTH> PetscErrorCode Find(const rows::CsrView &a, const rows::CsrView &p, MatReuse reuse, Mat C)
{
  std::vector<PetscInt>    lengths, j;
  std::vector<PetscScalar> v;
  rows::CsrView            csr;

  PetscFunctionBegin;
  const auto row = [&](const PetscInt *runs, size_t count, const PetscScalar *value) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCallCXX(v.insert(v.end(), value, value + count * WIDTH * WIDTH));
    if (reuse == MAT_REUSE_MATRIX) PetscFunctionReturn(PETSC_SUCCESS);
    for (int s = 0; s < WIDTH; s++) {
      for (size_t k = 0; k < count; k++)
        for (int c = 0; c < WIDTH; c++) PetscCallCXX(j.push_back(runs[k] * WIDTH + c));
      PetscCallCXX(lengths.push_back(static_cast<PetscInt>(count) * WIDTH));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(Product<WIDTH>(a, p).Run(row));
  if (reuse != MAT_REUSE_MATRIX) {
    PetscCall(SetPattern(C, lengths, &j));
  } else {
    PetscCall(rows::GetHostPattern(C, &csr));
    PetscCheck(v.size() == static_cast<size_t>(csr.nonzeros), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
               "The coarse operator has %" PetscInt_FMT " nonzeros; these patterns give %zu", csr.nonzeros, v.size());
  }
  PetscCall(SetValues(C, v.data(), v.size()));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode TakesGalerkinOnHost(Mat A, Mat P, bool *takes)
{
  Space     space;
  PetscBool a, p;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &a));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)P, MATSEQAIJ, &p));
  *takes = a && p;
  if (!*takes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WorkSpace(A, &space));
  *takes = space == Space::Host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GalerkinOnHost(Mat A, Mat P, MatReuse reuse, Mat *C)
{
  rows::CsrView a, p;

  PetscFunctionBegin;
  PetscCall(rows::GetHostRows(A, &a));
  PetscCall(rows::GetHostRows(P, &p));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(Create(A, P, C));
  const PetscInt width = P->cmap->bs;
  if (width == 6 && InRuns(p, width))
    PetscCall(Find<6>(a, p, reuse, *C));
  else if (width == 3 && InRuns(p, width))
    PetscCall(Find<3>(a, p, reuse, *C));
  else if (width == 2 && InRuns(p, width))
    PetscCall(Find<2>(a, p, reuse, *C));
  else
    PetscCall(Find<1>(a, p, reuse, *C));
  (*C)->symmetric = A->symmetric; // as MatPtAP()
  (*C)->spd       = A->spd;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::amg
