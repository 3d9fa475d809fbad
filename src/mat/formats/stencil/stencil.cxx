#include <cstdint>
#include "mat/backend_call.hpp"
#include "mat/formats/stencil/stencil.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

std::unique_ptr<Format> MakeFormat_stencil()
{
  return std::make_unique<Stencil>();
}

static std::uint64_t Mix(std::uint64_t h, std::uint64_t v)
{
  h = (h ^ v) * 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 29);
}
static std::uint64_t BitsOfValue(const Scalar &v)
{
#if defined(PETSC_USE_COMPLEX)
  return Mix(BitsOf(v.re), BitsOf(v.im));
#else
  return BitsOf(v);
#endif
}

static std::uint64_t HashOfRow(const CsrView &A, PetscInt r)
{
  std::uint64_t h = 1;
  for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++)
    h = Mix(Mix(h, static_cast<std::uint64_t>(A.j[e] - r)), BitsOfValue(A.a[e]));
  return h;
}

static bool SameRow(const CsrView &A, PetscInt r, PetscInt q)
{
  const PetscInt length = A.i[r + 1] - A.i[r];
  if (A.i[q + 1] - A.i[q] != length) return false;
  for (PetscInt k = 0; k < length; k++) {
    const PetscInt e = A.i[r] + k, f = A.i[q] + k;
    if (A.j[e] - r != A.j[f] - q || !SameBits(A.a[e], A.a[f])) return false;
  }
  return true;
}

PetscErrorCode FindRowClasses(const CsrView &A, RowClasses *classes, bool *few)
{
  constexpr std::size_t SLOTS = 4 * StencilLayout::CLASSES; // open addressing, a quarter full at most
  std::vector<int>      slot(SLOTS, -1);
  int                   last = -1;

  PetscFunctionBegin;
  *few     = false;
  *classes = RowClasses();
  PetscCallCXX(classes->row_class.resize(A.rows));
  for (PetscInt r = 0; r < A.rows; r++) {
    if (last < 0 || !SameRow(A, r, classes->first[last])) { // neighbours are mostly alike
      std::size_t s = HashOfRow(A, r) >> 54;
      while (slot[s] >= 0 && !SameRow(A, r, classes->first[slot[s]])) s = (s + 1) % SLOTS;
      if (slot[s] < 0) {
        classes->entries += A.i[r + 1] - A.i[r];
        if (static_cast<PetscInt>(classes->first.size()) == StencilLayout::CLASSES ||
            classes->entries > StencilLayout::ENTRIES)
          PetscFunctionReturn(PETSC_SUCCESS);
        slot[s] = static_cast<int>(classes->first.size());
        PetscCallCXX(classes->first.push_back(r));
      }
      last = slot[s];
    }
    classes->row_class[r] = static_cast<unsigned char>(last);
  }
  *few = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::Check(const CsrView &A, const Parameters &, bool *ok, std::string *why) const
{
  RowClasses classes;
  char       text[256];

  PetscFunctionBegin;
  PetscCall(FindRowClasses(A, &classes, ok));
  if (*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "of its %" PetscInt_FMT " rows with %" PetscInt_FMT " nonzeros more than %" PetscInt_FMT
                          " are different, or these have more than %" PetscInt_FMT " entries",
                          A.rows, A.nonzeros, StencilLayout::CLASSES, StencilLayout::ENTRIES));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::BuildPattern(const CsrView &A, const Parameters &)
{
  RowClasses            classes;
  bool                  few;
  std::vector<PetscInt> begin{0}, offset;
  std::vector<Scalar>   value;

  PetscFunctionBegin;
  PetscCall(FindRowClasses(A, &classes, &few));
  PetscCheck(few, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Check() took a matrix of too many different rows");
  for (PetscInt r : classes.first) {
    for (PetscInt e = A.i[r]; e < A.i[r + 1]; e++) {
      PetscCallCXX(offset.push_back(A.j[e] - r));
      PetscCallCXX(value.push_back(A.a[e]));
    }
    PetscCallCXX(begin.push_back(static_cast<PetscInt>(offset.size())));
  }
  classes_ = static_cast<PetscInt>(classes.first.size());
  stored_  = static_cast<PetscInt>(value.size());
  PetscCall(row_class_.Take(std::move(classes.row_class), space_));
  PetscCall(begin_.Take(std::move(begin), space_));
  PetscCall(offset_.Take(std::move(offset), space_));
  PetscCall(value_.Take(std::move(value), space_));
  layout_        = StencilLayout{A.rows, row_class_.data(), begin_.data(), offset_.data(), value_.data()};
  pattern_bytes_ = static_cast<PetscLogDouble>(row_class_.bytes()) + begin_.bytes() + offset_.bytes();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::BuildValues(const CsrView &)
{
  PetscFunctionBegin; // the table has them
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Which rows are alike is a matter of the values.
PetscErrorCode Stencil::Update(const CsrView &A, const Scalar *a, Space where, bool *fits)
{
  std::vector<Scalar> values;
  CsrView             B = A;
  Stream              stream;
  std::string         why;

  PetscFunctionBegin;
  B.a = a;
  if (where == Space::Device) {
    PetscCallCXX(values.resize(A.nonzeros));
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(values.data(), a, values.size() * sizeof(Scalar), stream));
    B.a = values.data();
  }
  PetscCall(Check(B, Parameters(), fits, &why));
  if (*fits) PetscCall(BuildPattern(B, Parameters()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::Mult(const Scalar *x, const Scalar *y, Scalar *z, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(SPARSEGPU_LAUNCH(space_, StencilMult_CUDA(layout_, x, y, z, stream), StencilMult_Kokkos(layout_, x, y, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil::SweepJacobi(const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  PetscFunctionBegin;
#if defined(SPARSEGPU_HAVE_CUDA)
  PetscCall(StencilJacobi_CUDA(layout_, sweep, control, stream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Stencil::Details() const
{
  return std::to_string(classes_) + " different rows of " + std::to_string(stored_) + " entries";
}

} // namespace sparsegpu
