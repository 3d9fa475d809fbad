static const char help[] = "Codecs of values and columns change no bit of a product, also after new values.\n\n";

#include "codecs.hpp"

using namespace testing;

/// Every codec on every backend against the uncoded product, and that against a format that stores no codes and adds a
/// row's entries in the same order.
static PetscErrorCode SameBits()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *format : CODED)
      for (const Shape &shape : SHAPES)
        for (const Palette &palette : Palettes()) {
          const Problem     p    = Make(shape, palette);
          const std::string what = p.name + " in " + format + " on " + backend;
          Run               plain;
          PetscCall(Multiply(p, Coding{format, "full", 4, 1}, backend, &plain));
          if (plain.refused) continue;
          for (const char *other : {"ell", "csr"}) {
            Run same;
            if (!shape.short_rows && backend == "cuda") continue; // csr adds longer rows in parts there
            PetscCall(Multiply(p, Coding{other, "full", 4, 1}, backend, &same));
            if (same.refused) continue; // ell: too much padding
            PetscCall(CheckBits(plain, same, false, what + ", uncoded against " + other));
          }
          for (const char *values : {"auto", "full", "single", "dictionary"})
            for (PetscInt bytes : {0, 2, 4})
              for (PetscInt window : {-1, 256}) {
                const Coding coding{format, values, bytes, window};
                if (format != CODED[0] && (bytes || window != -1)) continue; // settings of sell
                Run coded;
                PetscCall(Multiply(p, coding, backend, &coded));
                PetscCall(CheckBits(coded, plain, true, what + ", " + Name(coding)));
                PetscCall(CheckText(what + ", " + Name(coding), coded.details,
                                    {Codec(values, palette.few, palette.narrow) + " values"}));
              }
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Inf and NaN in x reach the rows that have an entry there and no others, whatever the padding holds.
static PetscErrorCode Poisoned()
{
  std::vector<std::string> backends;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *format : CODED)
      for (const char *values : {"full", "single", "dictionary"}) {
        const Option  option("-mat_sparsegpu_values", values);
        const Problem p = Make(SHAPES[1], Palettes()[0]);
        PetscBool     accepts;
        PetscCall(CreateMatrix(p, MATSPARSEGPU, format, &A));
        PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
        PetscCall(MatSparseGPUCheckFormat(A, format, &accepts, nullptr));
        if (accepts) PetscCall(CheckProductsPoisoned(A, p, std::string(values) + " in " + format + " on " + backend));
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is the product of A bit for bit that of a new, uncoded matrix of these entries, and A in the end stored as `codec`
/// says?
static PetscErrorCode CheckNow(Mat A, const Problem &p, const char format[], const std::string &backend,
                               const std::string &codec, const std::string &what)
{
  Run now, plain;

  PetscFunctionBeginUser;
  PetscCall(Products(A, p, &now));
  PetscCall(Multiply(p, Coding{format, "full", 4, 1}, backend, &plain));
  PetscCall(CheckBits(now, plain, true, what));
  PetscCall(AwaitEncoding(A));
  PetscCall(Products(A, p, &now));
  PetscCall(CheckBits(now, plain, true, what + ", after some products"));
  PetscCall(CheckText(what, now.details, {codec}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// 256 different values; the 257th arrives, and leaves again; of those that are exact in single precision one ceases
/// to be, and is again. The pattern stays, so the format is never rebuilt.
static PetscErrorCode Arrivals()
{
  std::vector<std::string> backends;
  const PetscReal          third = (PetscReal)1 / 3;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *format : CODED)
      for (bool exact : {true, false}) { // in single precision
        Problem           p = conformance::Banded("arrivals", 257, 257, {-1, 0, 1});
        const std::string what =
            std::string(format) + " on " + backend + (exact ? ", exact in single" : ", not exact in single");
        for (size_t e = 0; e < p.entries.size(); ++e)
          p.entries[e].v = exact ? (PetscReal)(e % 256) : third * (PetscReal)(1 + e % 256);
        PetscCall(CreateMatrix(p, MATSPARSEGPU, format, &A));
        PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
        PetscCall(CheckNow(A, p, format, backend, Codec("auto", true, exact), what + ", 256 values"));
        const PetscScalar before = p.entries[300].v;
        for (const PetscScalar &v : {PetscScalar(1000), before, PetscScalar(exact ? 1000 : -third), before}) {
          PetscCall(MatSetValue(A, p.entries[300].i, p.entries[300].j, v, INSERT_VALUES));
          PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
          PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
          p.entries[300].v = v;
          PetscCall(CheckNow(A, p, format, backend, Codec("auto", v == before, exact), what + ", one changed"));
        }
        for (size_t e = 0; e < p.entries.size(); ++e) p.entries[e].v = (PetscReal)e; // more than 256, all exact
        for (const PetscScalar &v : {PetscScalar(0.5), PetscScalar(third), PetscScalar(-0.0)}) {
          p.entries[7].v = v;
          for (const conformance::Entry &e : p.entries) PetscCall(MatSetValue(A, e.i, e.j, e.v, INSERT_VALUES));
          PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
          PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
          PetscCall(
              CheckNow(A, p, format, backend, Codec("auto", false, v != PetscScalar(third)), what + ", many values"));
        }
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same through MatSetValuesCOO(), from host and, where there is one, device memory.
static PetscErrorCode Coordinates()
{
  std::vector<std::string> backends;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *format : CODED)
      for (bool device : {false, true}) {
        Problem                  p = conformance::Banded("coordinates", 300, 300, {-1, 0, 1});
        std::vector<PetscInt>    i, j;
        std::vector<PetscScalar> v(p.entries.size());
        if (device && backend != "cuda") continue;
        for (const conformance::Entry &e : p.entries) {
          i.push_back(e.i);
          j.push_back(e.j);
        }
        PetscCall(MatCreate(PETSC_COMM_SELF, &A));
        PetscCall(MatSetSizes(A, 300, 300, 300, 300));
        PetscCall(MatSetType(A, MATSPARSEGPU));
        PetscCall(MatSparseGPUSetFormat(A, format));
        PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
        PetscCall(MatSetPreallocationCOO(A, (PetscCount)i.size(), i.data(), j.data()));
        for (size_t different : {256, 257, 3, 600, 256}) {
          for (size_t e = 0; e < v.size(); ++e) v[e] = p.entries[e].v = (PetscReal)(e % different) - (PetscReal)1.5;
          ScalarArray values(v, device);
          PetscCall(MatSetValuesCOO(A, values.Get(), INSERT_VALUES));
          PetscCall(CheckNow(A, p, format, backend, Codec("auto", different <= 256, true),
                             std::string(format) + " on " + backend + ", values from coordinates"));
        }
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All values of matrices with rows of every class are replaced, by few and by many values in turn. On a GPU the first
/// products after that read them in the order of the rows, later ones in their places.
static PetscErrorCode NewValues()
{
  std::vector<std::string> backends;
  const auto               palettes = Palettes();
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const char *format : CODED)
      for (const char *window : {"1", "-1"})
        for (const Shape &shape : SHAPES) {
          const Option      option("-mat_sparsegpu_sell_window", window);
          const std::string what =
              std::string(shape.name) + " in " + format + " on " + backend + ", new values, window " + window;
          Problem   p = Make(shape, palettes.back());
          PetscBool accepts;
          PetscCall(CreateMatrix(p, MATSPARSEGPU, format, &A));
          PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
          PetscCall(MatSparseGPUCheckFormat(A, format, &accepts, nullptr));
          for (const Palette &palette : {palettes.front(), palettes.back(), palettes.back(), palettes.front()}) {
            if (!accepts) break;
            p = Make(shape, palette);
            for (const conformance::Entry &e : p.entries) PetscCall(MatSetValue(A, e.i, e.j, e.v, INSERT_VALUES));
            PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
            PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
            PetscCall(CheckNow(A, p, format, backend, Codec("auto", palette.few, palette.narrow), what));
          }
          PetscCall(MatDestroy(&A));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns of one slice that reach over 255, 256, 65535 and 65536 columns after a change of the pattern.
static PetscErrorCode Ranges()
{
  std::vector<std::string> backends;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    Problem p = conformance::Banded("ranges", 32, 70000, {0});
    p.entries.erase(p.entries.begin() + 5); // row 5 gets its entry later
    PetscCall(CreateMatrix(p, MATSPARSEGPU, "sell", &A));
    PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
    PetscCall(CheckNow(A, p, "sell", backend, "bytes: 100 %, 0 %, 0 %", "rows of 1 entry on " + backend));
    for (const auto &range : {std::pair<PetscInt, const char *>{65536, "bytes: 0 %, 0 %, 100 %"},
                              {65535, "bytes: 0 %, 100 %, 0 %"},
                              {256, "bytes: 0 %, 100 %, 0 %"},
                              {255, "bytes: 100 %, 0 %, 0 %"},
                              {256, "bytes: 0 %, 100 %, 0 %"},
                              {65536, "bytes: 0 %, 0 %, 100 %"}}) {
      Problem q = p;
      q.entries.push_back({5, range.first, conformance::Value(77)});
      PetscCall(MatSeqAIJSetPreallocation(A, 1, nullptr)); // a new pattern in the same matrix
      for (const conformance::Entry &e : q.entries) PetscCall(MatSetValue(A, e.i, e.j, e.v, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(CheckNow(A, q, "sell", backend, range.second, "columns 0 to " + std::to_string(range.first)));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"same_bits", SameBits},
               {"poisoned", Poisoned},
               {"arrivals", Arrivals},
               {"coordinates", Coordinates},
               {"new_values", NewValues},
               {"ranges", Ranges}});
}
