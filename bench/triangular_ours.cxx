#include "triangular_ours.hpp"
#include "cusparse.hpp"
#include "petsc/compat.hpp"

#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
using namespace sparsegpu;
using namespace sparsegpu::ilu;

/// Wall seconds of a call, and everything that it started.
template <class F> static double Wall(F call)
{
  return WallSeconds([](void *f) { PetscCallAbort(PETSC_COMM_SELF, (*static_cast<F *>(f))()); }, &call);
}

/// The pattern of ILU(fill), which every run without fill makes anew.
PetscErrorCode Ours::Symbolic(const HostRows &A, PetscInt fill, const OnDevice<int> &i, const OnDevice<int> &j, int run)
{
  const PetscInt        nonzeros = static_cast<PetscInt>(A.j.size());
  FactorPattern         host;
  std::vector<PetscInt> source;
  PetscInt              missing;
  Stream                stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  if (fill == 0) {
    PetscCall(Symbolic_CUDA(A.rows, nonzeros, i.p, j.p, Incomplete::LU, nullptr, nullptr, &pattern_, &missing, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (run > 0) PetscFunctionReturn(PETSC_SUCCESS);
  host.rows = A.rows;
  host.row.resize(A.rows);
  for (int r = 0; r < A.rows; r++) host.row[r] = r;
  host.column = host.row;
  PetscCall(Symbolic_Host(CsrView{A.rows, A.rows, nonzeros, A.i.data(), A.j.data(), A.a.data()}, Incomplete::LU, fill,
                          false, &host, &source));
  pattern_.rows     = A.rows;
  pattern_.nonzeros = static_cast<PetscInt>(host.j.size());
  PetscCall(pattern_.i.Take(std::move(host.i), Space::Device));
  PetscCall(pattern_.j.Take(std::move(host.j), Space::Device));
  PetscCall(pattern_.diagonal.Take(std::move(host.diagonal), Space::Device));
  PetscCall(pattern_.source.Take(std::move(source), Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ours::Factor(const HostRows &A, PetscInt fill)
{
  constexpr int       runs   = 5;
  constexpr double    ENOUGH = 1; // seconds of factorizations: slow ones vary less
  const OnDevice<int> i(A.i), j(A.j);
  OnDevice<double>    a(A.a);
  std::vector<double> patterns, tasks, analyses, numerics, updates;
  double              spent = 0;
  PetscInt            zero_row;
  PetscReal           zero;
  Stream              stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  for (int run = 0; run < runs && spent < ENOUGH; run++) {
    solver_.reset();
    factorization_.reset(new Numeric);
    factorization_->warps = numeric_warps;
    if (fill == 0 || run == 0) patterns.push_back(Wall([&] { return Symbolic(A, fill, i, j, run); }));
    if (run == 0) PetscCall(values_.Allocate(pattern_.nonzeros, Space::Device));
    solver_          = MakeTrisolve(options.engine);
    solver_->options = options;
    analyses.push_back(Wall([&] { return solver_->Analyse(pattern_.View(), stream); }));
    auto *schedule = options.engine == Engine::Auto ? static_cast<Scheduled *>(solver_.get()) : nullptr;
    tasks.push_back(Wall([&] { return factorization_->Build(pattern_.View(), Incomplete::LU, schedule, stream); }));
    for (int again = 0; again < 2; again++)
      numerics.push_back(Wall([&] {
        return factorization_->Factor(a.p, pattern_.identical ? nullptr : pattern_.source.data(), Pivots(), 1ll << 24,
                                      values_.data(), &zero_row, &zero, stream);
      }));
    spent += numerics[numerics.size() - 2] + numerics.back();
    updates.push_back(Wall([&] { return solver_->SetValues(values_.data(), stream); }));
  }
  symbolic = Median(patterns) + Median(tasks);
  analysis = Median(analyses);
  numeric  = Median(numerics);
  update   = Median(updates);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ours::FetchFactors(std::vector<int> *i, std::vector<int> *j, std::vector<double> *a)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  host_i_.resize(static_cast<size_t>(pattern_.rows) + 1);
  host_j_.resize(pattern_.nonzeros);
  host_diagonal_.resize(pattern_.rows);
  host_values_.resize(pattern_.nonzeros);
  PetscCall(DeviceCopyOut(host_i_.data(), pattern_.i.data(), host_i_.size() * sizeof(int), stream));
  PetscCall(DeviceCopyOut(host_j_.data(), pattern_.j.data(), host_j_.size() * sizeof(int), stream));
  PetscCall(
      DeviceCopyOut(host_diagonal_.data(), pattern_.diagonal.data(), host_diagonal_.size() * sizeof(int), stream));
  PetscCall(DeviceCopyOut(host_values_.data(), values_.data(), host_values_.size() * sizeof(double), stream));
  for (const int d : host_diagonal_) host_values_[d] = 1 / host_values_[d];
  *i = host_i_;
  *j = host_j_;
  *a = host_values_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ours::MakeAlone(bool upper, SolverOf *alone)
{
  const int             rows = static_cast<int>(pattern_.rows);
  std::vector<PetscInt> i(1, 0), j, diagonal;
  std::vector<Scalar>   a;
  Stream                stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  for (int r = 0; r < rows; r++) {
    const int d     = host_diagonal_[r];
    const int begin = upper ? d : host_i_[r], end = upper ? host_i_[r + 1] : d + 1;
    diagonal.push_back(static_cast<PetscInt>(j.size()) + d - begin);
    for (int e = begin; e < end; e++) {
      j.push_back(host_j_[e]);
      a.push_back(e != d ? host_values_[e] : upper ? 1 / host_values_[e] : 1);
    }
    i.push_back(static_cast<PetscInt>(j.size()));
  }
  const PetscInt nonzeros = i.back();
  PetscCall(alone->i.Take(std::move(i), Space::Device));
  PetscCall(alone->j.Take(std::move(j), Space::Device));
  PetscCall(alone->diagonal.Take(std::move(diagonal), Space::Device));
  PetscCall(alone->values.Take(std::move(a), Space::Device));
  alone->solver          = MakeTrisolve(options.engine);
  alone->solver->options = options;
  const FactorView view{pattern_.rows,          nonzeros, alone->i.data(), alone->j.data(),
                        alone->diagonal.data(), nullptr,  nullptr,         false};
  PetscCall(alone->solver->Analyse(view, stream));
  PetscCall(alone->solver->SetValues(alone->values.data(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Ours::MakeTransposed(SolverOf *t)
{
  Stream stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  t->solver          = MakeTrisolve(options.engine);
  t->solver->options = options;
  PetscCall(t->transposed.Build(pattern_.View(), stream));
  PetscCall(t->transposed.SetValues(values_.data(), stream));
  PetscCall(t->solver->Analyse(t->transposed.view, stream));
  PetscCall(t->solver->SetValues(t->transposed.values(), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
struct Work {
  Trisolve     *solver;
  int           count;
  PetscInt      rows;
  const double *b;
  double       *x;
  Stream        stream;
};
void SolveOnce(void *p)
{
  const Work *w = static_cast<Work *>(p);
  PetscCallAbort(PETSC_COMM_SELF, w->solver->Solve(w->count, w->b, w->rows, w->x, w->rows, w->stream));
}
} // namespace

PetscErrorCode Ours::Time(Trisolve *solver, int count, const double *b, double *x, int batches, int solves,
                          double *seconds) const
{
  Work work{solver, count, pattern_.rows, b, x, nullptr};

  PetscFunctionBegin;
  PetscCall(DeviceStream(&work.stream));
  *seconds = EventSeconds(SolveOnce, &work, work.stream, batches, solves);
  PetscCall(DeviceSynchronize(work.stream));
  PetscCall(solver->CheckStuck());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
