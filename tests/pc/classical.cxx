static const char help[] =
    "Splittings and interpolation of classical multigrid against their definitions, on the host and on the GPU.\n\n";

#include "classical_reference.hpp"

using namespace testing;

namespace
{
/// All couplings have the sign opposite to the diagonal's, which is their sum and `more`.
Problem Balanced(Problem p, PetscReal more = 0)
{
  std::vector<PetscScalar> sum((size_t)p.rows, 0);
  p.name = "balanced_" + p.name;
  for (Entry &e : p.entries)
    if (e.i != e.j) {
      e.v = -PetscAbsScalar(e.v);
      sum[(size_t)e.i] -= e.v;
    }
  for (Entry &e : p.entries)
    if (e.i == e.j) e.v = sum[(size_t)e.i] * (1 + more);
  return p;
}

/// The same couplings in both directions.
Problem Mirrored(Problem p)
{
  p.name = "mirrored_" + p.name;
  for (Entry &e : p.entries) e.v = (PetscReal)(1 + (e.i * e.j * 31 + e.i + e.j) % 97);
  return p;
}

/// Couplings of the diagonal's sign alone.
Problem Positive(Problem p)
{
  p = Balanced(p);
  p.name += "_positive";
  for (Entry &e : p.entries)
    if (e.i != e.j) e.v = -e.v;
  return p;
}

Problem WithoutDiagonal(Problem p)
{
  p.name += "_without_diagonal";
  p.entries.erase(std::remove_if(p.entries.begin(), p.entries.end(), [](const Entry &e) { return e.i == e.j; }),
                  p.entries.end());
  return p;
}

std::vector<ClassicalCase> ClassicalCases()
{
  std::vector<ClassicalCase> all;
  const auto add = [&](const Problem &p, PetscReal threshold = 0.25, PetscReal max_row_sum = 0.9, PetscInt fields = 1) {
    ClassicalCase c{p, {}, fields};
    c.options.threshold   = threshold;
    c.options.max_row_sum = max_row_sum;
    all.push_back(c);
  };
  add(Builder("empty", 0, 0));
  add(Builder("zero_rows", 5, 5));
  add(Builder("one", 1, 1).Add(0, 0));
  add(Builder("one_way", 3, 3).Add(0, 1, -1.0).Add(1, 2, -1.0).Add(0, 0, 1.0).Add(2, 2, 1.0).Add(1, 1, 1.0));
  add(Lattice("diagonal", 1, 1, 1, false));
  add(Lattice("9_point", 20, 17, 1, true), 0.25, 1);
  for (PetscReal threshold : {0., 0.25, 0.8}) {
    add(Balanced(Lattice("5_point", 23, 17, 1, false)), threshold);
    add(Balanced(Lattice("27_point", 9, 8, 7, true), 0.01), threshold);
    add(Balanced(Mirrored(Lattice("9_point", 16, 12, 1, true)), 0.01), threshold);
    add(Balanced(Directed(400, 5)), threshold);
  }
  add(Balanced(Lattice("dominant", 12, 11, 1, false), 8));
  add(Balanced(Lattice("dominant", 12, 11, 1, false), 8), 0.25, 1);
  add(Directed(300, 6), 0.25, 1);
  add(Positive(Lattice("5_point", 14, 15, 1, false)));
  add(WithoutDiagonal(Balanced(Lattice("5_point", 14, 15, 1, false))));
  add(Components(80), 0.25, 1);
  add(Dirichlet(false), 0.25, 1);
  add(Dirichlet(true), 0.25, 1);
  add(Balanced(Hub(1000, 1)));
  add(Hub(600, 1), 0.1, 1);
  for (PetscInt fields = 2; fields <= 4; ++fields)
    add(Lattice("fields_" + std::to_string(fields), 7, 8, 1, true, fields), 0.25, 1, fields);
  return all;
}

/// The search ended where it has to.
PetscErrorCode CheckSplitting(const Definition &d, const Coarsened &f)
{
  const char *const name     = d.c.problem.name.c_str();
  const bool        mirrored = d.Symmetric();
  PetscInt          count = 0, isolated = 0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < d.n; ++i) {
    const bool coarse = f.number[(size_t)i] >= 0;
    PetscInt   other  = 0;
    for (PetscInt j : d.on[(size_t)i]) other += f.number[(size_t)j] >= 0;
    PetscCheck(!coarse || f.number[(size_t)i] == count, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: row %" PetscInt_FMT " has number %" PetscInt_FMT ", not %" PetscInt_FMT, name, i,
               f.number[(size_t)i], count);
    count += coarse;
    isolated += d.isolated[(size_t)i];
    const bool may = !d.isolated[(size_t)i] && !d.from[(size_t)i].empty();
    PetscCheck(coarse ? may && !(mirrored && other) : !may || other > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: row %" PetscInt_FMT " is %s; it depends on %zu, %" PetscInt_FMT " of them coarse, and %zu on it",
               name, i, coarse ? "coarse" : "fine", d.on[(size_t)i].size(), other, d.from[(size_t)i].size());
  }
  PetscCheck(count == f.unknowns && isolated == f.isolated, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " coarse and %" PetscInt_FMT " isolated unknowns, found %" PetscInt_FMT
             " and %" PetscInt_FMT,
             name, count, isolated, f.unknowns, f.isolated);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All entries, where none is left out: sums of products in another order.
PetscErrorCode CheckAll(const Definition &d, const Coarsened &f)
{
  const char *const name = d.c.problem.name.c_str();

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < d.n && f.unknowns; ++i) {
    const auto      w     = d.Interpolate(i, f.number);
    const PetscInt  begin = f.i[(size_t)i], length = f.i[(size_t)i + 1] - begin;
    PetscReal       size  = 1;
    PetscInt        at    = begin;
    const PetscReal terms = (PetscReal)(10 * (d.row[(size_t)i].size() + 10));
    for (const auto &e : w) size = std::max(size, PetscAbsScalar(e.second));
    PetscCheck((PetscInt)w.size() == length, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: row %" PetscInt_FMT " has %" PetscInt_FMT " entries, not %zu", name, i, length, w.size());
    for (const auto &e : w) {
      PetscCheck(f.j[(size_t)at] == e.first, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: row %" PetscInt_FMT " has column %" PetscInt_FMT ", not %" PetscInt_FMT, name, i, f.j[(size_t)at],
                 e.first);
      const PetscReal error = PetscAbsScalar(f.a[(size_t)at] - e.second);
      PetscCheck(error <= terms * PETSC_MACHINE_EPSILON * size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: row %" PetscInt_FMT ", column %" PetscInt_FMT ": %g, not %g", name, i, e.first,
                 (double)PetscRealPart(f.a[(size_t)at]), (double)PetscRealPart(e.second));
      ++at;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is kept are the largest entries but for those that are alike, and has the sum of all.
PetscErrorCode CheckKept(const Definition &d, const Coarsened &f)
{
  const char *const       name = d.c.problem.name.c_str();
  const classic::Options &o    = d.c.options;
  const PetscReal         tie  = (PetscReal)(PetscDefined(USE_REAL_DOUBLE) ? 1e-4 : 1e-3);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < d.n && f.unknowns; ++i) {
    const auto  w    = d.Interpolate(i, f.number);
    PetscReal   most = 0, least = PETSC_MAX_REAL, lost = 0;
    PetscScalar all = 0, kept = 0, scaled = 0;
    PetscInt    count = 0;
    for (const auto &e : w) {
      const PetscReal size  = PetscAbsScalar(e.second);
      const auto      begin = f.j.begin() + f.i[(size_t)i], end = f.j.begin() + f.i[(size_t)i + 1];
      const auto      at = std::find(begin, end, e.first);
      most               = std::max(most, size);
      all += e.second;
      if (at == end) {
        lost = std::max(lost, size);
        continue;
      }
      ++count;
      kept += e.second;
      scaled += f.a[(size_t)(at - f.j.begin())];
      least = std::min(least, size);
    }
    PetscCheck(count == f.i[(size_t)i + 1] - f.i[(size_t)i] && (o.max_elements == 0 || count <= o.max_elements),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT " keeps %" PetscInt_FMT " entries", name, i,
               count);
    PetscCheck(least >= lost * (1 - tie) && (count < 2 || least >= o.truncation * most * (1 - tie)), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT " keeps %g, and has %g and %g", name, i, (double)least,
               (double)lost, (double)most);
    PetscCheck(count == o.max_elements || lost <= o.truncation * most * (1 + tie), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: row %" PetscInt_FMT " loses %g of %g", name, i, (double)lost, (double)most);
    const PetscReal error = PetscAbsScalar(scaled - all), size = most * (PetscReal)w.size();
    PetscCheck(PetscAbsScalar(kept) < most / 10 || error <= 1e4 * PETSC_MACHINE_EPSILON * size, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT " sums up to %g, not %g", name, i,
               (double)PetscRealPart(scaled), (double)PetscRealPart(all));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Against the definition, the same twice, and the same splitting on all backends.
PetscErrorCode TestDefinition()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (ClassicalCase c : ClassicalCases())
    for (bool all : {true, false}) {
      if (all) c.options.max_elements = c.options.truncation = 0;
      if (!all) c.options.max_elements = 3;
      if (!all) c.options.truncation = (PetscReal)0.2;
      const Definition d(c);
      Coarsened        host;
      for (const std::string &backend : backends) {
        Mat       A;
        Coarsened f, again;
        PetscCall(CreateMatrix(c.problem, backend, &A));
        PetscCall(Find(A, c, &f));
        PetscCall(Find(A, c, &again));
        PetscCheck(f == again, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: another result", c.problem.name.c_str(),
                   backend.c_str());
        if (backend == backends[0]) host = f;
        PetscCheck(f.number == host.number && f.i == host.i && f.j == host.j && f.rounds == host.rounds,
                   PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s has another splitting or other entries than %s",
                   c.problem.name.c_str(), backend.c_str(), backends[0].c_str());
        PetscCall(CheckSplitting(d, f));
        PetscCall(all ? CheckAll(d, f) : CheckKept(d, f));
        PetscCall(MatDestroy(&A));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows whose columns do not ascend.
PetscErrorCode TestUnordered()
{
  PetscFunctionBeginUser;
  for (const Problem &p : {Balanced(Directed(400, 5)), Balanced(Lattice("27_point", 7, 8, 6, true))}) {
    const HostMatrix         host(p);
    std::vector<PetscInt>    i{0}, j;
    std::vector<PetscScalar> a;
    ClassicalCase            c{p, {}, 1};
    Mat                      A, B;
    Coarsened                expected, found;

    for (const auto &row : host.row) {
      for (size_t e = row.size(); e-- > 0;) {
        j.push_back(row[e].first);
        a.push_back(row[e].second);
      }
      i.push_back((PetscInt)j.size());
    }
    PetscCall(CreateMatrix(p, "kokkos", &A));
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, p.rows, p.rows, i.data(), j.data(), a.data(), &B));
    PetscCall(Find(A, c, &expected));
    PetscCall(Find(B, c, &found));
    PetscCheck(found.number == expected.number && found.i == expected.i && found.j == expected.j, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: another splitting or other entries where columns descend", p.name.c_str());
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix that is known to be symmetric has the same interpolation without a look at couplings back.
PetscErrorCode TestSymmetric()
{
  Mat           A;
  ClassicalCase c{Balanced(Mirrored(Lattice("9_point", 16, 12, 1, true))), {}, 1};
  Coarsened     expected, found;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(c.problem, "kokkos", &A));
  PetscCall(Find(A, c, &expected));
  PetscCheck(expected.asymmetry == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Asymmetry %g of a symmetric matrix",
             (double)expected.asymmetry);
  c.options.symmetry = classic::Symmetry::Symmetric;
  PetscCall(Find(A, c, &found));
  PetscCheck(found == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Other interpolation of a known symmetric matrix");
  PetscCall(MatDestroy(&A));
  // a_ij = 3 a_ji wherever i < j: |a_ij - a_ji| / (|a_ij| + |a_ji|) = 1/2
  c.options.symmetry = classic::Symmetry::Unknown;
  for (Entry &e : c.problem.entries)
    if (e.i < e.j) e.v *= 3;
  c.options.threshold = 0;
  PetscCall(CreateMatrix(c.problem, "kokkos", &A));
  PetscCall(Find(A, c, &found));
  PetscCheck(std::abs(found.asymmetry - (PetscReal)0.5) < (PetscReal)1e-5, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Asymmetry %g, not 1/2", (double)found.asymmetry);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The product of two interpolations, with the largest entries of each row.
PetscErrorCode TestSkip()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    classic::Options     options;
    classic::Fields      one;
    classic::CoarseLevel first, second;
    Mat                  A, B, P, W;
    Vec                  ones, sums, expected;
    PetscReal            error;

    PetscCall(CreateMatrix(Balanced(Lattice("7_point", 11, 12, 10, false), (PetscReal)0.01), backend, &A));
    PetscCall(classic::Coarsen(A, options, one, &first));
    PetscCall(MatPtAP(A, first.P, MAT_INITIAL_MATRIX, 2, &B));
    PetscCall(classic::Coarsen(B, options, first.fields, &second));
    PetscCall(classic::Skip(first.P, second.P, options, &P));
    PetscCall(MatMatMult(first.P, second.P, MAT_INITIAL_MATRIX, 2, &W));
    PetscCall(MatCreateVecs(P, &ones, &sums));
    PetscCall(VecDuplicate(sums, &expected));
    PetscCall(VecSet(ones, 1));
    PetscCall(MatMult(P, ones, sums));
    PetscCall(MatMult(W, ones, expected));
    PetscCall(VecAXPY(sums, -1, expected));
    PetscCall(VecNorm(sums, NORM_INFINITY, &error));
    PetscCheck(error <= 1000 * PETSC_MACHINE_EPSILON, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row sums are off by %g",
               backend.c_str(), (double)error);
    for (PetscInt r = 0; r < A->rmap->n; ++r) {
      PetscInt n;
      PetscCall(MatGetRow(P, r, &n, nullptr, nullptr));
      PetscCheck(n <= options.max_elements, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Row %" PetscInt_FMT " has %" PetscInt_FMT " entries", r, n);
      PetscCall(MatRestoreRow(P, r, &n, nullptr, nullptr));
    }
    for (Mat *M : {&A, &B, &P, &W, &first.P, &second.P}) PetscCall(MatDestroy(M));
    for (Vec *v : {&ones, &sums, &expected}) PetscCall(VecDestroy(v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestErrors()
{
  Mat                  A, B;
  classic::CoarseLevel coarse;
  classic::Fields      one;
  classic::Options     options;
  std::string          message;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(Lattice("5_point", 5, 5, 1, false), "kokkos", &A));
  options.max_elements = 99;
  PetscCall(ExpectError(
      "max_elements", [&] { return classic::Coarsen(A, options, one, &coarse); }, &message, PETSC_ERR_ARG_OUTOFRANGE));
  PetscCall(CheckText("max_elements", message, {"99 entries", "between 0 and 32"}));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 4, 5, 1, nullptr, &B));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(ExpectError(
      "not square", [&] { return classic::Coarsen(B, {}, one, &coarse); }, &message, PETSC_ERR_ARG_SIZ));
  PetscCall(CheckText("not square", message, {"4 x 5", "not square"}));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"definition", TestDefinition},
               {"unordered", TestUnordered},
               {"symmetric", TestSymmetric},
               {"skip", TestSkip},
               {"errors", TestErrors}});
}
