/// sell's options and its plan: the rows' places, and a sample of how narrow their columns are.
#include "mat/formats/sell/sell.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

PetscErrorCode SellOptions::Read(SparseGPUOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-mat_sparsegpu_sell_window",
                            "sell: rows sorted by length together, a power of two, 1: not sorted, -1: by padding",
                            "MatSparseGPUSetFormat", window, &window, nullptr));
  PetscCall(PetscOptionsInt("-mat_sparsegpu_column_bytes", "sell: bytes of a column at least, 1, 2, 4, 0: what fits",
                            "MatSparseGPUSetFormat", column_bytes, &column_bytes, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellOptions::Check() const
{
  PetscFunctionBegin;
  PetscCheck(window == -1 || (PowerOfTwo(window) && window <= SellLayout::MAX_WINDOW), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_sell_window %" PetscInt_FMT " must be a power of two from 1 to %" PetscInt_FMT
             ", or -1 for a window by padding",
             window, static_cast<PetscInt>(SellLayout::MAX_WINDOW));
  PetscCheck(
      column_bytes == 0 || (PowerOfTwo(column_bytes) && column_bytes <= 4), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
      "-mat_sparsegpu_column_bytes %" PetscInt_FMT " must be 1, 2, 4, or 0 for what each slice needs", column_bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellPlan::Fits(bool *fits, std::string *why)
{
  const CsrView &A = rows();
  char           text[256];

  PetscFunctionBegin;
  // slices of 32 equal rows at worst double the entries; units of columns are counted in PetscInt, times 4
  *fits = static_cast<PetscLogDouble>(A.nonzeros) < PETSC_MAX_INT / 4.0 &&
          static_cast<PetscLogDouble>(A.cols) < 4294967296.0;
  if (*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "its %" PetscInt_FMT " nonzeros and %" PetscInt_FMT " columns are beyond %" PetscInt_FMT
                          " and 2^32",
                          A.nonzeros, A.cols, PETSC_MAX_INT / 4));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellPlan::Arrange()
{
  SellArrangement   found;
  const RowLengths *lengths;

  PetscFunctionBegin;
  if (places_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(options<SellOptions>().Check());
  PetscCall(look().Lengths(&lengths));
  PetscCall(ArrangeSell(rows(), options<SellOptions>().window, lengths->longest, &found));
  places_ = std::move(found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SellPlan::Take(SellArrangement *places)
{
  PetscFunctionBegin;
  PetscCall(Arrange());
  *places = std::move(*places_);
  places_.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the CPU its arithmetic takes as long as csr's reading: no candidate there. On the device a thread walks a row.
/// Measured: docs/performance.md.
PetscErrorCode SellPlan::Estimate(PetscLogDouble, bool *candidate, Cost *cost)
{
  constexpr PetscReal CONVERSION = 12, ON_DEVICE = 8; // the first on one core of a CPU
  PetscLogDouble      value, column;
  std::string         why;

  PetscFunctionBegin;
  *candidate = false;
  if (space() == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(look().ValueBytes(&value));
  PetscCall(Fits(candidate, &why));
  if (!*candidate) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Arrange());
  *candidate = look().Fills(places_->longest);
  if (!*candidate) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SampleSellColumns(rows(), *places_, options<SellOptions>().LeastColumnBytes(), &column));
  cost->bytes      = static_cast<PetscLogDouble>(places_->stored) * (value + column) + 4.0 * rows().rows;
  cost->reach      = 0.95;
  cost->conversion = look().TimeToConvert(ON_DEVICE, CONVERSION);
  cost->in_order   = places_->long_row.empty();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
