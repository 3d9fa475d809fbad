/// A B, A^T B, A B^T, P^T A P, R A R^T and A B C of sequential matrices whose values live on the device: the pattern is
/// found there and the host gets a copy, the values stay there.
#include "mat/face/sparse_products.hpp"
#include "mat/face/context.hpp"
#include "mat/face/pattern.hpp"
#include "mat/products/product.hpp"

namespace sparsegpu
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

#if PETSC_VERSION_GE(3, 25, 0)
PetscErrorCode DestroyProduct(void **data)
{
  PetscFunctionBegin;
  delete static_cast<products::Product *>(*data);
  *data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode DestroyProduct(void *data)
{
  PetscFunctionBegin;
  delete static_cast<products::Product *>(data);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// Which factors are transposed.
PetscErrorCode Transposed(const Kind &kind, std::vector<bool> *transposed)
{
  PetscFunctionBegin;
  for (const char *f = kind.factors; *f; f++) PetscCallCXX(transposed->push_back(*f >= 'a'));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The factors from left to right, and what they are multiplied by. All must still be ours.
PetscErrorCode GetOperands(Mat C, std::vector<products::Operand> *operands)
{
  PetscFunctionBegin;
  for (const char *f = KindOf(C->product->type)->factors; *f; f++) {
    const Mat M = OperandOf(C->product, *f);
    PetscBool seq, mpi;
    Context  *context;
    PetscCall(IsOurs(M, &seq, &mpi));
    PetscCheck(seq && M->assembled, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
               "The product was set up for assembled matrices of type %s; an operand is of type %s%s now",
               MATSEQAIJSPARSEGPU, ((PetscObject)M)->type_name, M->assembled ? "" : ", not assembled");
    PetscCall(GetContext(M, &context));
    PetscCallCXX(operands->push_back(products::Operand{M, &context->rows}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Finds the values of C by `product`, where that finds them. *lazy: they stay there.
PetscErrorCode FindValues(Mat C, products::Product *product, bool *lazy)
{
  const Space                    space = product->space();
  std::vector<products::Operand> operands;
  Context                       *context;
  CsrView                        csr;
  Scalar                        *c;
  Space                          where;

  PetscFunctionBegin;
  PetscCall(GetOperands(C, &operands));
  PetscCall(GetContext(C, &context));
  PetscCall(MayGoAway(C, context, lazy, &where));
  PetscCall(context->rows.GetPattern(C, &csr, nullptr));
  *lazy = *lazy && where == space && csr.nonzeros; // none are nowhere
  if (!*lazy) PetscCall(ComeHome(C, context));
  products::SparseRows rows{csr.rows, csr.cols, csr.nonzeros, {}};
  PetscCall(context->rows.BringPattern(C, space, &rows.arrays.i, &rows.arrays.j));
  PetscCall(context->rows.RoomForValues(C, space, &c));
  if (space == Space::Device) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(product->FindValues(operands, rows, c));
  if (space == Space::Device) PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductNumeric_SparseGPU_Sparse(Mat C)
{
  auto     *product = static_cast<products::Product *>(C->product->data);
  bool      lazy = false, lacks = false;
  Context  *context;
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(IsOurs(C, &seq, &mpi));
  PetscCheck(seq, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The product was set up for a result of type %s, which is of type %s now", MATSEQAIJSPARSEGPU,
             ((PetscObject)C)->type_name);
  PetscCall(MayLackMemory([&] { return FindValues(C, product, &lazy); }, &lacks));
  if (lacks) { // from now on it is found on the host
    std::vector<bool> transposed;
    PetscCheck(product->space() == Space::Device, PETSC_COMM_SELF, PETSC_ERR_MEM,
               "No memory for a product of matrices");
    PetscCall(BringHome(C));
    PetscCall(Transposed(*KindOf(C->product->type), &transposed));
    delete product;
    C->product->data = nullptr;
    PetscCallCXX(product = new products::Product(Space::Host, transposed));
    C->product->data = product;
    PetscCall(FindValues(C, product, &lazy));
  }
  PetscCall(GetContext(C, &context));
  PetscCall(lazy ? ValuesWrittenThere(C, context) : ValuesWrittenInBoth(C, context, product->space()));
  PetscCall(product->space() == Space::Device ? PetscLogGpuFlops(product->flops()) : PetscLogFlops(product->flops()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's way, for a product that the device has no room for.
PetscErrorCode LeaveToHost(Mat C)
{
  const struct _MatOps *parent;

  PetscFunctionBegin;
  for (Mat A : {C->product->A, C->product->B, C->product->C, C}) PetscCall(StayHome(A));
  PetscCall(GetParentOps(false, &parent));
  C->ops->productsymbolic = nullptr;
  PetscCall((*parent->productsetfromoptions)(C));
  PetscCheck(C->ops->productsymbolic, PETSC_COMM_SELF, PETSC_ERR_SUP, "No product of type %s on the host",
             MatProductTypes[C->product->type]);
  PetscCall((*C->ops->productsymbolic)(C));
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
    PetscCall(LeaveToHost(C));
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
  PetscCall(GetContext(C, &context));
  context->stays_home   = false; // no product of PETSc's writes it
  context->product_here = true;
  context->read_here    = true;
  PetscCall(TakePattern(C, std::move(pattern.i), std::move(pattern.j), space));
  product->data           = data.release();
  product->destroy        = DestroyProduct;
  C->ops->productsymbolic = MatProductSymbolic_SparseGPU_Sparse; // a new type has none
  C->ops->productnumeric  = MatProductNumeric_SparseGPU_Sparse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As PETSc's GPU types do: -matmatmult_backend_cpu and the like, or -mat_product_algorithm_backend_cpu.
PetscErrorCode AskedForHost(Mat D, const Kind &kind, PetscBool *host)
{
  const char *const prefix = ((PetscObject)D)->prefix;
  const char *const name   = D->product->api_user ? kind.on_cpu : "-mat_product_algorithm_backend_cpu";

  PetscFunctionBegin;
  *host = PETSC_FALSE;
  PetscOptionsBegin(PETSC_COMM_SELF, prefix, kind.title, "Mat");
  PetscCall(PetscOptionsBool(name, "Use CPU code", kind.title, *host, host, nullptr));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatProductSetFromOptions_SparseGPU_Sparse(Mat D, bool *set)
{
  const Kind *const kind = KindOf(D->product->type);
  PetscBool         seq, mpi, host;
  Context          *context;
  bool              lives = true;

  PetscFunctionBegin;
  *set = false;
  if (!kind) PetscFunctionReturn(PETSC_SUCCESS);
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
    lives = lives && this_one && found && !context->settings.release_csr;
  }
  if (!lives) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AskedForHost(D, *kind, &host));
  if (host) PetscFunctionReturn(PETSC_SUCCESS);
  D->ops->productsymbolic = MatProductSymbolic_SparseGPU_Sparse;
  *set                    = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu
