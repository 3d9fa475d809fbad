/// stencil's plan: which rows are the same, and what a product with them costs.
#include "mat/formats/stencil/classes.hpp"
#include "mat/formats/stencil/stencil.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

PetscErrorCode FindRowClasses(const CsrView &A, RowClasses *classes, bool *few)
{
  constexpr std::size_t SLOTS = ROW_CLASS_SLOTS;
  const CsrArrays       rows{A.i, A.j, A.a};
  std::vector<int>      slot(SLOTS, -1);
  int                   last = -1;

  PetscFunctionBegin;
  *few = false;
  PetscCallCXX(*classes = RowClasses());
#if defined(SPARSEGPU_HAVE_CUDA)
  if (A.device.i) {
    bool collide;
    PetscCall(FindRowClasses_CUDA(A, classes, few, &collide));
    if (!collide) PetscFunctionReturn(PETSC_SUCCESS);
    *few = false; // different rows of one hash
    PetscCallCXX(*classes = RowClasses());
    if (!A.a) PetscFunctionReturn(PETSC_SUCCESS); // the values lie on the device alone
  }
#endif
  PetscCallCXX(classes->row_class.resize(A.rows));
  PetscCallCXX(classes->begin.assign(1, 0));
  for (PetscInt r = 0; r < A.rows; r++) {
    if (last < 0 || !SameRow(rows, r, classes->first[last])) { // neighbours are mostly alike
      std::size_t s = HashOfRow(rows, r) >> 54;
      while (slot[s] >= 0 && !SameRow(rows, r, classes->first[slot[s]])) s = (s + 1) % SLOTS;
      if (slot[s] < 0) {
        const PetscInt length = A.i[r + 1] - A.i[r], begin = classes->begin.back();
        if (static_cast<PetscInt>(classes->first.size()) == StencilLayout::CLASSES ||
            length > StencilLayout::ENTRIES - begin)
          PetscFunctionReturn(PETSC_SUCCESS);
        PetscCallCXX(classes->begin.push_back(begin + length));
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

PetscErrorCode StencilPlan::Find()
{
  RowClasses found;
  bool       few;

  PetscFunctionBegin;
  if (looked_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindRowClasses(rows(), &found, &few));
  if (few) classes_ = std::move(found);
  looked_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilPlan::Take(RowClasses *classes)
{
  PetscFunctionBegin;
  PetscCall(Find());
  PetscCheck(classes_, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Fits() took a matrix of too many different rows");
  *classes = std::move(*classes_);
  classes_.reset();
  looked_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilPlan::Fits(bool *fits, std::string *why)
{
  char text[256];

  PetscFunctionBegin;
  PetscCall(Find());
  *fits = classes_.has_value();
  if (*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "of its %" PetscInt_FMT " rows with %" PetscInt_FMT " nonzeros more than %" PetscInt_FMT
                          " are different, or these have more than %" PetscInt_FMT " entries",
                          rows().rows, rows().nonzeros, StencilLayout::CLASSES, StencilLayout::ENTRIES));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of one kind that follow each other, on average.
static PetscReal MeanRun(const RowClasses &classes)
{
  const std::vector<unsigned char> &c    = classes.row_class;
  PetscInt                          runs = 1;
  for (size_t r = 1; r < c.size(); r++) runs += c[r] != c[r - 1];
  return static_cast<PetscReal>(c.size()) / runs;
}

/// A product reads a byte a row. That is so little that on the CPU arithmetic takes longer: as long as reading
/// RUN_BYTES or ROW_BYTES for each entry would. Measured: docs/performance.md.
PetscErrorCode StencilPlan::Estimate(PetscLogDouble, bool *candidate, Cost *cost)
{
  constexpr PetscReal      CONVERSION = 4, ON_DEVICE = 1; // the first on one core of a CPU; an update is a conversion
  constexpr PetscInt       LARGE     = 2097152;           // nonzeros: what a CPU's caches do not hold
  constexpr PetscReal      RUN       = 16;                // rows that a CPU walks together
  constexpr PetscLogDouble RUN_BYTES = 4.9, ROW_BYTES = 8.2;
  const PatternFacts      *f;

  PetscFunctionBegin;
  *candidate = false;
  PetscCall(look().Facts(&f));
  if (f->diagonals > PatternFacts::MANY_DIAGONALS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Find());
  if (!classes_) PetscFunctionReturn(PETSC_SUCCESS);
  cost->bytes      = 1.0 * f->rows;
  cost->conversion = look().TimeToConvert(ON_DEVICE, CONVERSION);
  cost->update     = CONVERSION;
  if (space() == Space::Device) {
    *candidate  = true;
    cost->reach = 0.8;
  } else {
    const PetscLogDouble arithmetic = static_cast<PetscLogDouble>(f->nonzeros) * sizeof(Scalar) / sizeof(double);
    const bool           runs       = MeanRun(*classes_) >= RUN;
    *candidate                      = runs || f->nonzeros >= LARGE;
    cost->reach                     = f->rows / (arithmetic * (runs ? RUN_BYTES : ROW_BYTES));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
