static const char help[] = "Sweeps of the Jacobi method that multiply as they go, against a product and a sweep after "
                           "it, and against loops of this file.\n\n";

#include "../matrices.hpp"
#include "../testing.hpp"
#include "device/pinned.hpp"
#include "ksp/jacobi/forecast.hpp"
#include "ksp/sweep/fused.hpp"
#include "mat/formats/bsr/bsr.hpp"
#include "mat/formats/csr/csr.hpp"
#include "mat/formats/sell/sell.hpp"

#include <climits>
#include <cmath>
#include <limits>

using namespace sparsegpu;
using namespace sparsegpu::formats;
using namespace sparsegpu::jacobi;
using namespace sparsegpu::sweep;

namespace
{
Scalar ToScalar(PetscScalar v)
{
  Scalar s;
  memcpy(static_cast<void *>(&s), &v, sizeof(s));
  return s;
}
PetscReal Size(const Scalar &v)
{
  return Magnitude(v);
}

/// Which codec the values are made for.
enum class Values {
  Full,
  Single,
  Few
};

/// A square problem and all that a sweep reads beside it.
struct System {
  std::string           name;
  std::vector<PetscInt> i, j;
  std::vector<Scalar>   a, b, inverse, x;
  CsrView               A;

  System(const conformance::Problem &p, Values values)
      : name(p.name + (values == Values::Full     ? ""
                       : values == Values::Single ? ", single"
                                                  : ", few values")),
        i((size_t)p.rows + 1, 0),
        j(p.entries.size()),
        a(p.entries.size())
  {
    for (const conformance::Entry &e : p.entries) i[(size_t)e.i + 1]++;
    std::partial_sum(i.begin(), i.end(), i.begin());
    std::vector<PetscInt> next(i.begin(), i.end());
    for (const conformance::Entry &e : p.entries) {
      const PetscReal   re = PetscRealPart(e.v);
      const PetscScalar v  = values == Values::Full     ? e.v
                             : values == Values::Single ? (PetscReal)(float)re
                                                        : (PetscReal)(re > 1 ? 4 : -1);
      const PetscInt    at = next[(size_t)e.i]++;
      j[(size_t)at]        = e.j;
      a[(size_t)at]        = ToScalar(v);
    }
    for (PetscInt r = 0; r < p.rows; r++) {
      b.push_back(ToScalar(conformance::Value((unsigned long long)r + 1000000)));
      inverse.push_back(ToScalar(conformance::Value((unsigned long long)r + 2000000)));
      x.push_back(ToScalar(conformance::Value((unsigned long long)r + 3000000)));
    }
    A = CsrView{p.rows, p.cols, (PetscInt)a.size(), i.data(), j.data(), a.data()};
  }
};

/// The same arrays on the device, and what a sweep writes.
struct Arrays {
  Array<Scalar> b, inverse, x, product, next;
  Array<int>    counters; ///< arrived, stopped_at
  DeviceMemory  partial;
  PinnedMemory  record;

  PetscErrorCode Make(const System &s)
  {
    PetscFunctionBeginUser;
    PetscCall(b.Take(std::vector<Scalar>(s.b), Space::Device));
    PetscCall(inverse.Take(std::vector<Scalar>(s.inverse), Space::Device));
    PetscCall(x.Take(std::vector<Scalar>(s.x), Space::Device));
    PetscCall(product.Allocate(s.x.size(), Space::Device));
    PetscCall(partial.Reserve(JACOBI_BLOCKS * sizeof(PetscReal)));
    PetscCall(record.Reserve(sizeof(Record)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

struct Swept {
  std::vector<Scalar> next;
  PetscReal           norm    = 0;
  bool                changed = true; ///< is any of `next` written?
};

PetscErrorCode Launch(Format *format, const JacobiSweep &sweep, const JacobiControl &control, Stream stream)
{
#if defined(SPARSEGPU_HAVE_CUDA)
  return format ? FusedSweep(*format, sweep, control, stream) : JacobiSweep_CUDA(sweep, control, stream);
#else
  return PETSC_ERR_SUP;
#endif
}

/// Sweep 1 of a solve that sweep `stopped_at` has ended; by `format` if it is to multiply. Without b as GMRES has it.
PetscErrorCode Sweep(Arrays *arrays, Format *format, bool with_b, JacobiNorm norm, int stopped_at, Swept *out)
{
  const size_t              rows    = arrays->x.size();
  const std::vector<Scalar> before  = std::vector<Scalar>(rows, ToScalar(std::numeric_limits<PetscReal>::quiet_NaN()));
  Record *const             record  = static_cast<Record *>(arrays->record.data());
  JacobiSweep               sweep   = {};
  JacobiControl             control = {};
  Stream                    stream;

  PetscFunctionBeginUser;
  PetscCall(arrays->next.Take(std::vector<Scalar>(before), Space::Device));
  PetscCall(arrays->counters.Take({0, stopped_at}, Space::Device));
  *record            = {};
  sweep.rows         = (PetscInt)rows;
  sweep.b            = with_b ? arrays->b.data() : nullptr;
  sweep.product      = format ? nullptr : arrays->product.data();
  sweep.inverse      = arrays->inverse.data();
  sweep.x            = arrays->x.data();
  sweep.next         = arrays->next.data();
  sweep.damping      = (PetscReal)0.75;
  sweep.norm         = norm;
  control.partial    = static_cast<PetscReal *>(arrays->partial.data());
  control.arrived    = reinterpret_cast<unsigned *>(arrays->counters.data());
  control.stopped_at = arrays->counters.data() + 1;
  control.record     = norm == JacobiNorm::None ? nullptr : record;
  control.number     = 1;
  control.round      = 1;
  control.root       = norm != JacobiNorm::Difference;
  PetscCall(DeviceStream(&stream));
  PetscCall(Launch(format, sweep, control, stream));
  out->next.resize(rows);
  PetscCall(DeviceCopyOut(out->next.data(), sweep.next, rows * sizeof(Scalar), stream));
  PetscCall(DeviceSynchronize(stream));
  out->norm    = record->norm;
  out->changed = rows > 0 && memcmp(out->next.data(), before.data(), rows * sizeof(Scalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// |next - what it should be|, against the rounding errors of a row's products, two sums, and two products after them;
/// a complex product has up to four times those of a real one.
PetscErrorCode CheckAgainstLoop(const System &s, bool with_b, const std::vector<Scalar> &next, const std::string &what)
{
  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < s.A.rows; r++) {
    const size_t at = (size_t)r;
    Scalar       sum(0);
    PetscReal    size = 0;
    for (PetscInt e = s.A.i[r]; e < s.A.i[r + 1]; e++) {
      sum += s.a[(size_t)e] * s.x[(size_t)s.A.j[e]];
      size += Size(s.a[(size_t)e]) * Size(s.x[(size_t)s.A.j[e]]);
    }
    const Scalar exact =
        with_b ? s.x[at] + Scalar((PetscReal)0.75) * (s.inverse[at] * (s.b[at] - sum)) : s.inverse[at] * sum;
    const PetscReal bound = 4 * (PetscReal)(2 * (s.A.i[r + 1] - s.A.i[r]) + 8) * PETSC_MACHINE_EPSILON *
                            (Size(s.x[at]) + Size(s.inverse[at]) * (Size(s.b[at]) + size));
    const PetscReal off = Size(next[at] - exact);
    PetscCheck(off <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, row %" PetscInt_FMT ": off by %g, %g allowed",
               what.c_str(), r, (double)off, (double)bound);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckSweeps(const System &s, Format *format, const std::string &what)
{
  const JacobiNorm norms[] = {JacobiNorm::None, JacobiNorm::Preconditioned, JacobiNorm::Unpreconditioned,
                              JacobiNorm::Difference};
  Arrays           arrays;
  Stream           stream;

  PetscFunctionBeginUser;
  PetscCall(arrays.Make(s));
  PetscCall(DeviceStream(&stream));
  PetscCall(format->Mult(arrays.x.data(), nullptr, arrays.product.data(), stream));
  for (bool with_b : {true, false})
    for (JacobiNorm norm : norms) {
      if (!with_b && norm != JacobiNorm::None) continue;
      Swept apart, fused, again, stopped;
      PetscCall(Sweep(&arrays, nullptr, with_b, norm, INT_MAX, &apart));
      PetscCall(Sweep(&arrays, format, with_b, norm, INT_MAX, &fused));
      PetscCall(Sweep(&arrays, format, with_b, norm, 1, &again)); // that sweep itself may be the last one
      PetscCall(Sweep(&arrays, format, with_b, norm, 0, &stopped));
      PetscCall(CheckAgainstLoop(s, with_b, fused.next, what));
#if !defined(PETSC_USE_COMPLEX) // compilers contract complex products in more than one way
      PetscCheck(!memcmp(fused.next.data(), apart.next.data(), apart.next.size() * sizeof(Scalar)), PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "%s: not the bits of a product and a sweep", what.c_str());
#endif
      PetscCheck(!memcmp(fused.next.data(), again.next.data(), again.next.size() * sizeof(Scalar)) &&
                     fused.norm == again.norm,
                 PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: not twice the same", what.c_str());
      PetscCheck(!stopped.changed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: a sweep after the last one wrote",
                 what.c_str());
      // the square root of a sum of squares, each of them rounded four times at most, added in two orders
      const PetscReal bound = ((PetscReal)s.A.rows + 4) * 4 * PETSC_MACHINE_EPSILON * apart.norm;
      PetscCheck(PetscAbsReal(fused.norm - apart.norm) <= bound, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: norms %.17g and %.17g", what.c_str(), (double)fused.norm, (double)apart.norm);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A format with options of its own.
struct Kind {
  std::string   name;
  FormatOptions options;
  PetscInt      swept = 0; ///< systems
};
std::vector<Kind> AllKinds()
{
  std::vector<Kind> kinds;
  const auto        add = [&](const char *name) {
    kinds.push_back({name, FormatOptions()});
    return &kinds.back().options;
  };
  for (const char *name : {"dia", "ell", "stencil"}) add(name);
  for (PetscInt width : {0, 1, 2, 4, 8, 16, 32}) add("csr")->Set<CsrOptions>().width = width;
  for (PetscInt bytes : {1, 2, 4}) add("sell")->Set<SellOptions>().column_bytes = bytes;
  add("sell")->Set<SellOptions>().window   = 256;
  add("sell")->Set<CommonOptions>().values = "full";
  for (PetscInt size = 2; size <= 6; size++) add("bsr")->Set<BsrOptions>().block = size;
  return kinds;
}

/// Every format that sweeps, on those of the problems that it takes; each must have met one.
PetscErrorCode CheckProblems(const std::vector<conformance::Problem> &problems, std::vector<Kind> kinds)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) return testing::Skip("skipped: no GPU");
  for (const conformance::Problem &p : problems) {
    if (p.rows != p.cols) continue;
    for (Values values : {Values::Full, Values::Single, Values::Few}) {
      const System s(p, values);
      for (Kind &kind : kinds) {
        Plans                   plans(s.A, kind.options, Space::Device);
        std::unique_ptr<Format> format;
        std::string             why;
        bool                    ok;
        PetscCall(plans.Check(kind.name, &ok, &why));
        if (!ok) continue;
        PetscCall(plans.Build(kind.name, &format));
        if (!SweepsFused(*format)) continue;
        PetscCall(CheckSweeps(s, format.get(), s.name + ", " + kind.name + ", " + format->Details()));
        kind.swept++;
      }
    }
  }
  for (const Kind &kind : kinds)
    PetscCheck(kind.swept > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s has swept nothing", kind.name.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Conformance()
{
  PetscFunctionBeginUser;
  PetscCall(CheckProblems(conformance::All(), AllKinds()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A few of them, for a sanitizer: slices and rows for warps, blocks, few different rows.
PetscErrorCode Few()
{
  PetscFunctionBeginUser;
  PetscCall(CheckProblems(
      {conformance::PowerLaw(600), conformance::Nodes(3), conformance::Banded("diagonal_257", 257, 257, {0})},
      {{"dia", {}}, {"ell", {}}, {"csr", {}}, {"sell", {}}, {"stencil", {}}, {"bsr", {}}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// More rows than the device has threads: each takes several in turn.
PetscErrorCode Large()
{
  constexpr PetscInt ROWS = 700001;

  PetscFunctionBeginUser;
  PetscCall(CheckProblems({conformance::Banded("tridiagonal_700001", ROWS, ROWS, {-1, 0, 1})},
                          {{"dia", {}}, {"ell", {}}, {"csr", {}}, {"sell", {}}, {"stencil", {}}, {"bsr", {}}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Norms that fall by a factor, swinging or not: the sweeps left are known to one. Others: no limit.
PetscErrorCode Forecasts()
{
  constexpr PetscReal END = (PetscReal)1e-5;

  PetscFunctionBeginUser;
  for (PetscReal factor : {(PetscReal)0.5, (PetscReal)0.9, (PetscReal)0.99})
    for (PetscReal swing : {(PetscReal)0, (PetscReal)0.2}) {
      const auto norm = [=](int k) { return std::pow(factor, (PetscReal)k) * (1 + (k % 2 ? swing : -swing)); };
      const int  off  = 1 + (int)(std::log((1 + swing) / (1 - swing)) / -std::log(factor)); // what a swing is worth
      Forecast   forecast;
      int        end = 0;
      while (norm(end) > END) end++;
      for (int k = 0; k < end; k++) {
        forecast.Add(norm(k), END);
        const PetscInt left = forecast.Left();
        PetscCheck(k < 8 ? left == PETSC_MAX_INT : left >= 1 && (left > 900 || std::abs(left - (end - k)) <= off),
                   PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g, %g, sweep %d of %d: %" PetscInt_FMT " left", (double)factor,
                   (double)swing, k, end, left);
      }
    }
  for (PetscReal factor : {(PetscReal)1, (PetscReal)1.5, std::numeric_limits<PetscReal>::quiet_NaN()}) {
    Forecast forecast;
    for (int k = 0; k < 20; k++) {
      forecast.Add(std::pow(factor, (PetscReal)k), END);
      PetscCheck(forecast.Left() == PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Factor %g: an end after %d",
                 (double)factor, (int)forecast.Left());
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return testing::Main(argc, argv, help,
                       {{"conformance", Conformance}, {"few", Few}, {"large", Large}, {"forecast", Forecasts}});
}
