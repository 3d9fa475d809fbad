/// The rule of -mat_sparsegpu_format auto: the format that moves the fewest bytes among those whose kernels reach full
/// bandwidth on this pattern. Each format's plan tells what a product would cost; the rule compares and knows no
/// format. Made from pattern and values alone, never from timings, so the choice is reproducible.
///
/// Lazily: where csr has the same bits as the choice, products run as csr until the time lost to it, by the model,
/// exceeds the conversion cost. One product never pays for a conversion, many pay at most about twice. On the CPU that
/// is always so, and the analysis waits as well; on the GPU the choice is made before the first product, and only the
/// conversion waits, where csr would have one thread a row anyway. On a CPU of one thread transposed products are
/// scattered from csr until building the transpose pays. lazy.cxx counts the products. So a conversion never changes a
/// bit. docs/performance.md has the measurements behind the constants.
#include "mat/choice/select.hpp"
#include <algorithm>
#include <cmath>
#include "petsc/compat.hpp"

namespace sparsegpu::choice
{

namespace
{
struct Candidate {
  std::string name;
  Cost        cost;
};
} // namespace

constexpr PetscReal GAIN = 0.95; ///< a later candidate must save a twentieth of the time

/// Whether most rows on the device are empty, as those of an off-diagonal block are: the baseline adds the others to a
/// sum and leaves the rest of it alone, while the other formats pass over all of it.
static PetscErrorCode MostlyEmpty(Look *look, bool *mostly)
{
  constexpr PetscInt MANY = 8; // entries of a mean row, with which other formats gain enough
  const CsrView     &A    = look->rows();
  const RowLengths  *lengths;

  PetscFunctionBegin;
  PetscCall(look->Lengths(&lengths));
  *mostly = look->space() == Space::Device && A.nonzeros / MANY <= A.rows &&
            2 * lengths->filled <= static_cast<unsigned long long>(A.rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All candidates in the order of formats.def, the baseline first. On the GPU a product of fewer than SMALL nonzeros
/// takes one launch and a memory latency or two whatever it reads: the baseline has the fewest.
static PetscErrorCode Candidates(Plans *plans, std::vector<Candidate> *candidates)
{
  constexpr PetscInt  SMALL = 524288; // nonzeros; measured: docs/performance.md
  PetscLogDouble      least = 1e300;
  const PatternFacts *facts;
  bool                alone = false;

  PetscFunctionBegin;
  PetscCall(plans->look().Facts(&facts));
  PetscCall(MostlyEmpty(&plans->look(), &alone));
  const PetscInt enough = plans->look().space() == Space::Device ? SMALL : 1; // nonzeros for more than the baseline
  alone                 = alone || facts->nonzeros < enough;
  for (const char *name : FormatNames()) {
    Plan *plan;
    Cost  cost;
    bool  candidate;
    if (!candidates->empty() && alone) break;
    PetscCall(plans->Get(name, &plan));
    PetscCall(plan->Estimate(GAIN * least, &candidate, &cost));
    if (!candidate) continue;
    PetscCallCXX(candidates->push_back({name, cost}));
    least = std::min(least, cost.Time());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The time of a product, in bytes at full bandwidth: on the GPU the vectors come from memory, too.
static PetscLogDouble Time(const Look &look, const Candidate &c)
{
  const PetscLogDouble entries = look.rows().rows + static_cast<PetscLogDouble>(look.rows().cols);
  return c.cost.Time() + (look.space() == Space::Device ? sizeof(Scalar) * entries : 0);
}

PetscErrorCode ChooseFormat(Plans *plans, Choice *choice)
{
  const Space            space = plans->look().space();
  std::vector<Candidate> candidates;
  const PatternFacts    *f;
  char                   text[256];

  PetscFunctionBegin;
  PetscCall(Candidates(plans, &candidates));
  PetscCall(plans->look().Facts(&f));
  const auto       time     = [&](const Candidate &c) { return Time(plans->look(), c); };
  const Candidate &baseline = candidates[0], *best = &baseline;
  for (const Candidate &c : candidates)
    if (time(c) < GAIN * time(*best)) best = &c;
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "auto: %.3g MB against %.3g MB as csr; %" PetscInt_FMT
                          "%s diagonals, rows of %.1f +- %.1f entries, at most %" PetscInt_FMT,
                          best->cost.bytes / 1e6, baseline.cost.bytes / 1e6, f->diagonals,
                          f->diagonals > PatternFacts::MANY_DIAGONALS ? " or more" : "", (double)f->mean,
                          (double)f->deviation, f->longest));
  PetscCallCXX(choice->name = best->name);
  PetscCallCXX(choice->reason = text);
  choice->bytes      = best->cost.bytes;
  choice->bytes_csr  = baseline.cost.bytes;
  choice->same_bits  = best->cost.in_order && baseline.cost.in_order;
  choice->gain       = time(baseline) > 0 ? 1 - time(*best) / time(baseline) : 0;
  choice->conversion = best->cost.conversion;
  choice->update = space == Space::Device ? 0 : best->cost.update; // on the device csr would have to be updated, too
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The formats that a trial adds, in the order of their places.
static PetscErrorCode FormatsToTry(Plans *plans, std::vector<std::string> *names)
{
  std::vector<std::pair<int, std::string>> places;

  PetscFunctionBegin;
  for (const char *name : FormatNames()) {
    Plan *plan;
    PetscCall(plans->Get(name, &plan));
    if (plan->TrialPlace()) PetscCallCXX(places.push_back({plan->TrialPlace(), name}));
  }
  std::sort(places.begin(), places.end());
  for (const auto &place : places) PetscCallCXX(names->push_back(place.second));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RankFormats(Plans *plans, std::vector<std::string> *names)
{
  constexpr size_t         FEW = 5;
  std::vector<Candidate>   candidates;
  std::vector<std::string> others;

  PetscFunctionBegin;
  names->clear();
  PetscCall(Candidates(plans, &candidates));
  std::stable_sort(candidates.begin(), candidates.end(), [&](const Candidate &a, const Candidate &b) {
    return Time(plans->look(), a) < Time(plans->look(), b);
  });
  for (const Candidate &c : candidates) PetscCallCXX(names->push_back(c.name));
  PetscCall(FormatsToTry(plans, &others));
  for (const std::string &name : others) {
    bool        fits = std::find(names->begin(), names->end(), name) == names->end();
    std::string why;
    Plan       *plan;
    PetscCall(plans->Get(name, &plan));
    if (fits) PetscCall(plan->Fits(&fits, &why));
    if (fits && names->size() < FEW) PetscCallCXX(names->push_back(name));
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

} // namespace sparsegpu::choice
