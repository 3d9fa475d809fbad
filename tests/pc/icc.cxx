static const char help[] =
    "ICC(k) of MATSOLVERSPARSEGPU against PETSc's own, and the triangles of a matrix against plain loops.\n\n";

#include "factors.hpp"

using namespace testing;

static PetscErrorCode CompareICC(Mat A, const MatFactorInfo &info, const char ordering[], PetscInt length,
                                 const std::string &what)
{
  std::vector<std::string> types;
  std::vector<PetscScalar> ours, again, petsc;
  Mat                      F, G;

  PetscFunctionBeginUser;
  PetscCall(VectorTypes(&types));
  PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ICC, info, ordering, &F));
  PetscCall(FactorOf(A, MATSOLVERPETSC, MAT_FACTOR_ICC, info, ordering, &G));
  PetscCall(SolveWith(A, G, VECSTANDARD, false, &petsc));
  for (const std::string &type : types)
    for (bool transpose : {false, true}) { // the same: the factors are symmetric
      PetscCall(SolveWith(A, F, type, transpose, &ours));
      PetscCall(SolveWith(A, F, type, transpose, &again));
      PetscCall(CheckClose(ours, petsc, length, what + (transpose ? ", transposed, " : ", ") + type));
      PetscCall(CheckSameBits(ours, again, what));
    }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const Problem &square : Problems())
    for (PetscInt levels : {0, 1, 2})
      for (const char *ordering : {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGABMC})
        for (const std::string &backend : backends) {
          const Problem p = Symmetric(square);
          Mat           A;
          if (p.rows == 0) continue; // PETSc's ICC takes none
          PetscCall(CreateOn(backend, p, &A));
          PetscCall(CompareICC(A, Info((PetscReal)levels), ordering, 40 + p.rows / 4,
                               p.name + ", ICC(" + std::to_string(levels) + "), " + ordering + ", " + backend));
          PetscCall(MatDestroy(&A));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Only the upper triangle is looked at: what lies below it, values and pattern, changes no bit.
static PetscErrorCode Garbage()
{
  const Problem            p       = Symmetric(conformance::Grid("grid_24x23", 24, 23, false));
  Problem                  garbage = p;
  std::vector<std::string> backends;
  std::vector<PetscScalar> clean, dirty;

  PetscFunctionBeginUser;
  garbage.entries.clear();
  for (const Entry &e : p.entries)
    if (e.j >= e.i)
      garbage.entries.push_back(e);
    else if (e.j % 5)
      garbage.entries.push_back({e.i, e.j, e.j % 2 ? (PetscScalar)1e30 : std::numeric_limits<PetscReal>::quiet_NaN()});
  for (PetscInt r = 100; r < p.rows; r += 7) garbage.entries.push_back({r, r % 70, -1e30});
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (PetscInt levels : {0, 2}) {
      for (bool is_garbage : {false, true}) {
        Mat A, F;
        PetscCall(CreateOn(backend, is_garbage ? garbage : p, &A));
        PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ICC, Info((PetscReal)levels), MATORDERINGNATURAL, &F));
        PetscCall(SolveWith(A, F, VECSTANDARD, false, is_garbage ? &dirty : &clean));
        PetscCall(MatDestroy(&F));
        PetscCall(MatDestroy(&A));
      }
      PetscCall(CheckSameBits(clean, dirty, "garbage below the diagonal on " + backend));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Pivots that are zero, negative or vanish on the way: told, or shifted away as PETSc does.
static PetscErrorCode Pivots()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const PetscScalar bad : {(PetscScalar)0, (PetscScalar)-3, (PetscScalar)0.5})
    for (const std::string &backend : backends)
      for (MatFactorShiftType shift : {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE}) {
        const std::string what = std::string(MatFactorShiftTypes[shift]) + ", pivot " +
                                 std::to_string((double)PetscRealPart(bad)) + " on " + backend;
        conformance::Builder b("bad_pivots", 60, 60);
        MatFactorInfo        info = Info(0);
        MatFactorError       error;
        PetscReal            value;
        PetscInt             row;
        Mat                  A, F;
        for (PetscInt r = 0; r < 60; ++r) {
          const bool alone = r == 17; // a zero on the diagonal stays one: nothing comes before it
          if (r > 0 && !alone) b.Add(r, r - 1, -1);
          b.Add(r, r, r == 17 || r == 40 ? bad : (PetscScalar)4);
          if (r < 59 && r != 16) b.Add(r, r + 1, -1);
        }
        info.shifttype   = (PetscReal)shift;
        info.shiftamount = (PetscReal)0.25;
        PetscCall(CreateOn(backend, b, &A));
        PetscCall(MatSetErrorIfFailure(A, PETSC_FALSE));
        if (shift == MAT_SHIFT_NONE) {
          PetscCall(FactorOf(A, MATSOLVERSPARSEGPU, MAT_FACTOR_ICC, info, MATORDERINGNATURAL, &F));
          PetscCall(MatFactorGetError(F, &error));
          PetscCheck(error == (bad == (PetscScalar)0 ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_NOERROR),
                     PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: error %d", what.c_str(), (int)error);
          if (error) {
            PetscCall(MatFactorGetErrorZeroPivot(F, &value, &row));
            PetscCheck(row == 17 && value == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d, pivot %g", what.c_str(),
                       (int)row, (double)value);
          }
          PetscCall(MatDestroy(&F));
        } else {
          PetscCall(CompareICC(A, info, MATORDERINGNATURAL, 60, what));
        }
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// b - M x with M = (D + L) D^-1 (D + U) by plain loops. x solves with triangles that are off by at most (length + 3)
/// eps each (Higham, 8.1), L D^-1 by 3 eps; the loops here round as much again. |M| = (|D| + |L|) |D|^-1 (|D| + |U|).
static PetscErrorCode CheckTriangles(const Problem &p, const std::vector<PetscScalar> &b,
                                     const std::vector<PetscScalar> &x, bool transpose, const std::string &what)
{
  const size_t             n = (size_t)p.rows;
  std::vector<PetscScalar> d(n, 0), y(n, 0), z(n, 0);
  std::vector<PetscReal>   ay(n, 0), az(n, 0);
  std::vector<PetscInt>    lengths(n, 0);
  PetscInt                 length = 0;

  PetscFunctionBeginUser;
  for (const Entry &e : p.entries) {
    if (e.i == e.j) d[(size_t)e.i] = e.v;
    length = std::max({length, ++lengths[(size_t)e.i], transpose ? ++lengths[(size_t)e.j] : 0});
  }
  for (const Entry &e : p.entries) { // y = (D + U) x, of the transpose: (D + L^T) x
    const size_t r = (size_t)(transpose ? e.j : e.i), c = (size_t)(transpose ? e.i : e.j);
    if (c < r) continue;
    y[r] += e.v * x[c];
    ay[r] += PetscAbsScalar(e.v) * PetscAbsScalar(x[c]);
  }
  for (const Entry &e : p.entries) { // z = (D + L) D^-1 y
    const size_t r = (size_t)(transpose ? e.j : e.i), c = (size_t)(transpose ? e.i : e.j);
    if (c > r) continue;
    z[r] += e.v * (y[c] / d[c]);
    az[r] += PetscAbsScalar(e.v) * (ay[c] / PetscAbsScalar(d[c]));
  }
  for (size_t r = 0; r < n; ++r) {
    const PetscReal bound = 2 * (2 * (PetscReal)(length + 3) + 6) * PETSC_MACHINE_EPSILON * az[r];
    PetscCheck(PetscAbsScalar(b[r] - z[r]) <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, row %d: off by %g > %g",
               what.c_str(), (int)r, (double)PetscAbsScalar(b[r] - z[r]), (double)bound);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Triangles()
{
  const Option             factor("-pc_sparsegpu_factor", "none");
  std::vector<std::string> backends, types;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  PetscCall(VectorTypes(&types));
  for (const Problem &p : Problems())
    for (const char *engine : {"auto", "syncfree", "level"})
      for (const std::string &backend : backends)
        for (const std::string &type : types) {
          const Option                   solve("-pc_sparsegpu_solve", engine);
          const std::vector<PetscScalar> rhs = Input(p.rows, 7, Poison::None);
          const PetscScalar             *array;
          Mat                            A;
          Vec                            b, x;
          PC                             pc;
          PetscCall(CreateOn(backend, p, &A));
          PetscCall(CreateVector(A, Op::Plain, false, type, &b));
          PetscCall(VecDuplicate(b, &x));
          PetscCall(SetVector(b, rhs));
          PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
          PetscCall(PCSetType(pc, PCSPARSEGPU));
          PetscCall(PCSetFromOptions(pc));
          PetscCall(PCSetOperators(pc, A, A));
          for (bool transpose : {false, true}) {
            PetscCall(transpose ? PCApplyTranspose(pc, b, x) : PCApply(pc, b, x));
            PetscCall(VecGetArrayRead(x, &array));
            PetscCall(CheckTriangles(p, rhs, std::vector<PetscScalar>(array, array + p.rows), transpose,
                                     p.name + ", " + engine + ", " + backend + ", " + type +
                                         (transpose ? ", transposed" : "")));
            PetscCall(VecRestoreArrayRead(x, &array));
          }
          PetscCall(PCDestroy(&pc));
          PetscCall(VecDestroy(&b));
          PetscCall(VecDestroy(&x));
          PetscCall(MatDestroy(&A));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"same", Same}, {"garbage", Garbage}, {"pivots", Pivots}, {"triangles", Triangles}});
}
