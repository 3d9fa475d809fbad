/// Matrices whose values and columns tempt a codec, and products compared bit for bit.
#pragma once

#include "../device_array.hpp"
#include "../family.hpp"

#include <device/scalar.hpp>

#include <cmath>

namespace testing
{

/// The formats that store values in codes.
constexpr const char *CODED[] = {"sell", "bsr"};

/// Where scalars have these codecs at all: no dictionary of complex numbers, nothing narrower than single precision.
#if defined(PETSC_USE_COMPLEX)
constexpr bool HAS_DICTIONARY = false;
#else
constexpr bool HAS_DICTIONARY = true;
#endif
constexpr bool HAS_SINGLE = sizeof(PetscReal) > sizeof(float);

/// The codec that `wanted` must come to, for values that are `few` and exact in single precision where `narrow`.
inline std::string Codec(const std::string &wanted, bool few, bool narrow)
{
  if (HAS_DICTIONARY && few && (wanted == "auto" || wanted == "dictionary")) return "dictionary";
  if (HAS_SINGLE && narrow && (wanted == "auto" || wanted == "single")) return "single";
  return "full";
}

/// One entry of each row has a special value: of two NaN in a sum the compiler chooses which one comes out.
struct Palette {
  const char            *name;
  std::vector<PetscReal> special, ordinary; ///< ordinary empty: a value of its own for each entry
  bool                   few, narrow;       ///< at most 256 different ones; all exact in single precision
};
inline std::vector<Palette> Palettes()
{
  using Limits            = std::numeric_limits<PetscReal>;
  const PetscReal payload = sparsegpu::RealOf(sparsegpu::PAD_BITS ^ 2), signalling = Limits::signaling_NaN();
  const PetscReal tiny = Limits::denorm_min(), inf = Limits::infinity(), nan = Limits::quiet_NaN();
  const std::vector<PetscReal> few{(PetscReal)1.5, -3, (PetscReal)0.25}, third{(PetscReal)1 / 3, -1, 7};
  std::vector<PetscReal>       floats, denormals;
  for (int k = 0; k < 300; ++k) {
    floats.push_back((PetscReal)(k - 150) / 8);
    denormals.push_back((PetscReal)std::ldexp(1.0, -149) * (PetscReal)(k + 1)); // of single precision, and exact there
  }
  const float largest = std::numeric_limits<float>::max();
  return {
      {"few values", {2, 4}, few, true, true},
      {"zeros of both signs", {0, -0.0}, few, true, true},
      {"infinities", {inf, -inf, 1}, few, true, true},
      {"NaN", {nan, payload, signalling, 1}, third, true, false},
      {"thirds", {2, 4}, third, true, false},
      {"denormal numbers", {tiny, -tiny, 3 * tiny, Limits::min() / 2}, few, true, false},
      {"denormal single numbers", {2, 4}, denormals, false, true},
      {"single numbers", {2, 4}, floats, false, true},
      {"largest single number", {(PetscReal)largest, -(PetscReal)largest}, few, true, true},
      {"beyond single numbers", {(PetscReal)largest * (PetscReal)1.0000001, Limits::max()}, few, true, false},
      {"all different", {2}, {}, false, false},
  };
}

/// Columns of neighbouring rows that are near, less near and far; and rows of every class.
struct Shape {
  const char *name;
  PetscInt    rows, cols, spread;
  bool        short_rows; ///< at most 7 entries: every format adds them one after the other
};
constexpr Shape SHAPES[] = {{"near", 330, 400, 2, true},
                            {"less near", 330, 20000, 300, true},
                            {"far", 330, 100000, 34000, true},
                            {"classes", 150, 70000, 3, false}};

inline Problem Make(const Shape &shape, const Palette &palette)
{
  conformance::Builder b(std::string(shape.name) + ", " + palette.name, shape.rows, shape.cols);
  size_t               ordinary = 0;
  for (PetscInt i = 0; i < shape.rows; ++i) {
    PetscInt length = 1 + i % 7;
    if (!shape.short_rows) length = i == 40 ? 3000 : i == 90 ? 300 : i % 41;
    for (PetscInt k = 0; k < length; ++k) {
      const PetscInt    j = (PetscInt)(((long long)i + (long long)(k + i % 3) * shape.spread) % shape.cols);
      const PetscScalar v = k == i % length            ? palette.special[(size_t)(i / 2) % palette.special.size()]
                            : palette.ordinary.empty() ? conformance::Value((unsigned long long)(i * 10000 + k))
                                                       : palette.ordinary[ordinary++ % palette.ordinary.size()];
      b.Add(i, j, v);
    }
  }
  return b;
}

struct Coding {
  std::string format, values;
  PetscInt    column_bytes, window;
};
inline std::string Name(const Coding &c)
{
  return c.values + " values, columns of " + std::to_string(c.column_bytes) + " bytes, window " +
         std::to_string(c.window);
}

/// A x, A x + z and A^T z after each other, and how A was stored for the first.
struct Run {
  std::vector<PetscScalar> results;
  size_t                   plain = 0; ///< so many of them are not of the transpose
  std::string              details;
  bool                     refused = false;
};
inline PetscErrorCode Append(Vec v, Run *run)
{
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &a));
  run->results.insert(run->results.end(), a, a + n);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode Products(Mat A, const Problem &p, Run *run)
{
  Vec              x, y, z, t;
  MatSparseGPUInfo info;

  PetscFunctionBeginUser;
  *run = Run();
  PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &x));
  PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &y));
  PetscCall(VecDuplicate(x, &t));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(SetVector(x, Input(p.cols, 5, Poison::None)));
  PetscCall(SetVector(z, Input(p.rows, 50000, Poison::None)));
  PetscCall(MatMult(A, x, y));
  PetscCall(Append(y, run));
  PetscCall(MatMultAdd(A, x, z, y));
  PetscCall(Append(y, run));
  run->plain = run->results.size();
  PetscCall(MatMultTranspose(A, z, t));
  PetscCall(Append(t, run));
  PetscCall(MatSparseGPUGetInfo(A, &info));
  run->details = info.details;
  for (Vec *v : {&x, &y, &z, &t}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode Multiply(const Problem &p, const Coding &c, const std::string &backend, Run *run)
{
  const Option values("-mat_sparsegpu_values", c.values);
  const Option bytes("-mat_sparsegpu_column_bytes", std::to_string(c.column_bytes));
  const Option window("-mat_sparsegpu_sell_window", std::to_string(c.window));
  const Option width("-mat_sparsegpu_csr_width", "1"); // one thread a row: the order of its entries
  Mat          A;
  PetscBool    accepts;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSPARSEGPU, c.format.c_str(), &A));
  PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
  PetscCall(MatSparseGPUCheckFormat(A, c.format.c_str(), &accepts, nullptr));
  if (accepts) PetscCall(Products(A, p, run));
  run->refused = !accepts;
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values are encoded, or stored once, once that pays.
inline PetscErrorCode AwaitEncoding(Mat A)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  for (int k = 0; k < 20; ++k) PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscReal Rounded(PetscReal v)
{
  return (PetscReal)(float)v;
}
/// The same with the values that single precision has.
inline Problem RoundedProblem(const Problem &p)
{
  Problem r = p;
#if defined(PETSC_USE_COMPLEX)
  for (conformance::Entry &e : r.entries)
    e.v = PetscScalar(Rounded(PetscRealPart(e.v)), Rounded(PetscImaginaryPart(e.v)));
#else
  for (conformance::Entry &e : r.entries) e.v = Rounded(e.v);
#endif
  return r;
}

/// The same bits? In rows of the transpose, several NaN may meet: there any will do.
inline PetscErrorCode CheckBits(const Run &run, const Run &expected, bool transpose, const std::string &what)
{
  PetscFunctionBeginUser;
  PetscCheck(run.results.size() == expected.results.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu results, not %zu",
             what.c_str(), run.results.size(), expected.results.size());
  for (size_t k = 0; k < (transpose ? run.results.size() : run.plain); ++k) {
    const PetscScalar u = run.results[k], v = expected.results[k];
    if (!memcmp(&u, &v, sizeof(u)) || (k >= run.plain && u != u && v != v)) continue;
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: result %zu is %.17g%+.17gi, not %.17g%+.17gi", what.c_str(), k,
            (double)PetscRealPart(u), (double)PetscImaginaryPart(u), (double)PetscRealPart(v),
            (double)PetscImaginaryPart(v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
