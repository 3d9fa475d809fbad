/// bsr's options and its plan: blocks are counted only where a sample says that they could win.
#include <algorithm>
#include "mat/formats/bsr/bsr.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::formats
{

PetscErrorCode BsrOptions::Read(SparseGPUOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-mat_sparsegpu_bsr_block", "bsr: rows of a block, 2 to 6, 0: by bytes",
                            "MatSparseGPUSetFormat", block, &block, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrOptions::Check() const
{
  PetscFunctionBegin;
  PetscCheck(block == 0 || (block >= BsrLayout::SMALLEST && block <= BsrLayout::LARGEST), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sparsegpu_bsr_block %" PetscInt_FMT " must be from %d to %d, or 0 for a size by bytes", block,
             BsrLayout::SMALLEST, BsrLayout::LARGEST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrPlan::Find()
{
  BsrBlocks found;

  PetscFunctionBegin;
  if (blocks_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(options<BsrOptions>().Check());
  PetscCall(
      FindBsrBlocks(rows(), options<BsrOptions>().block, options<CommonOptions>().max_padding, &samples_, &found));
  blocks_ = std::move(found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The counts are kept for later builds, which then count one size only.
PetscErrorCode BsrPlan::Take(BsrBlocks *blocks)
{
  PetscFunctionBegin;
  PetscCall(Find());
  *blocks = *blocks_;
  blocks_->cut.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BsrPlan::Fits(bool *fits, std::string *why)
{
  char text[256];

  PetscFunctionBegin;
  PetscCall(Find());
  *fits = blocks_->size > 0;
  if (*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "the blocks of its %" PetscInt_FMT " rows, at best %d x %d, would store %.0f entries for "
                          "%" PetscInt_FMT " nonzeros, more than %.1f times (-mat_sparsegpu_max_padding)",
                          rows().rows, blocks_->refused_size, blocks_->refused_size, blocks_->refused, rows().nonzeros,
                          (double)options<CommonOptions>().max_padding));
  PetscCallCXX(*why = text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Measured: docs/performance.md.
static constexpr PetscLogDouble DEVICE_REACH = 1, HOST_REACH = 0.85;

/// Each size counted is a pass over the pattern: only where a sample says that blocks are full enough to come below
/// `beat`, on the CPU below csr.
PetscErrorCode BsrPlan::MayBeat(PetscLogDouble beat, PetscLogDouble value, bool *may)
{
  PetscLogDouble each, most = sizeof(Scalar) + sizeof(PetscInt); // bytes for a nonzero

  PetscFunctionBegin;
  if (space() == Space::Device) most = beat * DEVICE_REACH / static_cast<PetscLogDouble>(rows().nonzeros);
  PetscCall(SampleBsr(rows(), value, &samples_, &each));
  *may = each < most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the CPU a product reads so little that arithmetic takes longer: as long as reading ENTRY_BYTES for each entry.
PetscErrorCode BsrPlan::Estimate(PetscLogDouble beat, bool *candidate, Cost *cost)
{
  constexpr PetscInt       SMALL      = 262144; // nonzeros: what a CPU's caches hold
  constexpr PetscReal      CONVERSION = 25, UPDATE = 4, CODED_CONVERSION = 40, CODED_UPDATE = 17; // on a core of a CPU
  constexpr PetscReal      ON_DEVICE   = 8;                                                       // a conversion there
  constexpr PetscLogDouble ENTRY_BYTES = 5.2;
  const bool               device      = space() == Space::Device;
  PetscLogDouble           value;

  PetscFunctionBegin;
  *candidate = false;
  if (!device && rows().nonzeros < SMALL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(look().ValueBytes(&value));
  PetscCall(MayBeat(beat, value, candidate));
  if (!*candidate) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Find());
  const BsrBlocks &b = *blocks_;
  *candidate         = b.size > 0 && (device ? look().Fills(static_cast<PetscLogDouble>(b.longest) * b.size)
                                             : 10 * b.partial <= b.blocks); // masks are slow on a CPU
  if (!*candidate) PetscFunctionReturn(PETSC_SUCCESS);
  const bool      coded      = value < sizeof(Scalar);
  const PetscReal conversion = coded ? CODED_CONVERSION : CONVERSION;
  cost->bytes                = b.Bytes(space(), value);
  if (device) {
    cost->reach = DEVICE_REACH;
  } else {
    const PetscLogDouble arithmetic = static_cast<PetscLogDouble>(rows().nonzeros) * sizeof(Scalar) / sizeof(double);
    cost->reach                     = std::min(HOST_REACH, cost->bytes / (arithmetic * ENTRY_BYTES));
  }
  cost->conversion = b.ascending ? look().TimeToConvert(ON_DEVICE, conversion) : look().TimeOnHost(conversion);
  cost->update     = coded ? CODED_UPDATE : UPDATE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
