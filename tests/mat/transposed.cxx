static const char help[] = "Transposed products under auto: scattered, then by a transpose once that pays.\n\n";

#include "memory_limit.hpp"
#include "lazy_pair.hpp"

using namespace testing;

/// What MatView() tells of them; on rank 0 the first that it tells.
static PetscErrorCode Line(Mat A, std::string *line)
{
  const std::string label = "transposed products: ";
  std::string       text;

  PetscFunctionBeginUser;
  PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO_DETAIL, "transposed_" + std::to_string(getpid()), &text));
  const size_t at = text.find(label);
  *line = at == std::string::npos ? "" : text.substr(at + label.size(), text.find('\n', at) - at - label.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode CheckLine(Mat A, const std::string &begin, const std::string &what)
{
  std::string line;

  PetscFunctionBeginUser;
  PetscCall(Line(A, &line));
  PetscCheck(PetscGlobalRank > 0 || line.compare(0, begin.size(), begin) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: \"%s\", not \"%s...\"", what.c_str(), line.c_str(), begin.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Scattered for as many products as announced, then by the transpose.
static PetscErrorCode CheckTransposed(LazyPair *pair, Op op, const std::string &what)
{
  const char  before[] = "scattered from csr until ";
  std::string line;
  PetscInt    products = 0;

  PetscFunctionBeginUser;
  PetscCall(pair->Transposed(op, 1, what)); // two products
  PetscCall(Line(pair->lazy(), &line));
  PetscCheck(line.compare(0, sizeof(before) - 1, before) == 0 && line.find("2 are done") != std::string::npos,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: \"%s\"", what.c_str(), line.c_str());
  products = (PetscInt)std::atol(line.c_str() + sizeof(before) - 1);
  PetscCheck(products >= 5, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: \"%s\"", what.c_str(), line.c_str());
  PetscCall(pair->Transposed(op, products / 2 - 1, what));
  PetscCall(CheckLine(pair->lazy(), "scattered", what));
  PetscCall(pair->Transposed(op, 1, what));
  PetscCall(Line(pair->lazy(), &line));
  PetscCheck(line.find(" on kokkos (auto") != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s, after %" PetscInt_FMT " products: \"%s\"", what.c_str(), products, line.c_str());
  PetscCall(pair->Transposed(op, 2, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static std::vector<Problem> Problems()
{
  std::vector<Problem> all = conformance::Traits();
  for (const Expectation &e : Expectations()) all.push_back(e.p);
  all.push_back(conformance::Banded("wide", 40, 200, {-39, -3, 0, 2, 90, 199}));
  all.push_back(conformance::Banded("tall", 150, 40, {-149, -90, -2, 0, 3, 39}));
  return all;
}

static PetscErrorCode Bits()
{
  PetscFunctionBeginUser;
  for (const Problem &p : Problems())
    for (Op op : {Op::Transpose, Op::Hermitian}) {
      LazyPair pair;
      PetscCall(pair.Create(PETSC_COMM_SELF, p, "kokkos"));
      PetscCall(CheckTransposed(&pair, op, p.name));
      PetscCall(pair.Destroy());
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values wait for the conversion; a new pattern starts the wait again.
static PetscErrorCode Changes()
{
  LazyPair pair;

  PetscFunctionBeginUser;
  PetscCall(pair.Create(PETSC_COMM_SELF, WithHoles(), "kokkos"));
  PetscCall(CheckTransposed(&pair, Op::Transpose, "before"));
  for (PetscReal factor : {0.3, 1.7}) {
    PetscCall(pair.Both([&](Mat A) { return MatScale(A, (PetscScalar)factor); }));
    PetscCall(pair.Transposed(Op::Transpose, 1, "new values"));
    PetscCall(CheckLine(pair.lazy(), "scattered", "new values"));
    PetscCall(pair.Transposed(Op::Transpose, 30, "new values"));
  }
  PetscCall(pair.Both([](Mat A) { return FillHole(A, 4); }));
  PetscCall(CheckTransposed(&pair, Op::Transpose, "new pattern"));
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A format that was asked for is what transposed products run on from the first.
static PetscErrorCode Asked()
{
  const Problem p = WithHoles();
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSPARSEGPU, "dia", &A));
  PetscCall(MatSparseGPUSetBackend(A, "kokkos"));
  PetscCall(CheckLine(A, "", "before"));
  PetscCall(CheckOneProduct(A, p, Op::Transpose, Poison::None, VECSTANDARD, VECSTANDARD, "dia"));
  PetscCall(CheckLine(A, "dia on kokkos (asked for)", "asked for"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Both blocks of a parallel matrix wait.
static PetscErrorCode Blocks3()
{
  const Problem p = conformance::Banded("diagonals", 6000, 6000, {-100, -1, 0, 1, 100});
  LazyPair      pair;

  PetscFunctionBeginUser;
  PetscCall(pair.Create(PETSC_COMM_WORLD, p, "kokkos"));
  PetscCall(pair.Transposed(Op::Transpose, 1, "blocks"));
  PetscCall(CheckLine(pair.lazy(), "scattered", "blocks"));
  PetscCall(pair.Transposed(Op::Transpose, 50, "blocks"));
  PetscCall(CheckLine(pair.lazy(), "dia on kokkos", "blocks"));
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Without memory for the transpose products stay scattered.
static PetscErrorCode NoMemory()
{
  LazyPair pair;

  PetscFunctionBeginUser;
  PetscCall(
      pair.Create(PETSC_COMM_SELF, conformance::Banded("large", 500000, 500000, {-100, -1, 0, 1, 100}), "kokkos"));
  PetscCall(pair.Transposed(Op::Transpose, 4, "large"));
  PetscCall(CheckLine(pair.lazy(), "scattered", "large"));
  {
    const MemoryLimit limit(20000000); // vectors take 12 MB, the transpose four times that
    if (!limit.works()) PetscCall(Skip("no limit to memory here"));
    if (limit.works()) PetscCall(pair.Transposed(Op::Transpose, 50, "large, without memory"));
  }
  if (SkipReason().empty()) PetscCall(CheckLine(pair.lazy(), "scattered", "large, without memory"));
  PetscCall(pair.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help,
              {{"bits", Bits}, {"changes", Changes}, {"asked", Asked}, {"blocks", Blocks3}, {"no_memory", NoMemory}});
}
