/// A B, A^T B and P^T A P of parallel matrices whose values live on the device. Each rank multiplies the rows that it
/// has: of A B those of A with rows of B, fetched from other ranks for A's ghosts; of A^T B its own, which gives rows
/// of other ranks' as well; of P^T A P both. Patterns travel once, when the product is set up; then values alone do,
/// which the host does not see.
#include "mat/face/parallel_products.hpp"
#include "mat/face/context.hpp"
#include "mat/face/host_products.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_product.hpp"
#include "mat/face/pieces.hpp"
#include "mat/face/sparse_products.hpp"

namespace sparsegpu::face
{

namespace
{
/// The values of a block of C, which the product's rows have, where they are to be.
PetscErrorCode FindValues(Mat block, int which, const ParallelProduct &product)
{
  const Space space = product.space();
  Context    *context;
  CsrView     csr;
  Scalar     *c;
  Space       where = Space::Host;
  bool        lazy  = false;

  PetscFunctionBegin;
  PetscCall(GetContext(block, &context));
  PetscCall(context->rows.GetPattern(block, &csr, nullptr));
  if (csr.nonzeros == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MayGoAway(block, context, &lazy, &where));
  lazy = lazy && where == space;
  if (!lazy) PetscCall(ComeHome(block, context));
  PetscCall(context->rows.RoomForValues(block, space, &c)); // there already: see Numeric()
  PetscCall(product.Sum(which, c));
  PetscCall(lazy ? ValuesWrittenThere(block, context) : ValuesWrittenInBoth(block, context, c, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Memory for the values of C's blocks, so that it lacks before any rank has begun to send.
PetscErrorCode ReserveResult(Mat C, Space space)
{
  Mat     blocks[2];
  Scalar *c;

  PetscFunctionBegin;
  PetscCall(GetBlocks(C, blocks));
  for (Mat block : blocks) {
    Context *context;
    PetscCall(GetContext(block, &context));
    PetscCall(context->rows.RoomForValues(block, space, &c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's way from now on, on all ranks.
PetscErrorCode LeaveToHost(Mat C)
{
  Context  *context;
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(C, &seq, &mpi));
  if (mpi) {
    PetscCall(GetContext(C, &context));
    context->product_elsewhere = true;
  }
  PetscCall(LeaveProductToHost(C, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum State { // of a product that is to be computed again, the worst on all ranks counts
  READY,
  CHANGED, ///< operands or result are not what it was set up for
  LACKING  ///< memory
};

/// Whether C and its operands are still in the space that the product was set up for, with the same patterns. They may
/// have been converted, or bound to the CPU. Gathers values where they are.
PetscErrorCode Ready(Mat C, ParallelProduct *product, State *state)
{
  bool fits = false, lacks = false;

  PetscFunctionBegin;
  *state = CHANGED;
  for (Mat M : {C->product->A, C->product->B, C}) {
    PetscBool seq, mpi;
    Context  *context;
    Space     space;
    PetscCall(IsOurs(M, &seq, &mpi));
    if (!mpi || !M->assembled) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(GetContext(M, &context));
    PetscCall(PlannedSpace(context, &space));
    if (product->space() == Space::Device && space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(ConvertBlocks(M));
  }
  PetscCall(product->Fits(C->product, C, &fits));
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  const auto gather = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(product->GatherValues(C->product));
    PetscCall(ReserveResult(C, product->space()));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(MayLackMemory(gather, &lacks));
  *state = lacks ? LACKING : READY;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductNumeric_SparseGPU_Parallel(Mat C)
{
  auto *const    product = static_cast<ParallelProduct *>(C->product->data);
  BlocksMayLeave scope;
  Context       *context;
  Mat            blocks[2];
  State          state;
  int            mine, worst;

  PetscFunctionBegin;
  PetscCall(Ready(C, product, &state));
  mine = state;
  PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)C)));
  if (worst != READY) {
    PetscCall(PetscInfo(C, "%s is set up again: %s\n", MatProductTypes[C->product->type],
                        worst == LACKING ? "the GPU of a rank lacks memory" : "a pattern or a place has changed"));
    PetscCall(GetContext(C, &context));
    if (worst == LACKING) context->product_elsewhere = true;
    PetscCall(SetUpAnew(C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(product->Multiply());
  PetscCall(scope.Begin(C));
  PetscCall(GetBlocks(C, blocks));
  for (int b = 0; b < 2; b++) PetscCall(FindValues(blocks[b], b, *product));
  PetscCall(scope.End());
  PetscCall(product->space() == Space::Device ? PetscLogGpuFlops(product->flops()) : PetscLogFlops(product->flops()));
  PetscCall(GetContext(C, &context));
  const NothingSet nothing(context);
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY)); // forgets symmetry and the like, as PETSc's does
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// C gets its type, and a pattern with values zero.
PetscErrorCode SetResult(Mat C, const HostPattern patterns[2])
{
  const Mat_Product *product = C->product;
  const PetscLayout  rows    = product->type == MATPRODUCT_AB    ? product->A->rmap
                               : product->type == MATPRODUCT_AtB ? product->A->cmap
                                                                 : product->B->cmap,
                    cols     = product->B->cmap;
  const struct _MatOps *parent;
  Context              *context;
  Mat                   blocks[2];
  PetscBool             seq, mpi;

  PetscFunctionBegin;
  PetscCall(MatSetSizes(C, rows->n, cols->n, rows->N, cols->N));
  PetscCall(IsOurs(C, &seq, &mpi));
  if (!mpi) PetscCall(MatSetType(C, MATMPIAIJSPARSEGPU));
  PetscCall(SetProductBlockSizes(C));
  PetscCall(PetscLayoutSetUp(C->rmap));
  PetscCall(PetscLayoutSetUp(C->cmap));
  PetscCall(BringHome(C));
  PetscCall(GetContext(C, &context));
  if (!mpi) context->stays_home = false; // it became so for a product, which is not PETSc's
  context->product_here = true;
  PetscCall(Decide(C, context));
  PetscCall(TakePattern(C, patterns));
  PetscCall(GetParentOps(true, &parent));
  for (MatOption option : {MAT_NEW_NONZERO_LOCATION_ERR, MAT_NEW_NONZERO_ALLOCATION_ERR}) // as PETSc's products
    PetscCall((*parent->setoption)(C, option, PETSC_FALSE));
  PetscCall(GetBlocks(C, blocks));
  for (Mat block : blocks) {
    PetscCall(GetContext(block, &context));
    context->read_here = true;
  }
  PetscCall(EachBlock(C, [](Mat block) { return MatZeroEntries(block); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatProductSymbolic_SparseGPU_Parallel(Mat C)
{
  Mat_Product *const               product = C->product;
  std::unique_ptr<ParallelProduct> data;
  HostPattern                      patterns[2];
  Context                         *context;
  Space                            space;
  bool                             fits = false;

  PetscFunctionBegin;
  for (Mat M : {product->A, product->B}) PetscCall(ConvertBlocks(M));
  PetscCall(GetContext(product->A, &context));
  PetscCall(PlannedSpace(context, &space));
  PetscCallCXX(data = std::make_unique<ParallelProduct>(product->type, space));
  PetscCall(data->FindPattern(product, patterns, &fits));
  if (!fits) {
    data.reset();
    PetscCall(PetscInfo(C, "%s is PETSc's: a rank lacks memory, or its numbers do not reach\n",
                        MatProductTypes[product->type]));
    PetscCall(LeaveToHost(C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscInfo(C, "%s of %s: %zu and %zu nonzeros\n", MatProductTypes[product->type], MATMPIAIJSPARSEGPU,
                      patterns[0].j.size(), patterns[1].j.size()));
  PetscCall(SetResult(C, patterns));
  PetscCall(data->Expect(C));
  product->data           = data.release();
  product->destroy        = DestroyProductData<ParallelProduct>;
  C->ops->productsymbolic = MatProductSymbolic_SparseGPU_Parallel; // a new type has none
  C->ops->productnumeric  = MatProductNumeric_SparseGPU_Parallel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
