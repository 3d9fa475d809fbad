/// Sparse approximate inverses on the host, each row by one thread. The formulas are those of isai.cu.
#include "pc/trisolve/isai.hpp"
#include "device/each_kokkos.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::trisolve
{

/// Row r of inverse_kernel() in isai.cu: columns ascend, so that a row of L and the unknowns are merged.
static void InvertRow(const FactorView &F, const Scalar *a, const FactorView &M, const PetscInt *to, PetscInt r,
                      Scalar *m)
{
  const PetscInt first = M.i[r], last = M.diagonal[r];
  const auto     at = [&](PetscInt e) -> Scalar     &{ return m[to ? to[e] : e]; };
  for (PetscInt e = first; e < last; e++) at(e) = Scalar(0);
  for (PetscInt e = last; e >= first; e--) {
    const PetscInt k = M.j[e];
    Scalar         v = e < last ? at(e) : Scalar(1);
    if (F.lower_diagonal) v = v * a[F.diagonal[k]];
    if (e < last || F.lower_diagonal) at(e) = v; // else the place is the other factor's
    PetscInt q = first;
    for (PetscInt f = F.i[k]; f < F.diagonal[k]; f++) {
      while (q < e && M.j[q] < F.j[f]) q++;
      if (q < e && M.j[q] == F.j[f]) at(q) = at(q) - v * a[f];
    }
  }
}

static PetscErrorCode Invert(const FactorView &F, const Scalar *a, const FactorView &M, const PetscInt *to, Scalar *m)
{
  PetscFunctionBegin;
  PetscCall(KokkosForEach("ApproximateInverse", F.rows,
                          [=](const PetscCount r) { InvertRow(F, a, M, to, static_cast<PetscInt>(r), m); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostIsai::Analyse(const FactorView &factors, Stream)
{
  PetscFunctionBegin;
  factors_ = factors;
  inverse_ = factors;
  PetscCall(transposed_.Build(factors));
  if (options.power > 1) {
    PetscCall(pattern_.Build(factors, Space::Host));
    inverse_ = pattern_.View(factors);
    PetscCall(transposed_inverse_.Build(inverse_));
  }
  PetscCallCXX(lower_.resize(factors.rows));
  if (options.relax > 0) PetscCallCXX(upper_.resize(factors.rows));
  if (options.relax > 0) PetscCallCXX(residual_.resize(factors.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostIsai::SetValues(const Scalar *values, Stream stream)
{
  const HostTransposed &pattern = options.power > 1 ? transposed_inverse_ : transposed_;

  PetscFunctionBegin;
  PetscCall(wide_.Allocate(inverse_.nonzeros, Space::Host));
  PetscCall(Invert(factors_, values, inverse_, nullptr, wide_.data()));
  PetscCall(transposed_.SetValues(values));
  PetscCall(Invert(transposed_.view, transposed_.values(), pattern.view, pattern.from(), wide_.data()));
  PetscCall(m_.Set(wide_.data(), inverse_.nonzeros, options.single, Space::Host, stream));
  if (options.single) {
    wide_ = Array<Scalar>();
    transposed_.DropValues();
  }
  if (options.relax > 0) PetscCall(a_.Set(values, factors_.nonzeros, options.single, Space::Host, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostIsai::Product(bool upper, const Scalar *in, const PetscInt *in_at, const Scalar *base, Scalar *out,
                                 const PetscInt *out_at)
{
  const FactorView M = inverse_;

  PetscFunctionBegin;
  PetscCall(m_.With([&](const auto &m) {
    return KokkosForEach("InverseProduct", M.rows, [=](const PetscCount r) {
      const PetscInt end = upper ? M.i[r + 1] : M.diagonal[r];
      Scalar         sum(0), own = in[in_at ? in_at[r] : r];
      for (PetscInt e = upper ? M.diagonal[r] + 1 : M.i[r]; e < end; e++)
        sum += m[e] * in[in_at ? in_at[M.j[e]] : M.j[e]];
      if (upper != M.lower_diagonal) own = m[M.diagonal[r]] * own;
      if (base) own = base[r] + own;
      out[out_at ? out_at[r] : r] = own + sum;
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As Isai::Half() on the device.
PetscErrorCode HostIsai::Half(bool upper, const Scalar *in, Scalar *out)
{
  const FactorView F     = factors_;
  const PetscInt  *in_at = upper ? nullptr : F.row, *out_at = upper ? F.column : nullptr;
  Scalar          *y = upper ? upper_.data() : lower_.data(), *residual = residual_.data();

  PetscFunctionBegin;
  if (options.relax == 0) {
    PetscCall(Product(upper, in, in_at, nullptr, out, out_at));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Product(upper, in, in_at, nullptr, y, nullptr));
  for (PetscInt k = 1; k <= options.relax; k++) {
    const bool last = k == options.relax;
    PetscCall(a_.With([&](const auto &a) {
      return KokkosForEach("InverseResidual", F.rows, [=](const PetscCount r) {
        const PetscInt end = upper ? F.i[r + 1] : F.diagonal[r];
        Scalar         sum(0);
        for (PetscInt e = upper ? F.diagonal[r] + 1 : F.i[r]; e < end; e++) sum += a[e] * y[F.j[e]];
        const Scalar own = upper != F.lower_diagonal ? Inverse(a[F.diagonal[r]]) * y[r] : y[r];
        residual[r]      = in[in_at ? in_at[r] : r] - own - sum;
      });
    }));
    PetscCall(Product(upper, residual, nullptr, y, last ? out : y, last ? out_at : nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HostIsai::Solve(PetscInt count, const Scalar *b, PetscInt ldb, Scalar *x, PetscInt ldx, Stream)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < count; c++, b += ldb, x += ldx) {
    PetscCall(Half(false, b, lower_.data()));
    PetscCall(Half(true, lower_.data(), x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t HostIsai::Bytes() const
{
  return pattern_.Bytes() + transposed_.Bytes() + transposed_inverse_.Bytes() + wide_.bytes() + m_.Bytes() +
         a_.Bytes() + (lower_.size() + upper_.size() + residual_.size()) * sizeof(Scalar);
}

} // namespace sparsegpu::trisolve
