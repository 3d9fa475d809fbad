/// Which products of parallel matrices are ours: those whose operands all live on the device, unless the user has asked
/// for the host or for an algorithm of PETSc's. All ranks decide alike.
#include "mat/face/context.hpp"
#include "mat/face/parallel_products.hpp"
#include "mat/face/pieces.hpp"
#include "mat/face/sparse_products.hpp"

namespace sparsegpu::face
{

namespace
{
/// The option by which the user names an algorithm of PETSc's; null where it has one alone.
const char *AlgorithmOption(const Mat_Product *product)
{
  const char *const general = "-mat_product_algorithm";

  switch (product->type) {
  case MATPRODUCT_AB:
  case MATPRODUCT_ABt: return product->api_user ? "-matmatmult_via" : general;
  case MATPRODUCT_AtB: return product->api_user ? "-mattransposematmult_via" : general;
  case MATPRODUCT_PtAP: return product->api_user ? "-matptap_via" : general;
  case MATPRODUCT_ABC: return product->api_user ? "-matmatmatmult_via" : general;
  default: return nullptr;
  }
}

std::vector<Mat> OperandsOf(const Mat_Product *product)
{
  if (product->type == MATPRODUCT_ABC) return {product->A, product->B, product->C};
  return {product->A, product->B};
}

/// Do the operands lie alike where they meet? PETSc's own products refuse others.
bool LieAlike(const Mat_Product *product)
{
  const Mat  A = product->A, B = product->B;
  const auto alike = [](PetscLayout a, PetscLayout b) { return a->rstart == b->rstart && a->rend == b->rend; };

  switch (product->type) {
  case MATPRODUCT_AtB: return alike(A->rmap, B->rmap);
  case MATPRODUCT_ABt: return alike(A->cmap, B->cmap);
  case MATPRODUCT_PtAP: return alike(A->cmap, B->rmap) && alike(A->rmap, A->cmap);
  case MATPRODUCT_RARt: return alike(A->cmap, B->cmap) && alike(A->rmap, A->cmap);
  case MATPRODUCT_ABC: return alike(A->cmap, B->rmap) && alike(B->cmap, product->C->rmap);
  default: return alike(A->cmap, B->rmap);
  }
}

/// "default" and "backend", which on PETSc's GPU types is what ours is here, ask for nothing else.
PetscErrorCode NamesAlgorithm(Mat D, bool *names)
{
  char      algorithm[64] = "";
  PetscBool set;

  PetscFunctionBegin;
  *names                   = false;
  const char *const option = AlgorithmOption(D->product);
  if (option)
    PetscCall(PetscOptionsGetString(((PetscObject)D)->options, ((PetscObject)D)->prefix, option, algorithm,
                                    sizeof(algorithm), &set));
  for (const char *name : {static_cast<const char *>(D->product->alg), static_cast<const char *>(algorithm)}) {
    PetscBool ours, backend;
    if (!name || !*name) continue;
    PetscCall(PetscStrcmp(name, "default", &ours));
    PetscCall(PetscStrcmp(name, "backend", &backend));
    *names = *names || (!ours && !backend);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is D's product to be ours, as far as this rank knows?
PetscErrorCode Lives(Mat D, bool *lives)
{
  const Mat_Product *product = D->product;
  Context           *context;
  PetscBool          seq, mpi;
  Space              first = Space::Host;

  PetscFunctionBegin;
  *lives = false;
  if (AtHomeScope::Any()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(IsOurs(D, &seq, &mpi));
  if (mpi) {
    PetscCall(GetContext(D, &context));
    if (context->product_elsewhere) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!LieAlike(product)) PetscFunctionReturn(PETSC_SUCCESS);
  for (Mat M : OperandsOf(product)) {
    PetscBool found = PETSC_TRUE;
    Space     space;
    bool      there;
    PetscCall(GetContext(M, &context));
    PetscCall(Decide(M, context));
    PetscCall(LivesThere(context, &there));
    PetscCall(PlannedSpace(context, &space));
    if (space == Space::Device) PetscCall(DeviceFound(&found));
#if !defined(PETSC_HAVE_CUDA)
    if (space == Space::Device) found = PETSC_FALSE; // vectors and ghosts are on the host
#endif
    if (M == product->A) first = space;
    if (!there || !found || space != first || context->settings.release_csr) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *lives = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode MatProductSetFromOptions_SparseGPU_Parallel(Mat D, bool *set)
{
  const Mat_Product *product = D->product;
  PetscBool          seq, mpi, host;
  bool               lives = false, names = false;

  PetscFunctionBegin;
  *set = false;
  if (product->type == MATPRODUCT_UNSPECIFIED || EndsTripleProduct(product)) PetscFunctionReturn(PETSC_SUCCESS);
  for (Mat M : OperandsOf(product)) {
    PetscCall(IsOurs(M, &seq, &mpi));
    if (!mpi || !M->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Lives(D, &lives));
  PetscCall(AllAgree(PetscObjectComm((PetscObject)D), lives, &lives));
  if (!lives) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AskedForHost(D, &host));
  PetscCall(NamesAlgorithm(D, &names));
  if (host || names) PetscFunctionReturn(PETSC_SUCCESS);
  D->ops->productsymbolic = MatProductSymbolic_SparseGPU_Parallel;
  *set                    = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
