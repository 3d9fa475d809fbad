/// The table of formats that have a fused sweep.
#include "ksp/sweep/fused.hpp"
#include <cstring>
#include "ksp/sweep/launch.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::sweep
{

namespace
{
struct Entry {
  const char *name;
  bool (*sweeps)(const Format &format);
  PetscErrorCode (*launch)(const Format &format, const JacobiSweep &sweep, const JacobiControl &control, Stream stream);
};

#if defined(SPARSEGPU_HAVE_CUDA)
/// Formats whose layout has the values, and those that encode them.
template <class F, auto launch>
PetscErrorCode Plain(const Format &format, const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  return launch(static_cast<const F &>(format).Layout(), sweep, control, stream);
}
template <class F, auto launch>
PetscErrorCode Encoded(const Format &format, const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  return launch(static_cast<const F &>(format).Layout(), format.EncodedLayout(), sweep, control, stream);
}
bool Always(const Format &)
{
  return true;
}
template <class F> bool NoChunks(const Format &format)
{
  return static_cast<const F &>(format).Layout().chunks == 0;
}
bool FewDiagonals(const Format &format)
{
  return static_cast<const Dia &>(format).Layout().diagonals <= JACOBI_DIAGONALS;
}

constexpr Entry entries[] = {
    {"csr", NoChunks<Csr>, Plain<Csr, CsrJacobi_CUDA>},
    {"dia", FewDiagonals, Plain<Dia, DiaJacobi_CUDA>},
    {"ell", Always, Plain<Ell, EllJacobi_CUDA>},
    {"stencil", Always, Plain<Stencil, StencilJacobi_CUDA>},
    {"sell", NoChunks<Sell>, Encoded<Sell, SellJacobi_CUDA>},
    {"bsr", Always, Encoded<Bsr, BsrJacobi_CUDA>},
};
#endif

const Entry *Find(const Format &format)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  for (const Entry &e : entries)
    if (!strcmp(e.name, format.Name())) return &e;
#endif
  return nullptr;
}
} // namespace

bool SweepsFused(const Format &format)
{
  const Entry *entry = format.Where() == Space::Device ? Find(format) : nullptr;
  return entry && entry->sweeps(format);
}

PetscErrorCode FusedSweep(const Format &format, const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
  PetscFunctionBegin;
  PetscCall(Find(format)->launch(format, sweep, control, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::sweep
