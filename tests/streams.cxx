static const char help[] = "One object used on two streams in turn gives the results that it gives on one.\n\n";

#include <cstring>
#include "family.hpp"

#if defined(PETSC_HAVE_CUDA) && PETSC_VERSION_GE(3, 24, 0)
  #include <petscdevice.h>
  #define TWO_STREAMS 1
#endif

using namespace testing;

#if defined(TWO_STREAMS)
namespace
{
/// Two contexts whose streams do not wait for others. PETSc's own is back when this ends.
class Contexts
{
public:
  Contexts() { PetscCallAbort(PETSC_COMM_SELF, Create()); }
  Contexts(const Contexts &)            = delete;
  Contexts &operator=(const Contexts &) = delete;
  ~Contexts() { PetscCallAbort(PETSC_COMM_SELF, Destroy()); }

  PetscErrorCode Use(int k) { return PetscDeviceContextSetCurrentContext(context_[k]); }
  PetscErrorCode Synchronize()
  {
    PetscFunctionBeginUser;
    for (PetscDeviceContext context : {before_, context_[0], context_[1]})
      PetscCall(PetscDeviceContextSynchronize(context));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode Create()
  {
    PetscFunctionBeginUser;
    PetscCall(PetscDeviceContextGetCurrentContext(&before_));
    for (PetscDeviceContext &context : context_) {
      PetscCall(PetscDeviceContextCreate(&context));
      PetscCall(PetscDeviceContextSetStreamType(context, PETSC_STREAM_NONBLOCKING));
      PetscCall(PetscDeviceContextSetUp(context));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Destroy()
  {
    PetscFunctionBeginUser;
    PetscCall(Synchronize());
    PetscCall(PetscDeviceContextSetCurrentContext(before_));
    for (PetscDeviceContext &context : context_) PetscCall(PetscDeviceContextDestroy(&context));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscDeviceContext before_ = nullptr, context_[2] = {};
};

using Vectors = std::vector<Vec>;

PetscErrorCode CreateVectors(PetscInt n, int count, bool filled, Vectors *vectors)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < count; k++) {
    Vec v;
    PetscCall(VecCreate(PETSC_COMM_SELF, &v));
    PetscCall(VecSetSizes(v, n, n));
    PetscCall(VecSetType(v, VECCUDA));
    PetscCall(VecSet(v, std::numeric_limits<PetscReal>::quiet_NaN()));
    if (filled) {
      const PetscScalar *there;
      PetscMemType       where;
      PetscCall(SetVector(v, Input(n, 100 * (unsigned long long)k, Poison::None)));
      PetscCall(VecGetArrayReadAndMemType(v, &there, &where)); // to the device
      PetscCall(VecRestoreArrayReadAndMemType(v, &there));
    }
    vectors->push_back(v);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DestroyVectors(Vectors *vectors)
{
  PetscFunctionBeginUser;
  for (Vec &v : *vectors) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Says where x has other bits than it should have.
PetscErrorCode TellDifference(Vec x, Vec expected, std::string *text)
{
  const PetscScalar *a, *b;
  PetscInt           n, count = 0, first = -1;
  PetscReal          largest = 0;
  char               line[256];

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(expected, &b));
  for (PetscInt r = 0; r < n; r++) {
    if (!memcmp(&a[r], &b[r], sizeof(a[r]))) continue;
    const PetscReal difference = PetscAbsScalar(a[r] - b[r]);
    if (count++ == 0) first = r;
    if (!(difference <= largest)) largest = difference; // a NaN stays
  }
  if (count == 0)
    PetscCall(PetscSNPrintf(line, sizeof(line), "no entry differs"));
  else
    PetscCall(PetscSNPrintf(line, sizeof(line),
                            "%" PetscInt_FMT " of %" PetscInt_FMT " entries differ, by up to %g; the first is entry "
                            "%" PetscInt_FMT ", %.17g, not %.17g",
                            count, n, (double)largest, first, (double)PetscRealPart(a[first]),
                            (double)PetscRealPart(b[first])));
  *text = line;
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecRestoreArrayRead(expected, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a call did, in numbers of the host: residual norms, for a solve.
struct Trace {
  std::string            end;
  std::vector<PetscReal> norms;
};
std::string Tell(const Trace &alone, const Trace &in_turn)
{
  char   line[256];
  size_t k = 0;

  if (alone.norms.empty() && in_turn.norms.empty()) return "";
  while (k < alone.norms.size() && k < in_turn.norms.size() && alone.norms[k] == in_turn.norms[k]) k++;
  const PetscReal missing = -1;
  (void)PetscSNPrintf(line, sizeof(line), "norm %d is the first to differ, %.17g alone, %.17g in turn", (int)k,
                      (double)(k < alone.norms.size() ? alone.norms[k] : missing),
                      (double)(k < in_turn.norms.size() ? in_turn.norms[k] : missing));
  const bool same = k == alone.norms.size() && k == in_turn.norms.size();
  return "; alone: " + alone.end + "; in turn: " + in_turn.end + "; " + (same ? "all norms are the same" : line);
}

/// call(b, x) for many b on one stream after the other, without any wait, has the bits that it has alone. trace() tells
/// of the last call.
template <class Call, class Tracer>
PetscErrorCode CheckInTurn(const std::string &what, PetscInt n, int count, Call call, Tracer trace)
{
  Contexts           contexts;
  Vectors            b, x, expected;
  std::vector<Trace> alone(count), in_turn(count);

  PetscFunctionBeginUser;
  PetscCall(CreateVectors(n, count, true, &b));
  PetscCall(CreateVectors(n, count, false, &x));
  PetscCall(CreateVectors(n, count, false, &expected));
  for (int k = 0; k < count; k++) {
    PetscCall(call(b[k], expected[k]));
    PetscCall(contexts.Synchronize());
    PetscCall(trace(&alone[k]));
  }
  for (int k = 0; k < count; k++) {
    PetscCall(contexts.Use(k % 2));
    PetscCall(call(b[k], x[k]));
    PetscCall(trace(&in_turn[k]));
  }
  PetscCall(contexts.Synchronize());
  for (int k = 0; k < count; k++) {
    PetscBool   same;
    std::string difference, again;
    PetscCall(VecEqual(x[k], expected[k], &same));
    if (same) continue;
    PetscCall(TellDifference(x[k], expected[k], &difference));
    PetscCall(call(b[k], x[k]));
    PetscCall(contexts.Synchronize());
    PetscCall(TellDifference(x[k], expected[k], &again));
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB,
            "%s, %" PetscInt_FMT " rows: result %d of %d has other bits than alone: "
            "%s%s; once more, with a wait after it: %s",
            what.c_str(), n, k, count, difference.c_str(), Tell(alone[k], in_turn[k]).c_str(), again.c_str());
  }
  PetscCall(DestroyVectors(&b));
  PetscCall(DestroyVectors(&x));
  PetscCall(DestroyVectors(&expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Call> PetscErrorCode CheckInTurn(const std::string &what, PetscInt n, int count, Call call)
{
  PetscFunctionBeginUser;
  PetscCall(CheckInTurn(what, n, count, call, [](Trace *) { return PETSC_SUCCESS; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr PetscInt SIDE = 1000; ///< of a grid: a product takes long enough to meet the next one

PetscErrorCode Products()
{
  PetscFunctionBeginUser;
  for (const char *format : {"csr", "merge", "coo", "hyb", "sell"}) { // merge, coo: with scratch of their own
    Mat A;
    PetscCall(CreateMatrix(conformance::Grid("grid", SIDE, SIDE, false), MATSPARSEGPU, format, &A));
    PetscCall(CheckInTurn(format, SIDE * SIDE, 40, [A](Vec b, Vec x) { return MatMult(A, b, x); }));
    PetscCall(CheckInTurn(std::string(format) + ", transposed", SIDE * SIDE, 40,
                          [A](Vec b, Vec x) { return MatMultTranspose(A, b, x); }));
    // new values: the conversion's writes meet the products of before
    PetscCall(CheckInTurn(std::string(format) + ", scaled", SIDE * SIDE, 10, [A](Vec b, Vec x) {
      PetscFunctionBeginUser;
      PetscCall(MatScale(A, 2));
      PetscCall(MatMult(A, b, x));
      PetscCall(MatScale(A, 0.5));
      PetscCall(MatMultAdd(A, b, x, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the last solve of ksp did; asks the device nothing.
PetscErrorCode TraceSolve(KSP ksp, Trace *trace)
{
  const PetscReal   *norms;
  PetscReal          last;
  PetscInt           iterations, count;
  KSPConvergedReason reason;
  char               line[128];

  PetscFunctionBeginUser;
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetResidualNorm(ksp, &last));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetResidualHistory(ksp, &norms, &count));
  PetscCall(PetscSNPrintf(line, sizeof(line), "%" PetscInt_FMT " iterations, residual norm %.17g, %s", iterations,
                          (double)last, KSPConvergedReasons[reason]));
  trace->end = line;
  trace->norms.assign(norms, norms + count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solves(PetscInt side, const char options[], int count)
{
  const Options set(options);
  Mat           A;
  KSP           ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(conformance::Grid("grid", side, side, false), MATSPARSEGPU, nullptr, &A));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetResidualHistory(ksp, nullptr, 1000, PETSC_TRUE)); // filled on the host: waits for nothing
  const std::string what = "grid of side " + std::to_string(side) + ", " + options;
  PetscCall(CheckInTurn(
      what, side * side, count, [ksp](Vec b, Vec x) { return KSPSolve(ksp, b, x); },
      [ksp](Trace *trace) { return TraceSolve(ksp, trace); }));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Triangular()
{
  PetscFunctionBeginUser;
  PetscCall(Solves(SIDE, "-ksp_type preonly -pc_type ilu -pc_factor_mat_solver_type sparsegpu", 40));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Direct()
{
  PetscFunctionBeginUser;
  PetscCall(Solves(200, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type sparsegpu", 40));
  PetscCall(
      Solves(200, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type sparsegpu -mat_sparsegpu_lu_refine 0", 40));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Krylov()
{
  PetscFunctionBeginUser;
  for (const char *solver : {"-ksp_type sparsegpugmres", "-ksp_type sparsegpujacobi"})
    for (PetscInt side : {20, 500}) // one launch for many iterations, and launches for each
      PetscCall(Solves(side, (std::string(solver) + " -pc_type jacobi -ksp_rtol 1e-3 -ksp_max_it 200").c_str(), 20));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's vector operations run on the default stream: where that is busy, a copy of the right-hand side ends long
/// after the call that began it.
PetscErrorCode Behind()
{
  PetscFunctionBeginUser;
  for (const char *norm : {"", " -ksp_norm_type none"})
    for (const char *solver : {"-ksp_type sparsegpugmres", "-ksp_type sparsegpujacobi"})
      for (PetscInt side : {20, 500}) {
        const Options  set(std::string(solver) + norm + " -pc_type jacobi -ksp_rtol 1e-3 -ksp_max_it 50");
        Vectors        pair;
        const Vectors *busy = &pair;
        Mat            A;
        KSP            ksp;
        PetscCall(CreateVectors(4 * SIDE * SIDE, 2, true, &pair));
        PetscCall(CreateMatrix(conformance::Grid("grid", side, side, false), MATSPARSEGPU, nullptr, &A));
        PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
        PetscCall(KSPSetOperators(ksp, A, A));
        PetscCall(KSPSetFromOptions(ksp));
        PetscCall(CheckInTurn(
            std::string(solver) + norm + ", behind", side * side, 6,
            [ksp, busy](Vec b, Vec x) {
              PetscFunctionBeginUser;
              for (int k = 0; k < 100; k++) PetscCall(VecAXPY((*busy)[0], 1e-3, (*busy)[1])); // milliseconds
              PetscCall(KSPSolve(ksp, b, x));
              PetscFunctionReturn(PETSC_SUCCESS);
            },
            [ksp](Trace *trace) { return TraceSolve(ksp, trace); }));
        PetscCall(KSPDestroy(&ksp));
        PetscCall(MatDestroy(&A));
        PetscCall(DestroyVectors(&pair));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What one stream still reads is freed, and the memory reused, on the other.
PetscErrorCode Frees()
{
  const Problem p = conformance::Grid("grid", SIDE, SIDE, false);
  Contexts      contexts;
  Vectors       b, x, expected;
  Mat           A, B = nullptr;

  PetscFunctionBeginUser;
  PetscCall(CreateVectors(p.rows, 1, true, &b));
  PetscCall(CreateVectors(p.rows, 1, false, &x));
  PetscCall(CreateVectors(p.rows, 1, false, &expected));
  PetscCall(CreateMatrix(p, MATSPARSEGPU, "sell", &A));
  PetscCall(MatMult(A, b[0], expected[0]));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, -3));
  PetscCall(MatDestroy(&A));
  PetscCall(contexts.Synchronize());
  for (int k = 0; k < 10; k++) {
    Mat       C;
    PetscBool same;
    PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
    PetscCall(MatScale(C, (PetscScalar)-1 / (PetscScalar)3)); // not quite the matrix of before
    PetscCall(MatMult(C, b[0], expected[0]));
    PetscCall(contexts.Synchronize());
    PetscCall(contexts.Use(0));
    for (int product = 0; product < 1000; product++) PetscCall(MatMult(C, b[0], x[0])); // tens of milliseconds
    PetscCall(contexts.Use(1));
    PetscCall(MatDestroy(&C)); // the products have not ended
    PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
    Vec y;
    PetscCall(VecDuplicate(b[0], &y));
    PetscCall(MatMult(C, b[0], y)); // other values, in the memory that is free now
    PetscCall(contexts.Synchronize());
    PetscCall(VecEqual(x[0], expected[0], &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Round %d: a product read memory that was freed", k);
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(DestroyVectors(&b));
  PetscCall(DestroyVectors(&x));
  PetscCall(DestroyVectors(&expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A context may end before the objects that were used with it.
PetscErrorCode Ended()
{
  Mat     A;
  Vectors b, x;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(conformance::Grid("grid", SIDE, SIDE, false), MATSPARSEGPU, "merge", &A));
  PetscCall(CreateVectors(SIDE * SIDE, 1, true, &b));
  PetscCall(CreateVectors(SIDE * SIDE, 2, false, &x));
  for (int k = 0; k < 20; k++) {
    Contexts  contexts;
    PetscBool same;
    PetscCall(contexts.Use(k % 2));
    PetscCall(MatMult(A, b[0], x[k % 2]));
    PetscCall(contexts.Synchronize());
    PetscCall(VecEqual(x[0], x[k % 2], &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Product %d has other bits than the first", k);
  }
  PetscCall(DestroyVectors(&b));
  PetscCall(DestroyVectors(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <PetscErrorCode (*test)()> static PetscErrorCode On()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (device)
    PetscCall(test());
  else
    PetscCall(Skip("there is no GPU"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
  #define IF_TWO_STREAMS(test) On<test>
#else
static PetscErrorCode Missing()
{
  return Skip("PETSc has no CUDA, or is older than 3.24");
}
  #define IF_TWO_STREAMS(test) Missing
#endif

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"products", IF_TWO_STREAMS(Products)},
               {"triangular", IF_TWO_STREAMS(Triangular)},
               {"direct", IF_TWO_STREAMS(Direct)},
               {"krylov", IF_TWO_STREAMS(Krylov)},
               {"behind", IF_TWO_STREAMS(Behind)},
               {"frees", IF_TWO_STREAMS(Frees)},
               {"ended", IF_TWO_STREAMS(Ended)}});
}
