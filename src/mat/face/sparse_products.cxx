/// A B, A^T B, A B^T, P^T A P, R A R^T and A B C of sequential matrices whose values live on the device: the pattern is
/// found there and the host gets a copy, the values stay there.
#include "mat/face/sparse_products.hpp"
#include "mat/face/context.hpp"
#include "mat/face/host_products.hpp"
#include "mat/face/pattern.hpp"
#include "mat/products/product.hpp"

namespace sparsegpu::face
{

namespace
{
struct Kind {
  MatProductType type;
  const char    *title, *on_cpu; ///< as PETSc's GPU types have them
  const char    *factors;        ///< operands A, B, C from left to right, in lower case where transposed
};
constexpr Kind KINDS[] = {
    {MATPRODUCT_AB, "MatMatMult", "-matmatmult_backend_cpu", "AB"},
    {MATPRODUCT_AtB, "MatTransposeMatMult", "-mattransposematmult_backend_cpu", "aB"},
    {MATPRODUCT_ABt, "MatMatTransposeMult", "-matmattransposemult_backend_cpu", "Ab"},
    {MATPRODUCT_PtAP, "MatPtAP", "-matptap_backend_cpu", "bAB"},
    {MATPRODUCT_RARt, "MatRARt", "-matrart_backend_cpu", "BAb"},
    {MATPRODUCT_ABC, "MatMatMatMult", "-matmatmatmult_backend_cpu", "ABC"},
};

const Kind *KindOf(MatProductType type)
{
  for (const Kind &kind : KINDS)
    if (kind.type == type) return &kind;
  return nullptr;
}

Mat OperandOf(const Mat_Product *product, char factor)
{
  return factor == 'A' || factor == 'a' ? product->A : factor == 'B' || factor == 'b' ? product->B : product->C;
}

/// Which factors are transposed.
PetscErrorCode Transposed(const Kind &kind, std::vector<bool> *transposed)
{
  PetscFunctionBegin;
  for (const char *f = kind.factors; *f; f++) PetscCallCXX(transposed->push_back(*f >= 'a'));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetOperand(Mat M, products::Operand *operand)
{
  Context *context;

  PetscFunctionBegin;
  PetscCall(GetContext(M, &context));
  context->read_here = true;
  *operand           = products::Operand{M, &context->rows};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The factors from left to right.
PetscErrorCode GetOperands(Mat C, std::vector<products::Operand> *operands)
{
  PetscFunctionBegin;
  for (const char *f = KindOf(C->product->type)->factors; *f; f++) {
    products::Operand operand;
    PetscCall(GetOperand(OperandOf(C->product, *f), &operand));
    PetscCallCXX(operands->push_back(operand));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Finds the values of C by `product`, and puts them where they are to be.
PetscErrorCode FindValues(Mat C, products::Product *product)
{
  const Space                    space = product->space();
  std::vector<products::Operand> operands;
  products::Operand              result;
  Context                       *context;
  CsrView                        csr;
  Scalar                        *c;
  Space                          where;
  bool                           lazy = false;

  PetscFunctionBegin;
  PetscCall(GetOperands(C, &operands));
  PetscCall(GetOperand(C, &result));
  PetscCall(GetContext(C, &context));
  PetscCall(MayGoAway(C, context, &lazy, &where));
  PetscCall(context->rows.GetShape(C, &csr));
  lazy = lazy && where == space && csr.nonzeros; // none are nowhere
  if (!lazy) PetscCall(ComeHome(C, context));
  PetscCall(context->rows.RoomForValues(C, space, &c));
  if (space == Space::Device) PetscCall(PetscLogGpuTimeBegin());
  const PetscErrorCode code = product->FindValues(operands, result, c);
  if (space == Space::Device) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(code);
  PetscCall(lazy ? ValuesWrittenThere(C, context) : ValuesWrittenInBoth(C, context, c, space));
  PetscCall(space == Space::Device ? PetscLogGpuFlops(product->flops()) : PetscLogFlops(product->flops()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether C and its operands are still in the space that the product was set up for. They may have been converted, or
/// bound to the CPU.
PetscErrorCode StillThere(Mat C, bool *still)
{
  const auto *product = static_cast<products::Product *>(C->product->data);
  PetscBool   seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(C, &seq, &mpi));
  *still = seq;
  for (const char *f = KindOf(C->product->type)->factors; *still && *f; f++) {
    const Mat M = OperandOf(C->product, *f);
    Context  *context;
    Space     space;
    PetscCall(IsOurs(M, &seq, &mpi));
    *still = seq && M->assembled;
    if (!*still) break;
    PetscCall(GetContext(M, &context));
    PetscCall(PlannedSpace(context, &space));
    *still = product->space() == Space::Host || space == Space::Device;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductNumeric_SparseGPU_Sparse(Mat C)
{
  auto *const product = static_cast<products::Product *>(C->product->data);
  bool        still = false, lacks = false;

  PetscFunctionBegin;
  PetscCall(StillThere(C, &still));
  if (!still) {
    PetscCall(SetUpAnew(C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MayLackMemory([&] { return FindValues(C, product); }, &lacks));
  if (lacks) { // from now on they are found on the host
    PetscCheck(product->space() == Space::Device, PETSC_COMM_SELF, PETSC_ERR_MEM,
               "No memory for a product of matrices");
    PetscCall(BringHome(C));
    product->MoveTo(Space::Host);
    PetscCall(FindValues(C, product));
  }
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY)); // forgets symmetry and the like, as PETSc's does
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductSymbolic_SparseGPU_Sparse(Mat C)
{
  Mat_Product *const                 product = C->product;
  std::vector<products::Operand>     operands;
  std::vector<bool>                  transposed;
  std::unique_ptr<products::Product> data;
  products::Pattern                  pattern;
  Context                           *context;
  Space                              space;
  bool                               host = false;
  PetscBool                          seq, mpi;

  PetscFunctionBegin;
  PetscCall(GetOperands(C, &operands));
  PetscCall(Transposed(*KindOf(product->type), &transposed));
  PetscCall(GetContext(operands[0].matrix, &context));
  PetscCall(PlannedSpace(context, &space));
  PetscCallCXX(data = std::make_unique<products::Product>(space, transposed));
  PetscCall(TryOnDevice([&] { return data->FindPattern(operands, &pattern); }, &host));
  if (host) {
    data.reset();
    pattern = products::Pattern();
    PetscCall(LeaveProductToHost(C, false));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscInfo(C, "%s of %s: %zu nonzeros, longest row %" PetscInt_FMT "\n", MatProductTypes[product->type],
                      MATSEQAIJSPARSEGPU, pattern.j.size(), pattern.longest));
  const Mat      left = operands.front().matrix, right = operands.back().matrix;
  const PetscInt m = transposed.front() ? left->cmap->n : left->rmap->n,
                 n = transposed.back() ? right->rmap->n : right->cmap->n;
  PetscCall(MatSetSizes(C, m, n, m, n));
  PetscCall(IsOurs(C, &seq, &mpi));
  if (!seq) PetscCall(MatSetType(C, MATSEQAIJSPARSEGPU));
  PetscCall(SetProductBlockSizes(C));
  PetscCall(GetContext(C, &context));
  if (!seq) context->stays_home = false; // it became so for a product, which is not PETSc's
  context->product_here = true;
  context->read_here    = true;
  PetscCall(TakePattern(C, std::move(pattern.i), std::move(pattern.j), space));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE)); // as PETSc's products
  product->data           = data.release();
  product->destroy        = DestroyProductData<products::Product>;
  C->ops->productsymbolic = MatProductSymbolic_SparseGPU_Sparse; // a new type has none
  C->ops->productnumeric  = MatProductNumeric_SparseGPU_Sparse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SetProductBlockSizes(Mat C)
{
  const Mat_Product *const product = C->product;
  const Mat                A = product->A, B = product->B;
  PetscInt                 rows = 1, cols = 1;

  PetscFunctionBegin;
  switch (product->type) {
  case MATPRODUCT_PtAP: rows = cols = B->cmap->bs; break;
  case MATPRODUCT_RARt: rows = cols = B->rmap->bs; break;
  case MATPRODUCT_ABC: rows = A->rmap->bs, cols = product->C->cmap->bs; break;
  case MATPRODUCT_AtB: rows = A->cmap->bs, cols = B->cmap->bs; break;
  case MATPRODUCT_ABt: rows = A->rmap->bs, cols = B->rmap->bs; break;
  default: rows = A->rmap->bs, cols = B->cmap->bs;
  }
  if (rows > 1 || cols > 1) PetscCall(MatSetBlockSizes(C, PetscMax(rows, 1), PetscMax(cols, 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AskedForHost(Mat D, PetscBool *host)
{
  const Kind       &kind   = *KindOf(D->product->type);
  const char *const prefix = ((PetscObject)D)->prefix;
  const char *const name   = D->product->api_user ? kind.on_cpu : "-mat_product_algorithm_backend_cpu";

  PetscFunctionBegin;
  *host = PETSC_FALSE;
  PetscOptionsBegin(PetscObjectComm((PetscObject)D), prefix, kind.title, "Mat");
  PetscCall(PetscOptionsBool(name, "Use CPU code", kind.title, *host, host, nullptr));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatProductSetFromOptions_SparseGPU_Sparse(Mat D, bool *set)
{
  const Kind *const kind = KindOf(D->product->type);
  PetscBool         seq, mpi, host;
  Context          *context;
  Space             first = Space::Host;
  bool              lives = true;

  PetscFunctionBegin;
  *set = false;
  if (!kind || AtHomeScope::Any() || EndsTripleProduct(D->product)) PetscFunctionReturn(PETSC_SUCCESS);
  for (const char *f = kind->factors; *f; f++) {
    const Mat M = OperandOf(D->product, *f);
    PetscCall(IsOurs(M, &seq, &mpi));
    if (!seq || !M->assembled) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(GetContext(M, &context));
    PetscCall(Decide(M, context));
    bool      this_one;
    PetscBool found = PETSC_TRUE;
    Space     space;
    PetscCall(LivesThere(context, &this_one));
    PetscCall(PlannedSpace(context, &space));
    if (space == Space::Device) PetscCall(DeviceFound(&found));
    if (f == kind->factors) first = space;
    lives = lives && this_one && found && space == first && !context->settings.release_csr;
  }
  if (!lives) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AskedForHost(D, &host));
  if (host) PetscFunctionReturn(PETSC_SUCCESS);
  D->ops->productsymbolic = MatProductSymbolic_SparseGPU_Sparse;
  *set                    = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
