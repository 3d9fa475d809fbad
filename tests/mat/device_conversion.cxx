static const char help[] = "Formats chosen and built on the GPU equal those that the host chooses and builds.\n\n";

#include "codecs.hpp"

using namespace testing;

namespace
{
constexpr const char *ALWAYS = "0", *NEVER = "2000000000"; // nonzeros

/// How a matrix was stored, beside its products.
struct Stored {
  Run            run;
  std::string    format, reason;
  PetscLogDouble entries = 0, bytes = 0;
};

/// New values: twice the old ones, which keeps rows alike that were; then one entry alone.
PetscErrorCode Change(Mat A, int step)
{
  PetscFunctionBeginUser;
  if (step == 1) PetscCall(MatScale(A, 2));
  PetscInt rows;
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  if (step == 2 && rows > 0) {
    PetscInt        count;
    const PetscInt *cols;
    PetscCall(MatGetRow(A, 0, &count, &cols, nullptr));
    const PetscInt    j = count ? cols[0] : -1;
    const PetscScalar v = (PetscReal)1 / 3;
    PetscCall(MatRestoreRow(A, 0, &count, &cols, nullptr));
    if (j >= 0) PetscCall(MatSetValue(A, 0, j, v, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products before and after the changes, on the GPU, with the format made where `conversion` says.
PetscErrorCode Store(const Problem &p, const char format[], const char conversion[], bool changes,
                     std::vector<Stored> *stored)
{
  const Option where("-mat_sparsegpu_device_conversion", conversion), lazy("-mat_sparsegpu_auto_lazy", "0");
  Mat          A;
  PetscBool    accepts = PETSC_TRUE;

  PetscFunctionBeginUser;
  stored->clear();
  PetscCall(CreateMatrix(p, MATSPARSEGPU, format, &A));
  PetscCall(MatSparseGPUSetBackend(A, "cuda"));
  if (strcmp(format, "auto")) PetscCall(MatSparseGPUCheckFormat(A, format, &accepts, nullptr));
  for (int step = 0; accepts && step < (changes ? 3 : 1); ++step) {
    Stored           s;
    MatSparseGPUInfo info;
    PetscCall(Change(A, step));
    if (step == 2 && !strcmp(format, "stencil")) PetscCall(MatSparseGPUCheckFormat(A, format, &accepts, nullptr));
    if (!accepts) break;
    PetscCall(Products(A, p, &s.run));
    PetscCall(MatSparseGPUGetInfo(A, &info));
    s.format  = info.format;
    s.reason  = info.reason;
    s.entries = info.stored;
    s.bytes   = info.bytes_stored;
    stored->push_back(s);
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Compare(const Problem &p, const char format[], bool changes, const std::string &settings, int *compared)
{
  std::vector<Stored> host, device;

  PetscFunctionBeginUser;
  PetscCall(Store(p, format, NEVER, changes, &host));
  PetscCall(Store(p, format, ALWAYS, changes, &device));
  PetscCheck(host.size() == device.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s in %s%s: refused after %zu and %zu steps", p.name.c_str(), format, settings.c_str(), host.size(),
             device.size());
  for (size_t step = 0; step < host.size(); ++step) {
    const std::string what = p.name + " in " + format + settings + ", step " + std::to_string(step);
    const Stored     &h = host[step], &d = device[step];
    PetscCheck(h.format == d.format && h.reason == d.reason && h.run.details == d.run.details, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s: %s (%s; %s) on the host, %s (%s; %s) on the device", what.c_str(), h.format.c_str(),
               h.reason.c_str(), h.run.details.c_str(), d.format.c_str(), d.reason.c_str(), d.run.details.c_str());
    PetscCheck(h.entries == d.entries && h.bytes == d.bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %g entries in %g bytes on the host, %g in %g on the device", what.c_str(), h.entries, h.bytes,
               d.entries, d.bytes);
    PetscCall(CheckBits(d.run, h.run, true, what));
    ++*compared;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NeedsDevice(bool *there)
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  *there = std::find(backends.begin(), backends.end(), "cuda") != backends.end();
  if (!*there) PetscCall(Skip("no GPU"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

/// Nodes of `size` unknowns, coupled to a few others by blocks of which some lack entries; the last row is one of a
/// node that is cut, and some nodes are coupled to none.
static Problem Nodes(PetscInt size, const Palette &palette)
{
  constexpr PetscInt   NODES = 150;
  const PetscInt       n     = NODES * size + 1;
  conformance::Builder b("nodes of " + std::to_string(size) + ", " + palette.name, n, n);
  size_t               value = 0;

  for (PetscInt r = 0; r < n; ++r) {
    const PetscInt node = r / size;
    for (PetscInt k = 0; node % 11 != 5 && k < 1 + node % 6; ++k)
      for (PetscInt q = 0; q < size; ++q) {
        const PetscInt j = (node + k * (k + 7)) % NODES * size + q;
        if (k == 3 && (r + q) % 4 == 0) continue; // partial
        b.Add(r, j,
              palette.ordinary.empty() ? conformance::Value(value++)
                                       : palette.ordinary[value++ % palette.ordinary.size()]);
      }
  }
  return b;
}

static PetscErrorCode Blocks(int *compared)
{
  const std::vector<Palette> palettes = Palettes();

  PetscFunctionBeginUser;
  for (const char *size : {"0", "2", "3", "4", "5", "6"}) {
    const Option asked("-mat_sparsegpu_bsr_block", size);
    const auto   setting = std::string(", blocks of ") + size;
    for (const Problem &p : conformance::All()) PetscCall(Compare(p, "bsr", true, setting, compared));
    for (PetscInt unknowns = 2; unknowns <= 6; ++unknowns)
      for (const Palette &palette : {palettes.front(), palettes.back()})
        PetscCall(Compare(Nodes(unknowns, palette), "bsr", true, setting, compared));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every format on the conformance suite and on what tempts a codec.
static PetscErrorCode Kinds()
{
  int  compared = 0;
  bool there;

  PetscFunctionBeginUser;
  PetscCall(NeedsDevice(&there));
  if (!there) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Blocks(&compared));
  for (const char *format : {"csr", "dia", "sell", "stencil"}) {
    const bool sell = !strcmp(format, "sell");
    for (const Problem &p : conformance::All()) PetscCall(Compare(p, format, true, "", &compared));
    for (const Shape &shape : SHAPES)
      for (const Palette &palette : Palettes())
        for (const char *window : {"-1", "1", "64", "256"})
          for (const char *bytes : {"0", "2", "4"}) {
            const Option sorted("-mat_sparsegpu_sell_window", window), wide("-mat_sparsegpu_column_bytes", bytes);
            if (!sell && (strcmp(window, "-1") || strcmp(bytes, "0"))) continue;
            PetscCall(Compare(Make(shape, palette), format, false,
                              std::string(", window ") + window + ", columns of " + bytes, &compared));
          }
  }
  PetscCheck(compared > 500, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Only %d comparisons", compared);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A few of them, for checkers that are slow.
static PetscErrorCode Few()
{
  int  compared = 0;
  bool there;

  PetscFunctionBeginUser;
  PetscCall(NeedsDevice(&there));
  if (!there) PetscFunctionReturn(PETSC_SUCCESS);
  for (const char *format : {"dia", "sell", "stencil"}) {
    const Option sorted("-mat_sparsegpu_sell_window", "64");
    for (const Problem &p : {Make(SHAPES[0], Palettes()[0]), Make(SHAPES[3], Palettes()[0])})
      PetscCall(Compare(p, format, true, "", &compared));
  }
  PetscCall(Compare(Nodes(3, Palettes().back()), "bsr", true, "", &compared));
  PetscCheck(compared >= 9, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Only %d comparisons", compared);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Large enough for auto to look at them: each kind must be stored in its own way.
static PetscErrorCode Choices()
{
  constexpr PetscInt n        = 400; // n^2 rows
  int                compared = 0;
  bool               there;

  PetscFunctionBeginUser;
  PetscCall(NeedsDevice(&there));
  if (!there) PetscFunctionReturn(PETSC_SUCCESS);
  for (const char *kind : {"stencil", "diagonals", "scattered", "uneven", "few"}) {
    conformance::Builder b(kind, n * n, n * n);
    const bool           grid = !strcmp(kind, "stencil") || !strcmp(kind, "diagonals");
    for (PetscInt r = 0; r < n * n; ++r) {
      const PetscInt length = !strcmp(kind, "uneven") ? (r % 1000 == 7 ? 1500 : 1 + (PetscInt)((r * 7919ll) % 9)) : 5;
      for (PetscInt k = 0; k < length; ++k) {
        const PetscInt near[] = {r - n, r - 1, r, r + 1, r + n};
        const PetscInt j      = grid ? near[k] : (PetscInt)((r * 31ll + k * (k + 40009ll)) % (n * n));
        if (j < 0 || j >= n * n) continue;
        if (!strcmp(kind, "stencil") || !strcmp(kind, "few"))
          b.Add(r, j, (PetscReal)(k + 1) / 3);
        else
          b.Add(r, j);
      }
    }
    PetscCall(Compare(b, "auto", true, "", &compared));
  }
  PetscCheck(compared >= 10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Only %d comparisons", compared);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"formats", Kinds}, {"few", Few}, {"choices", Choices}});
}
