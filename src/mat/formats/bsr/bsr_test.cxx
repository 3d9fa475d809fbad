#include <cmath>
#include <limits>
#include "mat/formats/bsr/bsr.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;

/// Blocks of 2 x 2: | 1 .  2 | has a partial block of entries (0, 0), (1, 1) and one of (0, 0), at the edge, above
///                  | . 3  . | partial ones of row 2.
///                  | 4 5  6 |
static PetscErrorCode Places()
{
  Parameters parameters;

  PetscFunctionBeginUser;
  for (PetscInt size : {0, 2, 3, 4, 5, 6}) {
    parameters.bsr_block = size;
    for (const char *codec : ValueCodecNames) {
      Bsr bsr;
      parameters.values = codec;
      PetscCall(example::BuildAndMultiply(bsr, parameters));
      PetscCheck(size == 0 || bsr.Layout().size == size, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Blocks of %d",
                 bsr.Layout().size);
    }
  }
  Bsr bsr;
  parameters.bsr_block = 2;
  parameters.values    = "full";
  PetscCall(bsr.Build(example::Matrix(), parameters, Space::Host));
  const BsrLayout &layout = bsr.Layout();
  PetscCall(example::CheckInts("begin", layout.begin, {0, 2, 4}));
  PetscCall(example::CheckInts("j", layout.j, {-2, -3, -4, -5}));
  PetscCall(example::CheckInts("partial_column", layout.partial_column, {0, 1, 0, 1}));
  const unsigned long long mask[] = {1 | 8, 1, 1 | 2, 1};
  for (int k = 0; k < 4; k++)
    PetscCheck(layout.partial_mask[k] == mask[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Mask %d is %llu", k,
               layout.partial_mask[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// | 1 2 . . 9 |     blocks of 2 x 2: two full ones, then, at the right edge, a partial one of one entry
/// | 3 4 . . . |     An Inf in x beside the 9 and under the fill must not be seen.
/// | . . 5 6 . |
/// | . . 7 8 . |
static PetscErrorCode FullAndPartial()
{
  static const PetscInt i[] = {0, 3, 5, 7, 9}, j[] = {0, 1, 4, 0, 1, 2, 3, 2, 3};
  static const Scalar   a[] = {1, 2, 9, 3, 4, 5, 6, 7, 8};
  const PetscReal       inf = std::numeric_limits<PetscReal>::infinity();
  const Scalar          x[] = {1, 1, 1, 1, 1}, poisoned[] = {1, 1, 1, 1, inf};
  Scalar                z[4];
  Parameters            parameters;
  Bsr                   bsr;

  PetscFunctionBeginUser;
  parameters.bsr_block = 2;
  PetscCall(bsr.Build(CsrView{4, 5, 9, i, j, a}, parameters, Space::Host));
  PetscCall(example::CheckInts("j", bsr.Layout().j, {0, -2, 1}));
  PetscCheck(bsr.Stored() == 12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries", bsr.Stored());
  PetscCall(bsr.Mult(x, nullptr, z, nullptr));
  PetscCall(example::CheckValues("A x", z, {12, 7, 11, 15}));
  PetscCall(bsr.Mult(poisoned, nullptr, z, nullptr));
  PetscCheck(std::isinf(RealPart(z[0])), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Inf is lost");
  PetscCall(example::CheckValues("A x with Inf", z + 1, {7, 11, 15}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Nodes of `size` unknowns, each coupled to itself and its neighbours: that size is found, without partial blocks; and
/// the matrix's own size is taken where it costs little more.
static PetscErrorCode Detects(PetscInt size, PetscInt own, PetscInt expected)
{
  constexpr PetscInt    NODES = 120;
  const PetscInt        n     = NODES * size;
  std::vector<PetscInt> i{0}, j;
  std::vector<Scalar>   a;
  BsrPlan               plan;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt node = std::max<PetscInt>(0, r / size - 1); node < std::min(NODES, r / size + 2); node++)
      for (PetscInt q = 0; q < size; q++) j.push_back(node * size + q);
    i.push_back(static_cast<PetscInt>(j.size()));
  }
  a.assign(j.size(), Scalar(1));
  PetscCall(
      PlanBsr(CsrView{n, n, static_cast<PetscInt>(j.size()), i.data(), j.data(), a.data(), own}, Parameters(), &plan));
  PetscCheck(plan.size == expected && plan.partial == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Nodes of %" PetscInt_FMT " unknowns: blocks of %d, %lld of them partial", size, plan.size,
             (long long)plan.partial);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test()
{
  PetscFunctionBeginUser;
  PetscCall(Places());
  PetscCall(FullAndPartial());
  for (PetscInt size = 2; size <= 6; size++) PetscCall(Detects(size, 1, size));
  PetscCall(Detects(6, 3, 3)); // blocks of 6 would have a quarter of the columns, but columns are few bytes
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
