static char help[] =
    "Solves linear systems with PETSc's solvers on PETSc's matrix types and with ours on sparsegpu, checks every solution\n"
    "and prints one table a system.\n\n"
    "  solve -f matrix.mtx.gz [-rhs vector.mtx]     MatrixMarket or PETSc binary, plain, gzip or xz\n"
    "  solve -gen stencil7,circuit -gen_size 5000000\n"
    "  solve -thesis all -thesis_folder matrices     200 iterations each, if -ksp_max_it does not say otherwise\n\n"
    "Without -rhs the right-hand side is that of a known solution, and the forward error is told, too. All -ksp_...\n"
    "options but -ksp_type apply to every solver: -ksp_rtol, -ksp_max_it, -ksp_gmres_restart, ...\n"
    "Direct solvers, on one process: -pcs lu or cholesky, PETSc's and ours. Above 20,000 unknowns they run only if\n"
    "-pcs names them; cholesky is for symmetric matrices. Their speed-up is that of set-up and solve together.\n\n";

#include "solve.hpp"

#include <cstring>
#include <fstream>

#include <sparsegpu.h>

#include "generate.hpp"
#include "load.hpp"
#include "surrogate.hpp"

namespace
{
struct Options {
  std::vector<std::string> files, generated, thesis;
  Selection                selection;
  PetscInt                 gen_size = 1000000, repeat = 3;
  PetscBool                natural = PETSC_FALSE, scale = PETSC_FALSE, device = PETSC_FALSE;
  std::string              rhs, json, folder;
};

PetscErrorCode ReadOptions(Options *o)
{
  struct List {
    const char               *option, *text;
    std::vector<std::string> *names;
  } const lists[] = {
      {"-f", "files to read", &o->files},
      {"-gen", "matrices to generate", &o->generated},
      {"-thesis", "matrices of the thesis: all, or names", &o->thesis},
      {"-solvers", "run only these: gmres, sparsegpugmres, cg, sparsegpucg, preonly, ... (all)", &o->selection.solvers},
      {"-pcs", "run only these: jacobi, ilu, gamg, lu, cholesky, sparsegpu, sparsegpuamg, none (all)",
       &o->selection.pcs},
      {"-types", "run only these matrix types: aij, aijcusparse, sparsegpu (all)", &o->selection.types},
  };
  char      values[64] = "random", rhs[PETSC_MAX_PATH_LEN] = "", json[PETSC_MAX_PATH_LEN] = "";
  char      folder[PETSC_MAX_PATH_LEN] = "";
  PetscBool set, fixed[2];

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Comparison of solvers", nullptr);
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
  PetscCall(PetscOptionsBool("-scale", "D A D for A, D random in [1/2, 2]: values of full mantissa", "", o->scale,
                             &o->scale, nullptr));
  PetscCall(
      PetscOptionsString("-rhs", "file of the right-hand side of all matrices", "", rhs, rhs, sizeof(rhs), nullptr));
  PetscCall(PetscOptionsString("-thesis_folder",
                               "where its matrices lie, as NAME.mtx; surrogates stand in for the others", "", folder,
                               folder, sizeof(folder), nullptr));
  PetscCall(PetscOptionsInt("-repeat", "solves to time", "", o->repeat, &o->repeat, nullptr));
  PetscCall(PetscOptionsString("-json", "file to write all results to", "", json, json, sizeof(json), nullptr));
  PetscOptionsEnd();
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-ksp_type", &fixed[0]));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-pc_type", &fixed[1]));
  PetscCheck(!fixed[0] && !fixed[1], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-ksp_type and -pc_type would make all runs the same: use -solvers and -pcs");
  PetscCheck(o->gen_size > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-gen_size %" PetscInt_FMT " must be positive", o->gen_size);
  PetscCheck(o->repeat > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-repeat %" PetscInt_FMT " must be positive",
             o->repeat);
  o->natural = strcmp(values, "natural") ? PETSC_FALSE : PETSC_TRUE;
  PetscCheck(o->natural || !strcmp(values, "random"), PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-gen_values %s: known are random, natural", values);
  PetscCallCXX(o->rhs = rhs);
  PetscCallCXX(o->json = json);
  PetscCallCXX(o->folder = folder);
  PetscCall(SparseGPUHasDevice(&o->device));
  PetscCall(CheckSelection(o->selection, o->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Entries that depend on the row alone: the same on any number of ranks. In [low, high].
PetscErrorCode FillVector(Vec v, double low, double high)
{
  PetscInt     begin, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = begin; i < end; i++) {
    unsigned long long h = (static_cast<unsigned long long>(i) + 1) * 0x9e3779b97f4a7c15ull; // splitmix64
    h                    = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h                    = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    const double part    = static_cast<double>((h ^ (h >> 31)) >> 11) / static_cast<double>(1ull << 53);
    a[i - begin]         = static_cast<PetscReal>(low + (high - low) * part);
  }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where a matrix comes from.
struct Source {
  std::string         name, file;       ///< file empty: generated
  const ThesisMatrix *thesis = nullptr; ///< one of the thesis', to be measured as it did
};

/// The file of a matrix of the thesis, if it is there.
std::string ThesisFile(const std::string &folder, const std::string &name)
{
  if (folder.empty()) return "";
  for (const char *ending : {".mtx", ".mtx.gz", ".mtx.xz"}) {
    const std::string file = folder + "/" + name + ending;
    if (std::ifstream(file).good()) return file;
  }
  return "";
}

PetscErrorCode ListSources(const Options &o, std::vector<Source> *sources)
{
  PetscFunctionBeginUser;
  for (const std::string &file : o.files)
    PetscCallCXX(sources->push_back({file.substr(file.rfind('/') + 1), file, nullptr}));
  for (const std::string &name : o.generated) PetscCallCXX(sources->push_back({name, "", nullptr}));
  for (const std::string &name : o.thesis) {
    bool found = false;
    for (const ThesisMatrix &m : ThesisMatrices) {
      if (name != "all" && name != m.name) continue;
      PetscCallCXX(sources->push_back({m.name, ThesisFile(o.folder, m.name), &m}));
      found = true;
    }
    PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "-thesis %s: known are all, %s, ..., %s",
               name.c_str(), ThesisMatrices.front().name, ThesisMatrices.back().name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MakeSystem(const Options &o, const Source &source, System *s)
{
  PetscInt  columns;
  PetscBool aij, symmetric;
  MatInfo   info;

  PetscFunctionBeginUser;
  PetscCallCXX(s->name = source.name);
  if (!source.file.empty())
    PetscCall(LoadMatrix(PETSC_COMM_WORLD, source.file.c_str(), &s->A));
  else if (source.thesis)
    PetscCall(CreateSurrogate(PETSC_COMM_WORLD, *source.thesis, &s->A));
  else
    PetscCall(GenerateMatrix(PETSC_COMM_WORLD, source.name.c_str(), o.gen_size, o.natural, &s->A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)s->A.object, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (!aij) PetscCall(MatConvert(s->A, MATAIJ, MAT_INPLACE_MATRIX, &s->A)); // what -mat_type asks for is not compared
  PetscCall(MatGetSize(s->A, &s->rows, &columns));
  PetscCheck(s->rows == columns, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ,
             "%s has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns: only square systems are solved",
             s->name.c_str(), s->rows, columns);
  PetscCall(MatGetInfo(s->A, MAT_GLOBAL_SUM, &info));
  s->nonzeros = info.nz_used;
  if (sizeof(PetscScalar) == sizeof(PetscReal)) {
    PetscCall(MatIsSymmetric(s->A, 0, &symmetric));
    s->symmetric = symmetric;
  }
  PetscCall(MatCreateVecs(s->A, nullptr, &s->b));
  if (o.scale) {
    PetscCall(FillVector(s->b, 0.5, 2));
    PetscCall(MatDiagonalScale(s->A, s->b, s->b));
  }
  if (o.rhs.empty()) {
    PetscCall(VecDuplicate(s->b, &s->known));
    PetscCall(FillVector(s->known, -1, 1));
    PetscCall(MatMult(s->A, s->known, s->b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  OwnedMat B; // a vector is a matrix of one column
  PetscInt rows;
  PetscCall(LoadMatrix(PETSC_COMM_WORLD, o.rhs.c_str(), &B));
  PetscCall(MatGetSize(B, &rows, &columns));
  PetscCheck(rows == s->rows && columns == 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ,
             "%s is %" PetscInt_FMT " x %" PetscInt_FMT ", not %" PetscInt_FMT " x 1", o.rhs.c_str(), rows, columns,
             s->rows);
  PetscCall(MatGetColumnVector(B, s->b, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is the method to run on a matrix of the thesis? Its solvers on one CPU core, and ours.
bool InThesis(const ThesisMatrix &m, const Method &method)
{
  if (method.ksp == KSPSPARSEGPUJACOBI) return m.jacobi;
  if (method.pc != "jacobi" || (!method.ours && method.device)) return false;
  return method.ksp == "richardson" ? m.jacobi : (method.ksp == "gmres" || method.ksp == KSPSPARSEGPUGMRES) && m.gmres;
}

/// Is a direct solver to run? PETSc's own takes hours for what iterative ones solve in seconds.
bool WantedDirect(const Options &o, const System &system, const Method &method, PetscMPIInt size)
{
  constexpr PetscInt MOST = 20000; // rows: seconds, also where factors of three dimensions fill
  return size == 1 && (o.selection.Names(method.pc) || system.rows <= MOST) &&
         (method.pc != "cholesky" || system.symmetric);
}

PetscErrorCode RunSource(const Options &o, const Source &source, Solved *solved)
{
  System           system;
  std::vector<Run> runs;
  PetscMPIInt      size;
  bool             left_out = false;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MakeSystem(o, source, &system));
  for (const Method &method : AllMethods(o.device)) {
    if (!o.selection.Has(method) || (source.thesis && !InThesis(*source.thesis, method))) continue;
    if (method.Direct() && !WantedDirect(o, system, method, size)) {
      left_out = left_out || (method.pc == "lu" && (size == 1 || o.selection.Names(method.pc)));
      continue;
    }
    Run run;
    PetscCall(RunMethod(system, method, o.repeat, &run));
    PetscCallCXX(runs.push_back(run));
  }
  CompareRuns(&runs);
  PetscCall(PrintRuns(system, runs));
  if (left_out && size > 1)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Direct solvers were left out: they run on one process\n"));
  else if (left_out)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "Direct solvers were left out, for %" PetscInt_FMT " unknowns: -pcs lu,cholesky runs them\n",
                          system.rows));
  PetscCallCXX(*solved = (Solved{system.name, system.rows, system.nonzeros, std::move(runs)}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunAll()
{
  Options             o;
  std::vector<Source> sources;
  std::vector<Solved> solved, thesis;
  std::vector<bool>   surrogate;
  PetscBool           help_only, limited;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUInitializePackage());
  PetscCall(ReadOptions(&o));
  PetscCall(ListSources(o, &sources));
  PetscCall(PetscOptionsHasHelp(nullptr, &help_only));
  if (help_only && sources.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!sources.empty(), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "No matrix: name files with -f, generated ones with -gen or the thesis' with -thesis, see -help");
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-ksp_max_it", &limited));
  if (!o.thesis.empty() && !limited) PetscCall(PetscOptionsSetValue(nullptr, "-ksp_max_it", "200")); // of one CPU core
  for (const Source &source : sources) {
    Solved one;
    PetscCall(RunSource(o, source, &one));
    PetscCallCXX(solved.push_back(one));
    if (!source.thesis) continue;
    PetscCallCXX(thesis.push_back(one));
    PetscCallCXX(surrogate.push_back(source.file.empty()));
  }
  if (!thesis.empty()) PetscCall(PrintThesis(thesis, surrogate));
  if (!o.json.empty()) PetscCall(WriteRuns(o.json.c_str(), solved));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  const PetscErrorCode code = RunAll();
  // One process ends in order; on several, others may wait for the one that failed.
  if (code && size > 1) MPI_Abort(PETSC_COMM_WORLD, static_cast<int>(code));
  PetscCall(PetscFinalize());
  return static_cast<int>(code);
}
