/// Classes of rows as values change, one class too many, and the stride of grids.
#include "mat/formats/stencil/stencil.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

/// Rows of [2 -1; -1 2 -1; -1 2 -1; -1 2]: three classes, until a value of a row inside changes.
static PetscErrorCode Repeats()
{
  static const PetscInt i[] = {0, 2, 5, 8, 10}, j[] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
  Scalar                a[] = {2, -1, -1, 2, -1, -1, 2, -1, -1, 2};
  const Scalar          x[] = {1, 2, 3, 4};
  Scalar                z[4];
  const CsrView         A{4, 4, 10, i, j, a};
  Stencil               stencil;
  bool                  fits;

  PetscFunctionBeginUser;
  PetscCall(stencil.Build(A, FormatOptions(), Space::Host));
  const StencilLayout &layout = stencil.Layout();
  PetscCheck(stencil.Stored() == 7 && layout.row_class[0] == 0 && layout.row_class[1] == 1 &&
                 layout.row_class[2] == 1 && layout.row_class[3] == 2,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries, classes %d %d %d %d", stencil.Stored(),
             layout.row_class[0], layout.row_class[1], layout.row_class[2], layout.row_class[3]);
  PetscCall(example::CheckInts("offset", layout.offset, {0, 1, -1, 0, 1, -1, 0}));
  PetscCall(example::CheckValues("value of the second class", layout.value + 3, {2}));
  a[6] = 3;
  PetscCall(stencil.Update(A, a, Space::Host, &fits));
  PetscCheck(fits && stencil.Stored() == 10, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " entries after a change", stencil.Stored());
  PetscCall(stencil.Mult(x, nullptr, z, nullptr));
  PetscCall(example::CheckValues("A x", z, {0, 0, 3, 5}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// 257 rows, each with another value: one too many, at first and after a change.
static PetscErrorCode TooMany()
{
  constexpr PetscInt    n = StencilLayout::CLASSES + 1;
  std::vector<PetscInt> i(n + 1), j(n);
  std::vector<Scalar>   a(n, Scalar(1));
  Stencil               stencil;
  bool                  ok;
  std::string           why;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; r++) j[r] = r, i[r + 1] = r + 1;
  const CsrView A{n, n, n, i.data(), j.data(), a.data()};
  PetscCall(stencil.Build(A, FormatOptions(), Space::Host));
  for (PetscInt r = 0; r < n - 1; r++) a[r] = Scalar(static_cast<PetscReal>(r + 1));
  PetscCall(stencil.Update(A, a.data(), Space::Host, &ok));
  PetscCheck(ok, PETSC_COMM_SELF, PETSC_ERR_PLIB, "256 different rows did not fit");
  a[n - 1] = Scalar(-1);
  PetscCall(stencil.Update(A, a.data(), Space::Host, &ok));
  PetscCheck(!ok, PETSC_COMM_SELF, PETSC_ERR_PLIB, "257 different rows fitted");
  PetscCall(Plans(A, FormatOptions(), Space::Host).Check("stencil", &ok, &why));
  PetscCheck(!ok && why.find("256") != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The refusal says %s",
             why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Five points of a grid of 300 x 12, also a periodic one: from line to line most columns come again; along one line or
/// along a few of 100 there is no way that leaves a thread block.
static PetscErrorCode Strides()
{
  const PetscInt shapes[][4] = {{300, 12, 0, 300}, {300, 12, 1, 300}, {3600, 1, 0, 0}, {100, 4, 0, 0}};

  PetscFunctionBeginUser;
  for (const auto &[width, lines, periodic, expected] : shapes) {
    std::vector<PetscInt> i{0}, j;
    Stencil               stencil;
    for (PetscInt r = 0; r < width * lines; r++) {
      for (PetscInt step : {-width, PetscInt(-1), PetscInt(0), PetscInt(1), width}) {
        const bool     leaves = (step == -1 && r % width == 0) || (step == 1 && r % width == width - 1);
        const PetscInt line   = leaves ? r + step - step * width : r + step; // around
        if (periodic)
          j.push_back((line + width * lines) % (width * lines));
        else if (!leaves && line >= 0 && line < width * lines)
          j.push_back(line);
      }
      i.push_back(static_cast<PetscInt>(j.size()));
    }
    const PetscInt            n = width * lines, nonzeros = i.back();
    const std::vector<Scalar> a(j.size(), Scalar(1));
    PetscCall(stencil.Build(CsrView{n, n, nonzeros, i.data(), j.data(), a.data()}, FormatOptions(), Space::Host));
    PetscCheck(stencil.Layout().stride == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%" PetscInt_FMT " x %" PetscInt_FMT ": a stride of %" PetscInt_FMT, width, lines,
               stencil.Layout().stride);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test()
{
  Stencil stencil;

  PetscFunctionBeginUser;
  PetscCall(Strides());
  PetscCall(example::BuildAndMultiply(stencil, FormatOptions()));
  PetscCall(Repeats());
  PetscCall(TooMany());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
