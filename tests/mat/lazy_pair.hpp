/// auto with and without laziness, side by side.
#pragma once

#include "expected.hpp"

namespace testing
{

/// Whether few diagonals take less time in dia than in csr: not of complex numbers with columns of 32 bits.
constexpr bool DIA_PAYS = !PetscDefined(USE_COMPLEX) || PetscDefined(USE_64BIT_INDICES);

/// A under auto and its surrogate without laziness, multiplied side by side: the products must have the same bits.
class LazyPair
{
public:
  PetscErrorCode Create(MPI_Comm comm, const Problem &p, const char backend[])
  {
    PetscFunctionBeginUser;
    PetscCall(Make(comm, p, backend, &lazy_));
    const Option eager("-mat_sparsegpu_auto_lazy", "0");
    PetscCall(Make(comm, p, backend, &eager_));
    PetscCall(Vectors(p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// B in the place of the lazy one; it is destroyed with the pair.
  PetscErrorCode Replace(Mat B)
  {
    PetscFunctionBeginUser;
    PetscCall(MatDestroy(&lazy_));
    lazy_ = B;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Destroy()
  {
    PetscFunctionBeginUser;
    for (Mat *A : {&lazy_, &eager_}) PetscCall(MatDestroy(A));
    for (Vec *v : {&x_, &y_, &z_}) PetscCall(VecDestroy(v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Multiply(PetscInt times, const std::string &what)
  {
    PetscBool same;

    PetscFunctionBeginUser;
    for (PetscInt k = 0; k < times; ++k) {
      PetscCall(VecSet(y_, std::numeric_limits<PetscReal>::quiet_NaN()));
      PetscCall(MatMult(lazy_, x_, y_));
      PetscCall(MatMult(eager_, x_, z_));
      PetscCall(VecEqual(y_, z_, &same));
      PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: product %" PetscInt_FMT " has other bits", what.c_str(),
                 k + 1);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// A^T z and A^T z + x, or with A^H: two products a time.
  PetscErrorCode Transposed(Op op, PetscInt times, const std::string &what)
  {
    auto *const mult = op == Op::Transpose ? MatMultTranspose : MatMultHermitianTranspose;
    auto *const add  = op == Op::Transpose ? MatMultTransposeAdd : MatMultHermitianTransposeAdd;
    Vec         in, out[2];
    PetscBool   same;
    PetscInt    rows;

    PetscFunctionBeginUser;
    PetscCall(VecDuplicate(y_, &in));
    PetscCall(VecDuplicate(x_, &out[0]));
    PetscCall(VecDuplicate(x_, &out[1]));
    PetscCall(VecGetSize(in, &rows));
    PetscCall(SetVector(in, Input(rows, 333, Poison::None)));
    for (PetscInt k = 0; k < 2 * times; ++k) {
      for (int surrogate = 0; surrogate < 2; ++surrogate) {
        PetscCall(VecSet(out[surrogate], std::numeric_limits<PetscReal>::quiet_NaN()));
        if (k % 2)
          PetscCall(add(surrogate ? eager_ : lazy_, in, x_, out[surrogate]));
        else
          PetscCall(mult(surrogate ? eager_ : lazy_, in, out[surrogate]));
      }
      PetscCall(VecEqual(out[0], out[1], &same));
      PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: transposed product %" PetscInt_FMT " has other bits",
                 what.c_str(), k + 1);
    }
    for (Vec *v : {&in, &out[0], &out[1]}) PetscCall(VecDestroy(v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class Change> PetscErrorCode Both(Change change)
  {
    PetscFunctionBeginUser;
    PetscCall(change(lazy_));
    PetscCall(change(eager_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Products that csr is announced for; 0 if no other format is.
  PetscErrorCode Announced(PetscInt *products, std::string *reason)
  {
    MatSparseGPUInfo info;
    const char       before[] = "csr until ";

    PetscFunctionBeginUser;
    PetscCall(MatSparseGPUGetInfo(lazy_, &info));
    *reason = info.reason;
    *products =
        reason->compare(0, sizeof(before) - 1, before) ? 0 : (PetscInt)std::atol(reason->c_str() + sizeof(before) - 1);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Mat lazy() const { return lazy_; }

private:
  PetscErrorCode Make(MPI_Comm comm, const Problem &p, const char backend[], Mat *A)
  {
    PetscFunctionBeginUser;
    PetscCall(CreateMatrix(comm, p, MATSPARSEGPU, "auto", Layout::Even, A));
    PetscCall(MatSparseGPUSetBackend(*A, backend));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Vectors(const Problem &p)
  {
    PetscFunctionBeginUser;
    PetscCall(CreateVector(lazy_, Op::Plain, true, VECSTANDARD, &x_));
    PetscCall(CreateVector(lazy_, Op::Plain, false, VECSTANDARD, &y_));
    PetscCall(VecDuplicate(y_, &z_));
    PetscCall(SetVector(x_, Input(p.cols, 5, Poison::None)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Mat lazy_ = nullptr, eager_ = nullptr;
  Vec x_ = nullptr, y_ = nullptr, z_ = nullptr;
};

/// Five diagonals, but for the entries (k, k + 100), k < 10: these can be added without another diagonal.
inline Problem WithHoles()
{
  Problem p = conformance::Banded("diagonals with holes", 20000, 20000, {-100, -1, 0, 1, 100});
  p.entries.erase(std::remove_if(p.entries.begin(), p.entries.end(),
                                 [](const conformance::Entry &e) { return e.i < 10 && e.j == e.i + 100; }),
                  p.entries.end());
  return p;
}
inline PetscErrorCode FillHole(Mat A, PetscInt k)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(A, k, k + 100, 5, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Events since the last call: choices, conversions, updates.
struct Counts {
  PetscInt choices, conversions, updates;
};
inline PetscErrorCode Count(Counts *counts)
{
  static PetscInt last[3];
  PetscInt        now[3];

  PetscFunctionBeginUser;
  PetscCall(EventCount("SparseGPUChoose", &now[0]));
  PetscCall(EventCount("SparseGPUConv", &now[1]));
  PetscCall(EventCount("SparseGPUUpdate", &now[2]));
  *counts = {now[0] - last[0], now[1] - last[1], now[2] - last[2]};
  std::copy(now, now + 3, last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// From csr to `format` after exactly as many products as announced.
inline PetscErrorCode CheckChange(LazyPair *pair, const std::string &format, const std::string &what)
{
  PetscInt    products = 0;
  std::string reason;

  PetscFunctionBeginUser;
  PetscCall(pair->Multiply(1, what));
  PetscCall(pair->Announced(&products, &reason));
  if (format == "csr") {
    PetscCheck(products == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", what.c_str(), reason.c_str());
    PetscCall(pair->Multiply(100, what));
  } else {
    PetscCheck(products > 1 && reason.find("1 are done, then " + format) != std::string::npos, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: %s", what.c_str(), reason.c_str());
    PetscCall(pair->Multiply(products - 1, what));
    PetscCall(CheckRanOn(pair->lazy(), "csr", what + ", before its time"));
    PetscCall(pair->Multiply(1, what));
  }
  PetscCall(CheckRanOn(pair->lazy(), format, what));
  PetscCall(pair->Multiply(2, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
