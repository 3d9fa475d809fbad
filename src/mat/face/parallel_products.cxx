/// A B, A^T B, A B^T, P^T A P, R A R^T and A B C of parallel matrices whose values live on the device, in one step or
/// in two, of which the first gives B^T, R^T or B C. Patterns travel once, when the product is set up; then values
/// alone do, which the host does not see.
#include "mat/face/parallel_products.hpp"
#include <algorithm>
#include "mat/face/host_products.hpp"
#include "mat/face/parallel_away.hpp"
#include "mat/face/parallel_result.hpp"
#include "mat/face/sparse_products.hpp"

namespace sparsegpu::face
{

namespace
{
/// One step of a product: its operands are those of the product by name, or the result of the step before, M.
struct NamedStep {
  Step step;
  char left, right; ///< 0: none
};
/// The last step gives the product.
std::vector<NamedStep> StepsOf(MatProductType type)
{
  switch (type) {
  case MATPRODUCT_AtB: return {{Step::AtB, 'A', 'B'}};
  case MATPRODUCT_PtAP: return {{Step::PtAP, 'A', 'B'}};
  case MATPRODUCT_ABt: return {{Step::At, 'B', 0}, {Step::AB, 'A', 'M'}};
  case MATPRODUCT_RARt: return {{Step::At, 'B', 0}, {Step::PtAP, 'A', 'M'}};
  case MATPRODUCT_ABC: return {{Step::AB, 'B', 'C'}, {Step::AB, 'A', 'M'}};
  default: return {{Step::AB, 'A', 'B'}};
  }
}

/// What is kept of a product between its phases.
class Steps
{
public:
  explicit Steps(MatProductType type) : steps_(StepsOf(type)) {}
  ~Steps() { PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&inner_)); }
  Steps(const Steps &)            = delete;
  Steps &operator=(const Steps &) = delete;

  /// *fits is false, on all ranks, where one lacks memory or its numbers do not reach. Collective.
  PetscErrorCode SetUp(Mat C, Space space, bool *fits);
  enum State { // the worst on all ranks counts
    READY,
    CHANGED, ///< operands or result are not what the product was set up for
    LACKING  ///< memory
  };
  /// The values of C, where all ranks are ready for it. Collective.
  PetscErrorCode Compute(Mat C, State *state);
  /// Whether this rank multiplies by blocks in all steps.
  bool ByBlocks() const;

private:
  Mat Named(const Mat_Product *product, char name) const
  {
    return name == 'A' ? product->A : name == 'B' ? product->B : name == 'C' ? product->C : name ? inner_ : nullptr;
  }
  StepOperands Operands(const Mat_Product *product, size_t k) const
  {
    return StepOperands{Named(product, steps_[k].left), Named(product, steps_[k].right)};
  }
  /// Where the result of step k goes.
  Mat            Result(Mat C, size_t k) const { return k + 1 == steps_.size() ? C : inner_; }
  PetscErrorCode SetUpResult(Mat C, size_t k, BlockPatterns &&patterns);
  PetscErrorCode Ready(Mat C, size_t k, State *state);

  std::vector<NamedStep>                        steps_;
  std::vector<std::unique_ptr<ParallelProduct>> products_; ///< of each step
  Mat                                           inner_ = nullptr;
};

PetscErrorCode Steps::SetUpResult(Mat C, size_t k, BlockPatterns &&patterns)
{
  const bool last = k + 1 == steps_.size();

  PetscFunctionBegin;
  if (!last) PetscCall(MatCreate(PetscObjectComm((PetscObject)C), &inner_));
  PetscCall(SetResultType(Result(C, k), steps_[k].step, Operands(C->product, k)));
  if (last)
    PetscCall(SetProductBlockSizes(C));
  else
    PetscCall(InheritSettings(C->product->A, inner_));
  PetscCall(SetResultPattern(Result(C, k), std::move(patterns), products_[k]->space()));
  PetscCall(products_[k]->Expect(Result(C, k)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Steps::SetUp(Mat C, Space space, bool *fits)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < steps_.size(); k++) {
    const StepOperands operands = Operands(C->product, k);
    BlockPatterns      patterns;
    for (Mat M : {operands.left, operands.right})
      if (M) PetscCall(ConvertBlocks(M));
    PetscCallCXX(products_.push_back(std::make_unique<ParallelProduct>(steps_[k].step, space)));
    PetscCall(products_[k]->FindPattern(operands, &patterns, fits));
    if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscInfo(C, "%s of %s, step %zu%s: %zu and %zu nonzeros\n", MatProductTypes[C->product->type],
                        MATMPIAIJSPARSEGPU, k + 1, products_[k]->ByBlocks() ? ", by blocks" : "", patterns.j[0].size(),
                        patterns.j[1].size()));
    PetscCall(SetUpResult(C, k, std::move(patterns)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether operands and result of step k are still in the space that the product was set up for, with the same
/// patterns. They may have been converted, or bound to the CPU. Gathers values where they are.
PetscErrorCode Steps::Ready(Mat C, size_t k, State *state)
{
  const StepOperands operands = Operands(C->product, k);
  const Mat          result   = Result(C, k);
  ParallelProduct   *product  = products_[k].get();
  bool               fits = false, lacks = false;

  PetscFunctionBegin;
  *state = CHANGED;
  for (Mat M : {operands.left, operands.right, result}) {
    PetscBool seq, mpi;
    Context  *context;
    Space     space;
    if (!M) continue;
    PetscCall(IsOurs(M, &seq, &mpi));
    if (!mpi || !M->assembled) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(GetContext(M, &context));
    PetscCall(PlannedSpace(context, &space));
    if (product->space() == Space::Device && space == Space::Host) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(ConvertBlocks(M));
  }
  PetscCall(product->Fits(operands, result, &fits));
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  const auto gather = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(product->GatherValues(operands));
    PetscCall(ReserveResult(result, product->space()));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(MayLackMemory(gather, &lacks));
  *state = lacks ? LACKING : READY;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Steps::Compute(Mat C, State *state)
{
  int mine, worst;

  PetscFunctionBegin;
  for (size_t k = 0; k < steps_.size(); k++) {
    PetscCall(Ready(C, k, state));
    mine = *state;
    PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)C)));
    *state = static_cast<State>(worst);
    if (*state != READY) PetscFunctionReturn(PETSC_SUCCESS);
    const PetscLogDouble flops = products_[k]->flops();
    PetscCall(products_[k]->Multiply());
    PetscCall(TakeResult(Result(C, k), *products_[k]));
    PetscCall(products_[k]->space() == Space::Device ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Steps::ByBlocks() const
{
  return std::all_of(products_.begin(), products_.end(), [](const auto &product) { return product->ByBlocks(); });
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

PetscErrorCode MatProductNumeric_SparseGPU_Parallel(Mat C)
{
  Context     *context;
  Steps::State state;

  PetscFunctionBegin;
  PetscCall(static_cast<Steps *>(C->product->data)->Compute(C, &state));
  PetscCall(GetContext(C, &context));
  if (state != Steps::READY) {
    PetscCall(
        PetscInfo(C, "%s is set up again: %s\n", MatProductTypes[C->product->type],
                  state == Steps::LACKING ? "the GPU of a rank lacks memory" : "a pattern or a place has changed"));
    if (state == Steps::LACKING) context->product_elsewhere = true;
    PetscCall(SetUpAnew(C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const NothingSet nothing(context);
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY)); // forgets symmetry and the like, as PETSc's does
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatProductSymbolic_SparseGPU_Parallel(Mat C)
{
  Mat_Product *const     product = C->product;
  std::unique_ptr<Steps> data;
  Context               *context;
  Space                  space;
  bool                   fits = false;

  PetscFunctionBegin;
  PetscCall(GetContext(product->A, &context));
  PetscCall(PlannedSpace(context, &space));
  PetscCallCXX(data = std::make_unique<Steps>(product->type));
  PetscCall(data->SetUp(C, space, &fits));
  if (!fits) {
    data.reset();
    PetscCall(PetscInfo(C, "%s is PETSc's: a rank lacks memory, or its numbers do not reach\n",
                        MatProductTypes[product->type]));
    PetscCall(LeaveToHost(C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  product->data           = data.release();
  product->destroy        = DestroyProductData<Steps>;
  C->ops->productsymbolic = MatProductSymbolic_SparseGPU_Parallel; // a new type has none
  C->ops->productnumeric  = MatProductNumeric_SparseGPU_Parallel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultipliesByBlocks(Mat C, bool *blocks)
{
  PetscFunctionBegin;
  *blocks = C->product && C->product->data && C->ops->productnumeric == MatProductNumeric_SparseGPU_Parallel &&
            static_cast<const Steps *>(C->product->data)->ByBlocks();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
