static const char help[] = "Patterns of ILU(k) and ICC(k): against their definition, and found on the GPU.\n\n";

#include "factors.hpp"
#include "pc/ilu/ilu.hpp"

using namespace testing;
using sparsegpu::ilu::Incomplete;

namespace
{
/// A matrix's pattern and the order that its rows and columns are eliminated in.
struct Ordered {
  std::string           name;
  PetscInt              rows;
  std::vector<PetscInt> i, j, row, column;
};

/// What a factorization starts with: rows, columns and where the values come from.
struct Pattern {
  std::vector<PetscInt> i, j, diagonal, source;

  bool operator==(const Pattern &p) const
  {
    return i == p.i && j == p.j && diagonal == p.diagonal && source == p.source;
  }
};

enum class Order {
  Natural,
  Shuffled, ///< rows and columns alike
  Unlike    ///< columns one further than rows, so that another diagonal counts
};

/// Columns of a row in the order in which they were added, or ascending.
Ordered Make(const Problem &p, Order order, bool sorted)
{
  const char *const                  names[] = {"natural", "shuffled", "unlike"};
  std::vector<std::vector<PetscInt>> rows((size_t)p.rows);
  Ordered                            o{p.name + ", " + names[(int)order], p.rows, {0}, {}, {}, {}};
  PetscInt                           stride = p.rows / 2 + 1;

  for (const Entry &e : p.entries) rows[(size_t)e.i].push_back(e.j);
  if (order == Order::Unlike) // the diagonal that will be
    for (PetscInt r = 0; r < p.rows; ++r) {
      const PetscInt c = (r + 1) % p.rows;
      if (std::find(rows[(size_t)r].begin(), rows[(size_t)r].end(), c) == rows[(size_t)r].end())
        rows[(size_t)r].push_back(c);
    }
  for (std::vector<PetscInt> &row : rows) {
    if (sorted) std::sort(row.begin(), row.end());
    o.j.insert(o.j.end(), row.begin(), row.end());
    o.i.push_back((PetscInt)o.j.size());
  }
  for (PetscInt first = 0; first < stride; ++first)
    for (PetscInt r = first; r < p.rows; r += stride) o.row.push_back(p.rows - 1 - r);
  if (order == Order::Natural) std::iota(o.row.begin(), o.row.end(), 0);
  o.column = o.row;
  if (order == Order::Unlike)
    for (PetscInt &c : o.column) c = (c + 1) % p.rows;
  return o;
}

sparsegpu::rows::CsrView View(const Ordered &o)
{
  return sparsegpu::rows::CsrView{o.rows, o.rows, o.i.back(), o.i.data(), o.j.data(), nullptr};
}

/// By the definition, entry after entry of a dense matrix of levels.
Pattern Defined(const Ordered &o, Incomplete kind, PetscInt levels)
{
  const PetscInt        n = o.rows, none = PETSC_MAX_INT / 4;
  std::vector<PetscInt> level((size_t)(n * n), none), source((size_t)(n * n), -1), step((size_t)n), row_step((size_t)n);
  Pattern               p{{0}, {}, {}, {}};
  const auto            at = [&](PetscInt r, PetscInt c) { return (size_t)(r * n + c); };

  for (PetscInt k = 0; k < n; ++k) {
    step[(size_t)o.column[(size_t)k]]  = k;
    row_step[(size_t)o.row[(size_t)k]] = k;
  }
  for (PetscInt row = 0; row < n; ++row)
    for (PetscInt e = o.i[(size_t)row]; e < o.i[(size_t)row + 1]; ++e) {
      const PetscInt r = row_step[(size_t)row], c = step[(size_t)o.j[(size_t)e]];
      if (kind == Incomplete::Cholesky && c < r) continue;
      level[at(r, c)]  = 0;
      source[at(r, c)] = e;
      if (kind != Incomplete::Cholesky) continue;
      level[at(c, r)]  = 0;
      source[at(c, r)] = e;
    }
  for (PetscInt m = 0; m < n; ++m)
    for (PetscInt r = m + 1; r < n; ++r)
      for (PetscInt c = m + 1; c < n; ++c)
        level[at(r, c)] = std::min(level[at(r, c)], level[at(r, m)] + level[at(m, c)] + 1);
  for (PetscInt r = 0; r < n; ++r) {
    for (PetscInt c = 0; c < n; ++c) {
      if (level[at(r, c)] > levels) continue;
      if (r == c) p.diagonal.push_back((PetscInt)p.j.size());
      p.j.push_back(c);
      p.source.push_back(source[at(r, c)]);
    }
    p.i.push_back((PetscInt)p.j.size());
  }
  return p;
}

PetscErrorCode OnHost(const Ordered &o, Incomplete kind, PetscInt levels, Pattern *p)
{
  sparsegpu::trisolve::FactorPattern pattern;

  PetscFunctionBeginUser;
  pattern.rows   = o.rows;
  pattern.row    = o.row;
  pattern.column = o.column;
  PetscCall(sparsegpu::ilu::Symbolic_Host(View(o), kind, levels, false, &pattern, &p->source));
  p->i        = pattern.i;
  p->j        = pattern.j;
  p->diagonal = pattern.diagonal;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SPARSEGPU_HAVE_CUDA)
PetscErrorCode Fetch(const sparsegpu::Array<PetscInt> &array, size_t size, std::vector<PetscInt> *to)
{
  sparsegpu::Stream stream;

  PetscFunctionBeginUser;
  PetscCall(sparsegpu::DeviceStream(&stream));
  to->resize(size);
  if (size) PetscCall(sparsegpu::DeviceCopyOut(to->data(), array.data(), size * sizeof(PetscInt), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OnDevice(const Ordered &o, Order order, Incomplete kind, PetscInt levels, PetscCount limit, Pattern *p)
{
  sparsegpu::Array<PetscInt>    i, j;
  sparsegpu::ilu::DevicePattern pattern;
  sparsegpu::Stream             stream;
  const PetscInt               *row    = order == Order::Natural ? nullptr : o.row.data();
  const PetscInt               *column = order == Order::Natural ? nullptr : o.column.data();
  PetscInt                      missing;

  PetscFunctionBeginUser;
  PetscCall(sparsegpu::DeviceStream(&stream));
  PetscCall(i.Copy(o.i.data(), o.i.size(), sparsegpu::Space::Device));
  PetscCall(j.Copy(o.j.data(), o.j.size(), sparsegpu::Space::Device));
  PetscCall(sparsegpu::ilu::Symbolic_CUDA(o.rows, o.i.back(), i.data(), j.data(), kind, row, column, &pattern, &missing,
                                          stream));
  PetscCheck(missing < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no diagonal entry in row %d", o.name.c_str(),
             (int)missing);
  PetscCall(sparsegpu::ilu::AddFill_CUDA(levels, limit, &pattern, stream));
  const size_t entries = (size_t)pattern.nonzeros;
  PetscCall(Fetch(pattern.i, o.rows ? (size_t)o.rows + 1 : 0, &p->i));
  if (o.rows == 0) p->i.assign(1, 0);
  PetscCall(Fetch(pattern.j, entries, &p->j));
  PetscCall(Fetch(pattern.diagonal, (size_t)o.rows, &p->diagonal));
  PetscCall(Fetch(pattern.source, pattern.identical ? 0 : entries, &p->source));
  if (pattern.identical) {
    p->source.resize(entries);
    std::iota(p->source.begin(), p->source.end(), 0);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode OnDevice(const Ordered &, Order, Incomplete, PetscInt, PetscCount, Pattern *)
{
  PetscFunctionBeginUser;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Built without CUDA");
}
#endif

PetscErrorCode Check(const Pattern &got, const Pattern &expected, const std::string &what)
{
  PetscFunctionBeginUser;
  PetscCheck(got == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu entries, not the %zu that belong there",
             what.c_str(), got.j.size(), expected.j.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *const KINDS[] = {"ILU", "ICC"};

/// run(matrix, its order, the kind) for every order of the problem.
template <class Run> PetscErrorCode Each(const Problem &p, const Run &run)
{
  PetscFunctionBeginUser;
  for (Order order : {Order::Natural, Order::Shuffled, Order::Unlike})
    for (bool sorted : {true, false})
      for (Incomplete kind : {Incomplete::LU, Incomplete::Cholesky}) {
        if (kind == Incomplete::Cholesky && order == Order::Unlike) continue;
        PetscCall(run(Make(p, order, sorted), order, kind));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool HaveDevice()
{
  PetscBool found;
  PetscCallAbort(PETSC_COMM_SELF, sparsegpu::DeviceFound(&found));
  return found == PETSC_TRUE;
}
} // namespace

/// A pattern as the definition has it, on the host and on the GPU, which looks at `limits` candidates at a time.
static PetscErrorCode CheckDefined(const Problem &problem, const std::vector<PetscInt> &all_levels,
                                   const std::vector<PetscCount> &limits)
{
  PetscFunctionBeginUser;
  PetscCall(Each(Dominant(problem), [&](const Ordered &o, Order order, Incomplete kind) {
    PetscFunctionBeginUser;
    for (PetscInt levels : all_levels) {
      const std::string what = o.name + ", " + KINDS[kind == Incomplete::Cholesky] + "(" + std::to_string(levels) + ")";
      const Pattern     expected = Defined(o, kind, levels);
      Pattern           got;
      PetscCall(OnHost(o, kind, levels, &got));
      PetscCall(Check(got, expected, what + " on the host"));
      if (!HaveDevice()) continue;
      for (PetscCount limit : limits) {
        PetscCall(OnDevice(o, order, kind, levels, limit, &got));
        PetscCall(Check(got, expected, what + " on the GPU, " + std::to_string(limit) + " at a time"));
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A path that closes late: levels 1, 3, 7 and so on come from two of the same level, and some have no entry.
static Problem Cycle(PetscInt n)
{
  conformance::Builder cycle("cycle", n, n);
  for (PetscInt r = 0; r < n; ++r) {
    const PetscInt next = (r + 1) % n, far = (r * 7 + 3) % n;
    cycle.Add(r, next);
    if (far != next) cycle.Add(r, far == r ? (r + 2) % n : far);
  }
  return cycle;
}

/// Small patterns; on the GPU with few candidates and with many at a time.
static PetscErrorCode Definition()
{
  PetscFunctionBeginUser;
  for (const Problem &p :
       {conformance::Grid("grid_8x9", 8, 9, false), conformance::PowerLaw(80), conformance::OneFullRow(70, 0),
        conformance::OneFullRow(70, 69), Cycle(60), Problem(conformance::Builder("one_1x1", 1, 1)),
        Problem(conformance::Builder("diagonal_33", 33, 33)), Problem(conformance::Builder("empty_0x0", 0, 0))})
    PetscCall(CheckDefined(p, {0, 1, 2, 3, 5, 100}, {1, 37, 1 << 20}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One of them, for tools that make kernels slow.
static PetscErrorCode Few()
{
  PetscFunctionBeginUser;
  PetscCall(CheckDefined(Cycle(20), {2}, {37}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Larger ones: what the GPU finds is what the host finds.
static PetscErrorCode Same()
{
  constexpr PetscInt   N = 16;
  conformance::Builder grid("27_points_16x16x16", N * N * N, N * N * N);

  PetscFunctionBeginUser;
  if (!HaveDevice()) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt r = 0; r < N * N * N; ++r)
    conformance::EachNeighbour(N, N, N, r, [&](PetscInt, PetscInt column) { grid.Add(r, column); });
  std::vector<Problem> problems = Problems();
  problems.push_back(Dominant(grid));
  for (const Problem &p : problems)
    PetscCall(Each(p, [&](const Ordered &o, Order order, Incomplete kind) {
      PetscFunctionBeginUser;
      for (PetscInt levels : {1, 2})
        for (PetscCount limit : {5000, 1 << 26}) {
          Pattern host, device;
          PetscCall(OnHost(o, kind, levels, &host));
          PetscCall(OnDevice(o, order, kind, levels, limit, &device));
          PetscCall(Check(device, host,
                          o.name + ", " + KINDS[kind == Incomplete::Cholesky] + "(" + std::to_string(levels) + ")"));
        }
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"definition", Definition}, {"few", Few}, {"same", Same}});
}
