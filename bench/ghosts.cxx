static char help[] =
    "Parallel products and their ghosts, on any number of ranks and with every -mat_type: microseconds a product, the\n"
    "slowest rank's, medians of batches at whose ends the GPU is waited for.\n"
    "  -what stencil : 27 points on a grid of n x n x (planes a rank) nodes, -n and -planes; -constant: the same values in\n"
    "                  all rows, else full mantissas, with -symmetric of a symmetric matrix\n"
    "  -what pairs   : -ghosts entries a rank, each with its own column and the same one of the next rank; -local: of\n"
    "                  this rank, which is the same product without ghosts\n"
    "  -what channel : the exchange of -ghosts entries between neighbouring ranks alone\n"
    "  -what sum     : sums of 32 values over all ranks alone\n"
    "  -batches, -products : batches, products of a batch\n";

#include <petscmat.h>
#include <petsctime.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include "comm/channel.hpp"
#include "comm/reduce.hpp"
#include "sparsegpu.h"

using namespace sparsegpu;

namespace
{
PetscErrorCode Settle()
{
  PetscBool device;
  Stream    stream;

  PetscFunctionBegin;
  PetscCall(DeviceFound(&device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(&stream));
  PetscCall(DeviceSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Prints the median and the least time of one `step`.
PetscErrorCode Time(const char what[], const std::function<PetscErrorCode(PetscInt)> &step)
{
  PetscInt            batches = 15, products = 100;
  std::vector<double> times;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-batches", &batches, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-products", &products, nullptr));
  for (PetscInt batch = -2; batch < batches; batch++) { // the first two convert and warm up
    PetscLogDouble begin, end;
    double         mine, slowest;
    PetscCall(Settle());
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&begin));
    for (PetscInt k = 0; k < products; k++) PetscCall(step(k));
    PetscCall(Settle());
    PetscCall(PetscTime(&end));
    mine = (end - begin) / static_cast<double>(products) * 1e6;
    PetscCallMPI(MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    if (batch >= 0) times.push_back(slowest);
  }
  std::sort(times.begin(), times.end());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %d ranks: median %.2f us, least %.2f us\n", what, (int)PetscGlobalSize,
                        times[times.size() / 2], times[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Row = std::function<void(PetscInt, std::vector<PetscInt> *, std::vector<PetscScalar> *)>;

/// An assembled matrix of `local` rows and columns a rank, with at most `most` entries in a row, `most_off` of them in
/// other ranks' columns.
PetscErrorCode Assemble(PetscInt local, PetscInt most, PetscInt most_off, const Row &row, Mat *A)
{
  std::vector<PetscInt>    columns;
  std::vector<PetscScalar> values;
  PetscInt                 first, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, local, local, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATSPARSEGPU));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, most, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*A, most, nullptr, most_off, nullptr));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    columns.clear();
    values.clear();
    row(i, &columns, &values);
    PetscCall(
        MatSetValues(*A, 1, &i, static_cast<PetscInt>(columns.size()), columns.data(), values.data(), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TimeProducts(const char what[], Mat A)
{
  Vec       x, y;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(Time(what, [&](PetscInt) { return MatMult(A, x, y); }));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  norm of the product %.15g\n", (double)norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Stencil()
{
  PetscInt  n = 128, planes = 128;
  PetscBool constant = PETSC_FALSE, symmetric = PETSC_FALSE;
  Mat       A;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &n, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-planes", &planes, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-constant", &constant, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-symmetric", &symmetric, nullptr));
  const PetscInt depth = planes * PetscGlobalSize;
  const Row      row   = [=](PetscInt i, std::vector<PetscInt> *columns, std::vector<PetscScalar> *values) {
    const PetscInt x = i % n, y = i / n % n, z = i / n / n;
    for (PetscInt c = PetscMax(z - 1, 0); c <= PetscMin(z + 1, depth - 1); c++)
      for (PetscInt b = PetscMax(y - 1, 0); b <= PetscMin(y + 1, n - 1); b++)
        for (PetscInt a = PetscMax(x - 1, 0); a <= PetscMin(x + 1, n - 1); a++) {
          const PetscInt  j   = (c * n + b) * n + a;
          const PetscInt  low = symmetric ? PetscMin(i, j) : i, high = symmetric ? PetscMax(i, j) : j;
          const PetscReal other = constant ? 1 : 1 + PetscReal((low * 31 + high * 17) % 1021) / 1021;
          columns->push_back(j);
          values->push_back(i == j ? PetscReal(60) : -other);
        }
  };
  PetscCall(Assemble(n * n * planes, 27, planes > 1 ? 9 : 18, row, &A));
  PetscCall(TimeProducts(constant ? "27 points, constant" : "27 points, full mantissas", A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Pairs(PetscInt ghosts)
{
  PetscBool local = PETSC_FALSE;
  Mat       A;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-local", &local, nullptr));
  const PetscInt all = ghosts * PetscGlobalSize;
  const Row      row = [=](PetscInt i, std::vector<PetscInt> *columns, std::vector<PetscScalar> *values) {
    const PetscInt here = i / ghosts * ghosts;
    columns->assign({i, local ? here + (i + 1) % ghosts : (i + ghosts) % all});
    values->assign({2, PetscReal(1) / 3});
  };
  PetscCall(Assemble(ghosts, 2, 2, row, &A));
  PetscCall(TimeProducts(local ? "pairs, local" : "pairs", A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where exchanges alone are timed: on GPUs where there are any.
PetscErrorCode FindPeers(std::shared_ptr<comm::Peers> *peers, double *timeout)
{
  comm::Use   use;
  std::string why;
  PetscBool   device;

  PetscFunctionBegin;
  PetscCall(DeviceFound(&device));
  PetscCall(comm::ReadUse(nullptr, &use, timeout));
  PetscCall(comm::Peers::Find(PETSC_COMM_WORLD, device ? Space::Device : Space::Host, use, peers, &why));
  if (!*peers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no peers: %s\n", why.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `n` ones in the peers' space, for as long as `host` or `memory` lives.
PetscErrorCode Ones(Space space, size_t n, std::vector<Scalar> *host, DeviceMemory *memory, Stream *stream,
                    Scalar **ones)
{
  PetscFunctionBegin;
  host->resize(n, Scalar(1));
  *ones   = host->data();
  *stream = nullptr;
  if (space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceStream(stream));
  PetscCall(memory->Reserve(n * sizeof(Scalar)));
  PetscCall(DeviceCopyIn(memory->data(), host->data(), n * sizeof(Scalar), *stream));
  *ones = static_cast<Scalar *>(memory->data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Sums()
{
  std::shared_ptr<comm::Peers> peers;
  comm::Reducer                reducer;
  std::vector<Scalar>          host;
  DeviceMemory                 memory;
  Stream                       stream;
  Scalar                      *values;
  std::string                  why;
  double                       timeout;

  PetscFunctionBegin;
  PetscCall(FindPeers(&peers, &timeout));
  if (!peers) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(reducer.Create(peers, timeout, &why));
  PetscCall(Ones(peers->space(), 32, &host, &memory, &stream, &values));
  PetscCall(Time("sums of 32 values", [&](PetscInt) { return reducer.Sum(32, values, stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each rank sends to the one before and the one after, half of the entries each.
PetscErrorCode Exchanges(PetscInt ghosts)
{
  std::shared_ptr<comm::Peers> peers;
  comm::Channel                channel;
  DeviceMemory                 memory;
  std::vector<Scalar>          host;
  std::vector<PetscInt>        columns;
  std::string                  why;
  double                       timeout;
  PetscLayout                  layout;
  Stream                       stream;
  Scalar                      *from;
  const Scalar                *received;

  PetscFunctionBegin;
  PetscCall(FindPeers(&peers, &timeout));
  if (!peers) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLayoutCreateFromSizes(PETSC_COMM_WORLD, ghosts, PETSC_DETERMINE, 1, &layout));
  const PetscInt all = ghosts * PetscGlobalSize, first = ghosts * PetscGlobalRank;
  for (PetscInt g = 0; g < ghosts / 2; g++) {
    columns.push_back((first + all - ghosts / 2 + g) % all);
    columns.push_back((first + ghosts + g) % all);
  }
  std::sort(columns.begin(), columns.end());
  comm::Graph graph;
  PetscCall(comm::GraphOfGhosts(layout, static_cast<PetscInt>(columns.size()), columns.data(), &graph, &why));
  PetscCall(channel.Create(peers, graph, timeout, &why));
  PetscCall(Ones(peers->space(), static_cast<size_t>(ghosts), &host, &memory, &stream, &from));
  PetscCall(Time("exchanges", [&](PetscInt) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(channel.Begin(from, stream));
    PetscCall(channel.End(stream, &received));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run()
{
  char     what[32] = "stencil";
  PetscInt ghosts   = 100000;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-what", what, sizeof(what), nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-ghosts", &ghosts, nullptr));
  const std::string name = what;
  if (name == "stencil")
    PetscCall(Stencil());
  else if (name == "pairs")
    PetscCall(Pairs(ghosts));
  else if (name == "channel")
    PetscCall(Exchanges(ghosts));
  else if (name == "sum")
    PetscCall(Sums());
  else
    SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
            "Unknown -what \"%s\": stencil, pairs, channel and sum are known", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBegin;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
