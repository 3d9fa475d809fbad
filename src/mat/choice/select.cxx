/// The rule of -mat_sparsegpu_format auto: the format that moves the fewest bytes among those whose kernels reach full
/// bandwidth on this pattern. Made from pattern and values alone, never from timings, so the choice is reproducible.
///
/// Lazily: where csr has the bits of whatever may be chosen, products run as csr until they have lost, by the model,
/// what the conversion costs: whoever needs one product never pays, and others pay at most about twice. On the CPU that
/// is always so, and the analysis waits as well; on the GPU the choice is made before the first product, and only the
/// conversion waits, where csr would have one thread a row anyway. On a CPU of one thread transposed products are
/// scattered from csr until building the transpose pays. lazy.cxx counts the products. So a conversion never changes a
/// bit. docs/performance.md has the measurements behind the constants.
#include <algorithm>
#include <cmath>
#include "device/backend_call.hpp"
#include "mat/formats/format.hpp"
#include "mat/formats/bsr/bsr.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/ell/ell.hpp"
#include "mat/formats/sell/sell.hpp"
#include "mat/formats/stencil/stencil.hpp"
#include "mat/rows/inspect.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu
{

/// Bytes of a value under the codec that would hold all of them.
static PetscErrorCode ValueBytes(const CsrView &A, const Parameters &parameters, PetscLogDouble *bytes)
{
  std::vector<Scalar>          dictionary;
  bool                         holds = false;
  [[maybe_unused]] const Space space = A.device.a ? Space::Device : Space::Host;
  const size_t                 n     = static_cast<size_t>(A.nonzeros);

  PetscFunctionBegin; // full-mantissa values end both searches at once
  *bytes = sizeof(Scalar);
  if (parameters.values == "auto" || parameters.values == "dictionary") {
    PetscCall(SPARSEGPU_LAUNCH(space, FindDictionary_CUDA(A.device.a, n, &holds, &dictionary),
                               FindDictionary(A.a, n, &holds, &dictionary)));
    if (holds) *bytes = 1;
  }
  if (!holds && (parameters.values == "auto" || parameters.values == "single")) {
    PetscCall(SPARSEGPU_LAUNCH(space, AllSingle_CUDA(A.device.a, n, &holds), AllSingle(A.a, n, &holds)));
    if (holds) *bytes = sizeof(SingleScalar);
  }
  if (A.found && A.device.a && parameters.values == "auto") A.found->uncoded = !holds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A candidate: bytes of the matrix that a product reads, over the part of the bandwidth that its kernel reaches; time
/// of a conversion and of new values, in products as csr there.
struct Candidate {
  const char    *name;
  PetscLogDouble bytes, reach;
  PetscReal      conversion = 0, update = 0;
  bool           in_order = true; ///< adds a row's entries one after the other
};
/// Measured on one core of a CPU, and on a GPU (docs/performance.md).
constexpr PetscReal DIA_CONVERSION = 6, DIA_UPDATE = 2, STENCIL_CONVERSION = 4, BSR_CONVERSION = 25, BSR_UPDATE = 4,
                    CODED_BSR_CONVERSION = 40, CODED_BSR_UPDATE = 17, SELL_CONVERSION = 12;
constexpr PetscReal DIA_ON_DEVICE = 4, STENCIL_ON_DEVICE = 1, SELL_ON_DEVICE = 8, BSR_ON_DEVICE = 8;
constexpr PetscReal GAIN = 0.95; ///< a later candidate must save a twentieth of the time
constexpr PetscReal CORE = 200;  ///< products as csr on a GPU (1.5 TB/s) in the time of one on a core (7 GB/s)

static Candidate BlockCandidate(PetscLogDouble bytes, PetscLogDouble reach, PetscLogDouble value)
{
  const bool coded = value < sizeof(Scalar);
  return Candidate{"bsr", bytes, reach, coded ? CODED_BSR_CONVERSION : BSR_CONVERSION,
                   coded ? CODED_BSR_UPDATE : BSR_UPDATE};
}

/// bsr where its blocks are full enough to come below `most` bytes for each nonzero.
static PetscErrorCode PlanBlocks(const CsrView &A, const Parameters &parameters, PetscLogDouble value,
                                 PetscLogDouble most, BsrPlan *plan)
{
  PetscLogDouble each;

  PetscFunctionBegin;
  *plan = BsrPlan();
  PetscCall(SampleBsr(A, value, &each));
  if (each < most) PetscCall(PlanBsr(A, parameters, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the GPU a product of fewer than SMALL nonzeros takes one launch and a memory latency or two whatever it reads:
/// csr has the fewest. Above, what dia, bsr, sell and stencil read is what they take; csr's threads share rows and
/// reach less. All of the former sum a row in CSR's order, so a choice between them never shows in the bits.
static PetscErrorCode CandidatesOnDevice(const CsrView &A, const Parameters &parameters, const PatternFacts &f,
                                         std::vector<Candidate> *candidates)
{
  constexpr PetscInt   SMALL = 524288, LONG_WALK = 64; // nonzeros, diagonals; measured: docs/performance.md
  const PetscLogDouble csr = static_cast<PetscLogDouble>(f.nonzeros) * (sizeof(Scalar) + sizeof(PetscInt)) +
                             static_cast<PetscLogDouble>(f.rows) * sizeof(PetscInt);
  const PetscLogDouble dia = static_cast<PetscLogDouble>(f.diagonals) * f.rows;
  // Threads that walk a row each: too few rows for the length leave the GPU idle.
  const auto fills = [&](PetscLogDouble steps) { return f.rows >= 512 * steps; };
  // what the host does takes its own time
  const auto there = [&](PetscReal on_device, PetscReal on_host) { return A.device.i ? on_device : CORE * on_host; };

  PetscFunctionBegin;
  PetscCallCXX(candidates->push_back({"csr", csr, 0.75}));
  if (f.nonzeros < SMALL) PetscFunctionReturn(PETSC_SUCCESS);
  if (f.diagonals <= PatternFacts::MANY_DIAGONALS && fills(f.diagonals) &&
      !TooMuchPadding(f.rows, f.diagonals, f.nonzeros, parameters.max_padding))
    PetscCallCXX(candidates->push_back(
        {"dia", dia * sizeof(Scalar), f.diagonals > LONG_WALK ? 0.8 : 1, there(DIA_ON_DEVICE, DIA_CONVERSION)}));

  SellPlan       plan;
  PetscLogDouble value, column;
  bool           ok;
  std::string    why;
  PetscCall(ValueBytes(A, parameters, &value));
  PetscCall(Sell().Check(A, parameters, &ok, &why));
  if (ok) {
    PetscCall(PlanSell(A, parameters.sell_window, &plan));
    if (fills(plan.longest)) {
      PetscCall(SampleSellColumns(A, plan, static_cast<int>(std::max<PetscInt>(1, parameters.column_bytes)), &column));
      PetscCallCXX(
          candidates->push_back({"sell", static_cast<PetscLogDouble>(plan.stored) * (value + column) + 4.0 * f.rows,
                                 0.95, there(SELL_ON_DEVICE, SELL_CONVERSION), 0, plan.long_row.empty()}));
    }
  }
  if (f.diagonals <= PatternFacts::MANY_DIAGONALS) {
    RowClasses classes;
    PetscCall(FindRowClasses(A, &classes, &ok));
    if (ok)
      PetscCallCXX(candidates->push_back({"stencil", 1.0 * f.rows, 0.8, there(STENCIL_ON_DEVICE, STENCIL_CONVERSION)}));
    if (ok && A.device.i && A.found) PetscCallCXX(A.found->classes = std::make_shared<RowClasses>(std::move(classes)));
  }
  if (A.device.i && A.found && plan.slices) {
    PetscCallCXX(A.found->plan = std::make_shared<SellPlan>(std::move(plan)));
    A.found->window = parameters.sell_window;
  }

  // Each size counted is another pass over the pattern: only where a sample says that blocks could win.
  constexpr PetscLogDouble BLOCK_REACH = 1;
  PetscLogDouble           least       = 1e300;
  BsrPlan                  blocks;
  for (const Candidate &c : *candidates) least = std::min(least, c.bytes / c.reach);
  PetscCall(
      PlanBlocks(A, parameters, value, GAIN * BLOCK_REACH * least / static_cast<PetscLogDouble>(f.nonzeros), &blocks));
  if (blocks.size && fills(static_cast<PetscLogDouble>(blocks.longest) * blocks.size)) {
    Candidate c  = BlockCandidate(blocks.Bytes(Space::Device, value), BLOCK_REACH, value);
    c.conversion = blocks.ascending ? there(BSR_ON_DEVICE, c.conversion) : CORE * c.conversion;
    PetscCallCXX(candidates->push_back(c));
  }
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

/// On the CPU, too, all candidates sum a row in CSR's order. Caches serve csr's gathers, so dia must save a quarter of
/// the bytes to win. bsr and stencil read so little that arithmetic takes longer: as long as reading `bytes` for each
/// entry would. sell's arithmetic takes as long as csr's reading, so it is none.
static PetscErrorCode CandidatesOnHost(const CsrView &A, const Parameters &parameters, const PatternFacts &f,
                                       std::vector<Candidate> *candidates)
{
  // measured: docs/performance.md
  constexpr PetscInt       SMALL = 262144, LARGE = 2097152; // nonzeros: what the caches hold, and what they do not
  constexpr PetscReal      RUN       = 16;                  // rows that stencil walks together
  constexpr PetscLogDouble RUN_BYTES = 4.9, ROW_BYTES = 8.2, BLOCK_BYTES = 5.2;
  const PetscLogDouble     nonzeros = f.nonzeros;
  const PetscLogDouble     csr      = nonzeros * (sizeof(Scalar) + sizeof(PetscInt)) + 1.0 * f.rows * sizeof(PetscInt);
  const PetscLogDouble     dia      = static_cast<PetscLogDouble>(f.diagonals) * f.rows;
  const PetscLogDouble     arithmetic = nonzeros * sizeof(Scalar) / sizeof(double);
  PetscLogDouble           value;
  RowClasses               classes;
  BsrPlan                  blocks;
  bool                     ok = false;

  PetscFunctionBegin;
  PetscCallCXX(candidates->push_back({"csr", csr, 1}));
  if (f.nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (f.diagonals <= PatternFacts::MANY_DIAGONALS) {
    if (!TooMuchPadding(f.rows, f.diagonals, f.nonzeros, parameters.max_padding))
      PetscCallCXX(candidates->push_back({"dia", dia * sizeof(Scalar), 0.79, DIA_CONVERSION, DIA_UPDATE}));
    PetscCall(FindRowClasses(A, &classes, &ok));
  }
  if (ok) {
    const bool runs = MeanRun(classes) >= RUN;
    if (runs || f.nonzeros >= LARGE)
      PetscCallCXX(
          candidates->push_back({"stencil", 1.0 * f.rows, f.rows / (arithmetic * (runs ? RUN_BYTES : ROW_BYTES)),
                                 STENCIL_CONVERSION, STENCIL_CONVERSION}));
  }
  if (f.nonzeros < SMALL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ValueBytes(A, parameters, &value));
  PetscCall(PlanBlocks(A, parameters, value, sizeof(Scalar) + sizeof(PetscInt), &blocks));
  if (blocks.size && 10 * blocks.partial <= blocks.blocks) { // masks are slow
    const PetscLogDouble bytes = blocks.Bytes(Space::Host, value);
    PetscCallCXX(
        candidates->push_back(BlockCandidate(bytes, std::min(0.85, bytes / (arithmetic * BLOCK_BYTES)), value)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All candidates, csr first, and the time of a product, in bytes at full bandwidth.
static PetscErrorCode Candidates(const CsrView &A, const Parameters &parameters, Space space, PatternFacts *f,
                                 std::vector<Candidate> *candidates)
{
  PetscFunctionBegin;
  PetscCall(InspectPattern(A, f));
  if (space == Space::Device)
    PetscCall(CandidatesOnDevice(A, parameters, *f, candidates));
  else
    PetscCall(CandidatesOnHost(A, parameters, *f, candidates));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscLogDouble Cost(const CsrView &A, Space space, const Candidate &c)
{
  const PetscLogDouble vectors =
      space == Space::Device ? sizeof(Scalar) * (A.rows + static_cast<PetscLogDouble>(A.cols)) : 0;
  return c.bytes / c.reach + vectors;
}

PetscErrorCode ChooseFormat(const CsrView &A, const Parameters &parameters, Space space, Choice *choice)
{
  std::vector<Candidate> candidates;
  PatternFacts           f;
  char                   text[256];

  PetscFunctionBegin;
  PetscCall(Candidates(A, parameters, space, &f, &candidates));
  const auto cost = [&](const Candidate &c) { return Cost(A, space, c); };
  Candidate  best = candidates[0];
  for (const Candidate &c : candidates)
    if (cost(c) < GAIN * cost(best)) best = c;
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "auto: %.3g MB against %.3g MB as csr; %" PetscInt_FMT
                          "%s diagonals, rows of %.1f +- %.1f entries, at most %" PetscInt_FMT,
                          best.bytes / 1e6, candidates[0].bytes / 1e6, f.diagonals,
                          f.diagonals > PatternFacts::MANY_DIAGONALS ? " or more" : "", (double)f.mean,
                          (double)f.deviation, f.longest));
  PetscCallCXX(choice->name = best.name);
  PetscCallCXX(choice->reason = text);
  choice->bytes      = best.bytes;
  choice->bytes_csr  = candidates[0].bytes;
  choice->same_bits  = best.in_order && CsrInOrder(A, parameters, space);
  choice->gain       = cost(candidates[0]) > 0 ? 1 - cost(best) / cost(candidates[0]) : 0;
  choice->conversion = best.conversion;
  choice->update     = space == Space::Device ? 0 : best.update; // on the device csr would have to be updated as well
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RankFormats(const CsrView &A, const Parameters &parameters, Space space, std::vector<std::string> *names)
{
  constexpr size_t       FEW = 5;
  std::vector<Candidate> candidates;
  PatternFacts           f;

  PetscFunctionBegin;
  names->clear();
  PetscCall(Candidates(A, parameters, space, &f, &candidates));
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate &a, const Candidate &b) { return Cost(A, space, a) < Cost(A, space, b); });
  for (const Candidate &c : candidates) PetscCallCXX(names->push_back(c.name));
  for (const char *name : {"dia", "sell", "merge"}) {
    bool        ok = std::find(names->begin(), names->end(), name) == names->end();
    std::string why;
    if (ok) PetscCall(MakeFormat(name)->Check(A, parameters, &ok, &why));
    if (ok && names->size() < FEW) PetscCallCXX(names->push_back(name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscCount Ratio(PetscReal cost, PetscReal gain)
{
  return gain > 0 ? static_cast<PetscCount>(std::ceil(cost / gain)) : 0;
}
PetscCount Choice::ProductsToConvert() const
{
  return gain > 0 ? std::max(LOOK, Ratio(conversion, gain)) : 0;
}
PetscCount Choice::ProductsToUpdate() const
{
  return Ratio(update, gain);
}

// In products as csr: what scattering takes longer, what building the transpose and bringing it up to date cost
// (measured: docs/performance.md); the transpose will be stored much as the matrix.
constexpr PetscReal SCATTER_LOSS = 0.2, TRANSPOSITION = 12, TRANSPOSED_UPDATE = 3;

PetscCount Choice::ProductsToTranspose() const
{
  return std::max(LOOK, Ratio(TRANSPOSITION + conversion, SCATTER_LOSS + gain));
}
PetscCount Choice::ProductsToUpdateTranspose() const
{
  return Ratio(TRANSPOSED_UPDATE + update, SCATTER_LOSS + gain);
}

} // namespace sparsegpu
