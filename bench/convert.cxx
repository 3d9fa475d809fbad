static char help[] =
    "What auto costs on the GPU before the first product in its format: the look at the matrix, and the conversion, in\n"
    "milliseconds and in products as csr, with the rows there already; the upload of these; and, with -host, the same on\n"
    "one core. Prints one JSON line per matrix.\n"
    "  -set FILE -classes a,b : matrices of a table, see bench/spmv_set.tsv\n"
    "  -runs n                : medians of n\n"
    "  -most n                : leaves matrices of more nonzeros out\n"
    "  -host                  : on the host, too\n"
    "  -format name           : that one, whatever auto chooses; matrices that it refuses are left out\n";

#include <algorithm>
#include <cstdio>
#include "cusparse.hpp"
#include "device/device.hpp"
#include "mat/rows/device_rows.hpp"
#include "mat/choice/select.hpp"
#include "mat/formats/bsr/bsr.hpp"
#include "mat/formats/sell/sell.hpp"
#include "mat/formats/stencil/stencil.hpp"
#include "mat/rows/inspect.hpp"
#include "spmv_set.hpp"
#include "sparsegpu.h"

using namespace sparsegpu;
using namespace sparsegpu::choice;

#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
namespace
{
struct Settings {
  PetscInt                 runs = 5, most = PETSC_MAX_INT;
  PetscBool                host = PETSC_FALSE;
  std::vector<std::string> classes;
  std::string              format; ///< empty: auto's choice
};
struct Product {
  Format       *format;
  Array<Scalar> x, y;
  Stream        stream;
};

/// Median seconds of `runs` calls, the device idle before and after.
template <class Call> PetscErrorCode Seconds(PetscInt runs, Call call, double *seconds)
{
  std::vector<double> all;
  Stream              stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  for (PetscInt k = 0; k < runs; k++) {
    PetscLogDouble begin, end;
    PetscCall(DeviceSynchronize(stream));
    PetscCall(PetscTime(&begin));
    PetscCall(call());
    PetscCall(DeviceSynchronize(stream));
    PetscCall(PetscTime(&end));
    all.push_back(end - begin);
  }
  std::sort(all.begin(), all.end());
  *seconds = all[all.size() / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProductSeconds(Format *format, const CsrView &A, double *seconds)
{
  Product             p{format, {}, {}, nullptr};
  std::vector<Scalar> ones(static_cast<size_t>(A.cols), Scalar(1));

  PetscFunctionBegin;
  PetscCall(DeviceStream(&p.stream));
  PetscCall(p.x.Take(std::move(ones), Space::Device));
  PetscCall(p.y.Allocate(A.rows, Space::Device));
  const auto call = [](void *argument) {
    Product *q = static_cast<Product *>(argument);
    PetscCallAbort(PETSC_COMM_SELF, q->format->Mult(q->x.data(), nullptr, q->y.data(), q->stream));
  };
  *seconds = EventSeconds(call, &p, p.stream, 5, 10);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Seconds of the choice and of the conversion that it leads to, which takes over what the former found out, or to
/// `asked`; the format is left for products. Medians of `runs`.
PetscErrorCode Convert(const CsrView &A, PetscInt runs, const std::string &asked, Choice *choice,
                       std::unique_ptr<Format> *format, double *analysis, double *conversion)
{
  std::vector<double> analyses, conversions;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < runs; k++) {
    double seconds;
    format->reset();
    Plans plans(A, FormatOptions(), Space::Device);
    PetscCall(Seconds(
        1, [&] { return ChooseFormat(&plans, choice); }, &seconds));
    analyses.push_back(seconds);
    if (!asked.empty()) choice->name = asked;
    PetscCall(Seconds(
        1, [&] { return plans.Build(choice->name, format); }, &seconds));
    conversions.push_back(seconds);
  }
  std::sort(analyses.begin(), analyses.end());
  std::sort(conversions.begin(), conversions.end());
  *analysis   = analyses[analyses.size() / 2];
  *conversion = conversions[conversions.size() / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bench(const Case &c, const Settings &settings)
{
  Mat                     M;
  CsrView                 A;
  PetscScalar            *a;
  PetscMemType            where;
  DeviceRows              rows;
  Choice                  choice, host_choice;
  std::unique_ptr<Format> format;
  double                  upload = -1, analysis = -1, conversion = -1, as_csr = -1, converted = -1, host_analysis = -1,
         host_conversion = -1;

  PetscFunctionBegin;
  PetscCall(CreateCase(c, &M));
  PetscCall(MatGetSize(M, &A.rows, &A.cols));
  PetscCall(MatSeqAIJGetCSRAndMemType(M, &A.i, &A.j, &a, &where));
  A.a        = reinterpret_cast<const Scalar *>(a);
  A.nonzeros = A.i[A.rows];
  if (!settings.format.empty()) {
    bool        ok;
    std::string refusal;
    PetscCall(Plans(A, FormatOptions(), Space::Device).Check(settings.format, &ok, &refusal));
    if (!ok) {
      PetscCall(MatDestroy(&M));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (settings.host) PetscCall(Convert(A, 1, settings.format, &host_choice, &format, &host_analysis, &host_conversion));
  PetscCall(Seconds(
      settings.runs, [&] { return rows.Upload(A, true); }, &upload));
  A.device = rows.View();
  PetscCall(Convert(A, settings.runs, settings.format, &choice, &format, &analysis, &conversion));
  PetscCheck(!settings.host || choice.name == host_choice.name, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: the host chooses %s, the device %s", c.Name().c_str(), host_choice.name.c_str(), choice.name.c_str());
  PetscCall(ProductSeconds(format.get(), A, &converted));
  PatternFacts                         facts;
  RowLengths                           lengths;
  SellArrangement                      places;
  RowClasses                           classes;
  std::optional<std::vector<PetscInt>> offsets;
  bool                                 few;
  PetscLogDouble                       bytes;
  double                               inspect = 0, planning = 0, rows_apart = 0, blocks = 0; // parts of the analysis
  PetscCall(Seconds(
      settings.runs,
      [&]() -> PetscErrorCode {
        PetscFunctionBegin;
        PetscCall(InspectRows(A, &lengths));
        PetscCall(InspectPattern(A, lengths, &facts, &offsets));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      &inspect));
  PetscCall(Seconds(
      settings.runs, [&] { return ArrangeSell(A, SellOptions().window, facts.longest, &places); }, &planning));
  PetscCall(Seconds(
      settings.runs, [&] { return FindRowClasses(A, &classes, &few); }, &rows_apart));
  PetscCall(Seconds(
      settings.runs,
      [&] {
        BsrSamples samples; // what it brings is a part of it
        return SampleBsr(A, sizeof(Scalar), &samples, &bytes);
      },
      &blocks));
  const std::string details = format->Details();
  format                    = MakeFormat("csr");
  PetscCall(format->Build(A, FormatOptions(), Space::Device));
  PetscCall(ProductSeconds(format.get(), A, &as_csr));
  printf(
      "{\"matrix\":\"%s\",\"class\":\"%s\",\"values\":\"%s\",\"rows\":%d,\"nnz\":%d,\"format\":\"%s\",\"details\":\"%s\","
      "\"csr_us\":%.2f,\"product_us\":%.2f,\"upload_ms\":%.3f,\"analysis_ms\":%.4f,\"conversion_ms\":%.4f,"
      "\"inspect_ms\":%.4f,\"sell_plan_ms\":%.4f,\"stencil_rows_ms\":%.4f,\"bsr_sample_ms\":%.4f,\"analysis_products\":%.1f,\"conversion_products\":%.1f,\"host_analysis_ms\":%.2f,\"host_conversion_ms\":%.2f}\n",
      c.Name().c_str(), c.kind.c_str(), c.natural ? "natural" : "full", (int)A.rows, (int)A.nonzeros,
      choice.name.c_str(), details.c_str(), as_csr * 1e6, converted * 1e6, upload * 1e3, analysis * 1e3,
      conversion * 1e3, inspect * 1e3, planning * 1e3, rows_apart * 1e3, blocks * 1e3, analysis / as_csr,
      conversion / as_csr, host_analysis * 1e3, host_conversion * 1e3);
  fflush(stdout);
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run()
{
  char              set[PETSC_MAX_PATH_LEN], name[64], *list[16];
  PetscInt          count = 16;
  PetscBool         given, classes, found, asked;
  const char       *why;
  std::vector<Case> cases;
  Settings          settings;

  PetscFunctionBegin;
  PetscCall(DeviceFound(&found, &why));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_SUP, "This benchmark needs a GPU: %s", why);
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-set", set, sizeof(set), &given));
  PetscCheck(given, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "Name a table of matrices: -set FILE");
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-runs", &settings.runs, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-most", &settings.most, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-host", &settings.host, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-format", name, sizeof(name), &asked));
  if (asked) settings.format = name;
  PetscCheck(!asked || MakeFormat(settings.format), PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-format %s: no such format", name);
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-classes", list, &count, &classes));
  for (PetscInt k = 0; classes && k < count; k++) {
    settings.classes.push_back(list[k]);
    PetscCall(PetscFree(list[k]));
  }
  PetscCheck(settings.runs > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-runs %d must be positive",
             (int)settings.runs);
  PetscCall(ReadSet(set, &cases));
  for (const Case &c : cases) {
    PetscInt64 nonzeros;
    const bool wanted = settings.classes.empty() ||
                        std::find(settings.classes.begin(), settings.classes.end(), c.kind) != settings.classes.end();
    PetscCall(ExpectedNonzeros(c, &nonzeros));
    if (wanted && nonzeros <= settings.most) PetscCall(Bench(c, settings));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace
#endif

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
  PetscCall(Run());
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "This benchmark needs a PETSc of double precision and 32-bit integers");
#endif
  PetscCall(PetscFinalize());
  return 0;
}
