static char help[] =
    "Runs matrices through every storage format of sparsegpu and PETSc's own types, checks every product against\n"
    "plain host loops and prints one table a matrix.\n\n"
    "  compare -f matrix.mtx.gz                        MatrixMarket or PETSc binary, plain, gzip or xz\n"
    "  compare -gen stencil7,rmat -gen_size 5000000    generated matrices; -gen all for all of them\n\n"
    "A table: '*' is the fastest on its side, host or GPU; 'in SpMVs' is the conversion in products of PETSc's\n"
    "fastest type on that side, 'vs native' the speed-up over it; GB/s counts the format, x and y once; error/bound\n"
    "above 1 is wrong. Rows are timed in turn, in batches of products; ms/product is the median of the batches, spread\n"
    "half of the span of their middle half. Exit status: 0 if every product of sparsegpu is right.\n\n";

#include <cstring>

#include <petscmat.h>
#include <sparsegpu.h>

#include "generate.hpp"
#include "load.hpp"
#include "owned.hpp"
#include "report.hpp"
#include "run.hpp"

namespace
{
struct Options {
  std::vector<std::string> files, generated;
  Settings                 settings;
  PetscInt                 gen_size = 1000000;
  PetscBool                natural  = PETSC_FALSE;
  std::string              json;
};

PetscErrorCode ReadOptions(Options *o)
{
  struct List {
    const char               *option, *text;
    std::vector<std::string> *names;
  } const lists[] = {
      {"-f", "files to read", &o->files},
      {"-gen", "matrices to generate, or all", &o->generated},
      {"-formats", "formats to run, auto among them (all)", &o->settings.formats},
  };
  char      values[64] = "random", json[PETSC_MAX_PATH_LEN] = "", backend[64] = "auto", format[64] = "";
  PetscBool set;

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Comparison of matrix types", nullptr);
  for (const List &list : lists) {
    char    *name[256];
    PetscInt n = 256;
    PetscCall(PetscOptionsStringArray(list.option, list.text, "", name, &n, &set));
    for (PetscInt k = 0; set && k < n; k++) {
      PetscCallCXX(list.names->push_back(name[k]));
      PetscCall(PetscFree(name[k]));
    }
  }
  PetscCall(
      PetscOptionsInt("-gen_size", "nonzeros of a generated matrix, at least", "", o->gen_size, &o->gen_size, nullptr));
  PetscCall(PetscOptionsString("-gen_values", "random: of full mantissa; natural: the few that such a problem has", "",
                               values, values, sizeof(values), nullptr));
  PetscCall(PetscOptionsBool("-check_only", "check products, time nothing", "", o->settings.check_only,
                             &o->settings.check_only, nullptr));
  PetscCall(PetscOptionsInt("-repeat", "products to time, at least", "", o->settings.products, &o->settings.products,
                            nullptr));
  PetscCall(PetscOptionsString("-json", "file to write all results to", "", json, json, sizeof(json), nullptr));
  PetscCall(PetscOptionsString("-sparsegpu_backend", "run this backend of sparsegpu alone", "MatSparseGPUSetBackend",
                               backend, backend, sizeof(backend), nullptr));
  PetscCall(PetscOptionsString("-mat_sparsegpu_format", "run this format of sparsegpu alone", "MatSparseGPUSetFormat",
                               format, format, sizeof(format), nullptr));
  PetscOptionsEnd();
  // Checked here, not by PetscOptionsBoundedInt(): an error before PetscOptionsEnd() leaves PETSc's memory behind.
  PetscCheck(o->gen_size > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-gen_size %" PetscInt_FMT " must be positive", o->gen_size);
  PetscCheck(o->settings.products > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-repeat %" PetscInt_FMT " must be positive", o->settings.products);
  o->natural = strcmp(values, "natural") ? PETSC_FALSE : PETSC_TRUE;
  PetscCheck(o->natural || !strcmp(values, "random"), PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-gen_values %s: known are random, natural", values);
  PetscCallCXX(o->json = json);
  if (strcmp(backend, "auto")) PetscCallCXX(o->settings.backend = backend);
  if (*format && o->settings.formats.empty()) PetscCallCXX(o->settings.formats = {format});
  if (o->generated == std::vector<std::string>{"all"}) {
    o->generated.clear();
    for (const char *const *name = GeneratedNames; *name; name++) PetscCallCXX(o->generated.push_back(*name));
  }
  PetscCall(SparseGPUHasDevice(&o->settings.device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// "folder/name.mtx.gz" -> "name"
std::string BaseName(const std::string &file)
{
  std::string name = file.substr(file.rfind('/') + 1);
  for (const char *ending : {".gz", ".xz", ".mtx"}) {
    const size_t n = strlen(ending);
    if (name.size() > n && name.compare(name.size() - n, n, ending) == 0) name.resize(name.size() - n);
  }
  return name;
}

PetscErrorCode RunMatrix(const Options &o, const std::string &matrix, bool file, const std::string &progress, Case *c)
{
  OwnedMat  A;
  PetscBool aij;

  PetscFunctionBeginUser;
  PetscCallCXX(c->matrix = file ? BaseName(matrix) : matrix);
  PetscCall(Progress(progress + (file ? "reading" : "generating")));
  if (file)
    PetscCall(LoadMatrix(PETSC_COMM_WORLD, matrix.c_str(), &A));
  else
    PetscCall(GenerateMatrix(PETSC_COMM_WORLD, matrix.c_str(), o.gen_size, o.natural, &A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A.object, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (!aij) PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A)); // what -mat_type asks for is not compared with
  PetscCall(RunCase(A, o.settings, progress, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sets `wrong` to the number of results of sparsegpu that are; PETSc's own are told, but are none of our failures.
PetscErrorCode Run(int *wrong)
{
  Options           o;
  std::vector<Case> cases;
  int               checked = 0, native_wrong = 0;
  PetscBool         help_only;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUInitializePackage());
  PetscCall(PetscOptionsSetValue(nullptr, "-mat_sparsegpu_auto_lazy", "0")); // auto's row is its choice's
  PetscCall(ReadOptions(&o));
  const size_t files = o.files.size(), all = files + o.generated.size();
  PetscCall(PetscOptionsHasHelp(nullptr, &help_only));
  if (help_only && all == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(all > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "No matrix: name files with -f or generated ones with -gen, see -help");
  for (size_t k = 0; k < all; k++) {
    const std::string &matrix = k < files ? o.files[k] : o.generated[k - files];
    PetscCallCXX(cases.emplace_back());
    const std::string progress = "[" + std::to_string(k + 1) + "/" + std::to_string(all) + "] " + matrix + ": ";
    PetscCall(RunMatrix(o, matrix, k < files, progress, &cases.back()));
    PetscCall(PrintTable(cases.back()));
    for (const Result &r : cases.back().results) {
      checked += r.applicable && !r.native_type;
      *wrong += r.Wrong() && !r.native_type;
      native_wrong += r.Wrong() && r.native_type;
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%d of %d checks of sparsegpu passed on %zu matrices", checked - *wrong,
                        checked, all));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, native_wrong ? "; PETSc's own types failed %d (lines with !)\n" : "\n",
                        native_wrong));
  if (!o.json.empty()) PetscCall(WriteJson(o.json.c_str(), o.settings.device, cases));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  PetscMPIInt size;
  int         wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  const PetscErrorCode code = Run(&wrong);
  // One process ends in order; on several, others may wait for the one that failed.
  if (code && size > 1) MPI_Abort(PETSC_COMM_WORLD, static_cast<int>(code));
  PetscCall(PetscFinalize());
  return code ? static_cast<int>(code) : wrong > 0;
}
