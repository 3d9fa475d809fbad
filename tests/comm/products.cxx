static const char help[] =
    "Parallel products whose ghosts travel through peer memory: when they do and what the view says, the bits, and a rank\n"
    "that never comes.\n\n";

#include "../family.hpp"

#include <unistd.h>
#include <cstdio>
#include <cstdlib>

using namespace testing;

namespace
{
/// The view's line on ghosts of a matrix after a product, with `options`.
PetscErrorCode LineOf(const Problem &p, const std::string &options, std::string *line)
{
  const Options set(options);
  Mat           A;
  Vec           x, y;
  std::string   text;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, "csr", Layout::Even, &A));
  PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO_DETAIL, "peer_products", &text));
  if (PetscGlobalRank == 0) PetscCall(CheckText("before a product", text, {"sparsegpu ghosts: not exchanged yet\n"}));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO_DETAIL, "peer_products", &text));
  const size_t at = text.find("sparsegpu ghosts: ");
  *line           = at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckLine(const Problem &p, const std::string &options, const std::string &expected)
{
  std::string line;

  PetscFunctionBeginUser;
  PetscCall(LineOf(p, options, &line));
  PetscCheck(PetscGlobalRank > 0 || line == "sparsegpu ghosts: by " + expected, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "\"%s\" with %s, not \"by %s\"", line.c_str(), options.c_str(), expected.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestView()
{
  const Problem p   = conformance::Grid("grid_14x9", 14, 9, false);
  const bool    one = PetscGlobalSize == 1;
  std::string   message, line;

  PetscFunctionBeginUser;
  PetscCall(CheckLine(p, "-sparsegpu_peer no -sparsegpu_backend kokkos", "PetscSF (-sparsegpu_peer no)"));
  PetscCall(CheckLine(p, "-sparsegpu_peer yes -sparsegpu_backend kokkos", one ? "PetscSF (one rank)" : "peer memory"));
  PetscCall(
      CheckLine(p, "-sparsegpu_backend kokkos", one ? "PetscSF (one rank)" : "PetscSF (the vectors are on the host)"));
  PetscCall(ExpectError(
      "a wrong word", [&] { return LineOf(p, "-sparsegpu_peer maybe", &line); }, &message, PETSC_ERR_ARG_UNKNOWN_TYPE));
  PetscCall(CheckText("a wrong word", message, {"\"maybe\"", "auto, yes and no"}));
  PetscCall(ExpectError(
      "a wrong time", [&] { return LineOf(p, "-sparsegpu_peer_timeout 0", &line); }, &message,
      PETSC_ERR_ARG_OUTOFRANGE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With a GPU: peers where each rank has its own, else the reason; asked for, they serve ranks that share one, too.
PetscErrorCode TestDevice()
{
  const Problem p = conformance::Grid("grid_14x9", 14, 9, false);
  PetscBool     device;
  std::string   line;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device || PetscGlobalSize == 1) {
    PetscCall(Skip("skipped: no GPU, or one rank"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LineOf(p, "-sparsegpu_backend cuda", &line));
  const bool peers = line == "sparsegpu ghosts: by peer memory", shared = line.find(" ranks share ") < line.size();
  PetscCheck(PetscGlobalRank > 0 || peers || shared, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", line.c_str());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", line.c_str()));
  PetscCall(CheckLine(p, "-sparsegpu_backend cuda -sparsegpu_peer no", "PetscSF (-sparsegpu_peer no)"));
  PetscCall(LineOf(p, "-sparsegpu_backend cuda -sparsegpu_peer yes", &line));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "asked for: %s\n", line.c_str()));
  PetscCheck(!peers || PetscGlobalRank > 0 || line == "sparsegpu ghosts: by peer memory", PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s", line.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The entries of A x or A^T x on this rank after some products, with `options`.
PetscErrorCode Result(const Problem &p, const char format[], Layout layout, bool transposed, const std::string &options,
                      std::vector<PetscScalar> *entries)
{
  const Options      set(options);
  const PetscScalar *array;
  Mat                A;
  Vec                x, y;
  PetscInt           n, first;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format, layout, &A));
  PetscCall(MatCreateVecs(A, transposed ? &y : &x, transposed ? &x : &y));
  PetscCall(VecGetOwnershipRange(x, &first, nullptr));
  PetscCall(VecGetLocalSize(x, &n));
  for (PetscInt k = 0; k < 4; k++) {
    for (PetscInt i = first; i < first + n; i++)
      PetscCall(VecSetValue(x, i, 1 / static_cast<PetscReal>(i + k + 1), INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(transposed ? MatMultTranspose(A, x, y) : MatMult(A, x, y));
  }
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(y, &array));
  entries->assign(array, array + n);
  PetscCall(VecRestoreArrayRead(y, &array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products have the bits that they have with PetscSF; transposed ones are the same in each run, and the same as with
/// PetscSF up to the order of the sums.
PetscErrorCode TestBits()
{
  const Problem problems[] = {conformance::Grid("grid_14x9", 14, 9, false),
                              conformance::Banded("bands_70", 70, 40, {-33, 0, 5})};

  PetscFunctionBeginUser;
  for (const Problem &p : problems)
    for (Layout layout : {Layout::Even, Layout::FirstEmpty, Layout::Opposite})
      for (bool transposed : {false, true}) {
        std::vector<PetscScalar> by_forest, by_peers, again;
        PetscCall(Result(p, nullptr, layout, transposed, "-sparsegpu_peer no", &by_forest));
        PetscCall(Result(p, nullptr, layout, transposed, "-sparsegpu_peer yes", &by_peers));
        PetscCall(Result(p, nullptr, layout, transposed, "-sparsegpu_peer yes", &again));
        const size_t bytes = by_peers.size() * sizeof(PetscScalar);
        PetscCheck(!memcmp(by_peers.data(), again.data(), bytes), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s, %s: other bits the second time", p.name.c_str(), Name(layout));
        PetscCheck(transposed || !memcmp(by_peers.data(), by_forest.data(), bytes), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s, %s: other bits than with PetscSF", p.name.c_str(), Name(layout));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same bits in every format, of blocks that send along with their product and of those that do not; of rows with
/// many ghosts and with few.
PetscErrorCode TestFormats()
{
  const Problem            problems[] = {conformance::Grid("grid_14x9", 14, 9, false),
                                         conformance::Banded("bands_70", 70, 70, {-69, -35, -1, 0, 1, 35, 69})};
  std::vector<std::string> formats;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  for (const Problem &p : problems)
    for (const std::string &format : formats)
      for (Layout layout : {Layout::Even, Layout::FirstEmpty}) {
        std::vector<PetscScalar> by_forest, by_peers;
        if (conformance::Refuses(p, format)) continue;
        PetscCall(Result(p, format.c_str(), layout, false, "-sparsegpu_peer no", &by_forest));
        PetscCall(Result(p, format.c_str(), layout, false, "-sparsegpu_peer yes", &by_peers));
        PetscCheck(!memcmp(by_peers.data(), by_forest.data(), by_peers.size() * sizeof(PetscScalar)), PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "%s as %s, %s: other bits than with PetscSF", p.name.c_str(), format.c_str(),
                   Name(layout));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix and its vectors on one backend, by peers that wait so long.
struct Waiting {
  Options     set;
  Mat         A = nullptr;
  Vec         x = nullptr, y = nullptr;
  std::string backend;

  Waiting(const std::string &on, const char seconds[])
      : set(std::string("-sparsegpu_peer yes -sparsegpu_peer_timeout ") + seconds),
        backend(on)
  {
  }
  PetscErrorCode Create()
  {
    PetscFunctionBeginUser;
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, conformance::Banded("bands_70", 70, 70, {-69, -35, -1, 0, 1, 35, 69}),
                           MATSPARSEGPU, "csr", Layout::Even, &A));
    PetscCall(MatSparseGPUSetBackend(A, backend.c_str()));
    PetscCall(CreateVector(A, Op::Plain, true, VECSTANDARD, &x));
    PetscCall(CreateVector(A, Op::Plain, false, VECSTANDARD, &y));
    PetscCall(VecSet(x, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Destroy()
  {
    PetscFunctionBeginUser;
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// The last rank stays away: the others' products end with an error, at the latest with the second on a GPU, and the
/// matrix can be destroyed.
PetscErrorCode TestLost()
{
  std::vector<std::string> backends;
  std::string              message;

  PetscFunctionBeginUser;
  if (PetscGlobalSize == 1) {
    PetscCall(Skip("skipped: one rank"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends) {
    Waiting w(backend, "0.4");
    PetscCall(w.Create());
    PetscCall(MatMult(w.A, w.x, w.y));
    if (PetscGlobalRank != PetscGlobalSize - 1) {
      if (backend != "kokkos") PetscCall(MatMult(w.A, w.x, w.y)); // whose kernels find the loss
      const PetscScalar *local;
      PetscCall(VecGetArrayRead(w.y, &local)); // waits for them
      PetscCall(VecRestoreArrayRead(w.y, &local));
      PetscCall(ExpectError(
          "lost", [&] { return MatMult(w.A, w.x, w.y); }, &message, PETSC_ERR_SYS));
      PetscCall(CheckText("lost", message, {"has not taken part in exchange 2", "-sparsegpu_peer_timeout"}));
    }
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD)); // none is stuck inside
    PetscCall(w.Destroy());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A rank comes seconds after the others, to a product and to a transposed one: both are as in time.
PetscErrorCode TestLate()
{
  std::vector<std::string> backends;

  PetscFunctionBeginUser;
  PetscCall(Backends(&backends));
  for (const std::string &backend : backends)
    for (const bool transposed : {false, true}) {
      Waiting   w(backend, "60");
      Vec       in_time;
      PetscBool same;
      PetscCall(w.Create());
      PetscCall(VecDuplicate(w.y, &in_time));
      for (Vec to : {in_time, w.y}) {
        if (to == w.y && PetscGlobalRank == PetscGlobalSize - 1) PetscCall(PetscSleep(2));
        PetscCall(transposed ? MatMultTranspose(w.A, w.x, to) : MatMult(w.A, w.x, to));
        PetscCall(VecScale(w.x, 2)); // so that what came before is wrong now
      }
      PetscCall(VecScale(in_time, 2));
      PetscCall(VecEqual(w.y, in_time, &same));
      PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: another product where a rank was late", backend.c_str());
      PetscCall(VecDestroy(&in_time));
      PetscCall(w.Destroy());
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The last rank's process ends: the others end as well, by MPI or with an error, and do not hang.
PetscErrorCode TestExits()
{
  Waiting w("kokkos", "2");

  PetscFunctionBeginUser;
  PetscCall(w.Create());
  PetscCall(MatMult(w.A, w.x, w.y));
  if (PetscGlobalRank == PetscGlobalSize - 1) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "the last rank ends here\n"));
    fflush(stdout);
    std::_Exit(7);
  }
  PetscCall(MatMult(w.A, w.x, w.y));
  PetscCall(w.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"view", TestView},
               {"device", TestDevice},
               {"bits", TestBits},
               {"formats", TestFormats},
               {"lost", TestLost},
               {"late", TestLate},
               {"exits", TestExits}});
}
