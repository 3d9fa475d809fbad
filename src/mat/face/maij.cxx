/// Values for PETSc's MAIJ, whose products read the array of the matrix that it is made of, and which asks that matrix
/// for nothing when it is made.
#include <cstring>
#include <set>
#include "mat/face/away.hpp"
#include "mat/face/pattern.hpp"
#include "petsc/compat.hpp"

namespace sparsegpu::face
{

namespace
{
std::set<Away *> &AllAway()
{
  static std::set<Away *> all;
  return all;
}
bool has_maij                       = false;
PetscErrorCode (*maij_creator)(Mat) = nullptr;

/// Copies the values to the host's arrays; they still count as away until they are asked for.
PetscErrorCode CopyAllHome()
{
  PetscFunctionBegin;
  for (Away *away : AllAway()) {
    PetscCall(BringPatternHome(away->matrix));
    if (!away->bytes) continue;
    if (away->rows->values_space() == Space::Host) {
      memcpy(static_cast<void *>(away->host), away->rows->values(), away->bytes);
      continue;
    }
    Stream stream;
    PetscCall(DeviceStream(&stream));
    PetscCall(DeviceCopyOut(away->host, away->rows->values(), away->bytes, stream));
    PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(away->bytes)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateMAIJ(Mat A)
{
  PetscFunctionBegin;
  PetscCall(CopyAllHome());
  has_maij = true;
  PetscCall((*maij_creator)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

Away::Away(Mat m, Rows *r, Scalar *h, size_t b) : matrix(m), rows(r), host(h), bytes(b)
{
  AllAway().insert(this);
}
Away::~Away()
{
  AllAway().erase(this);
}

bool HasMAIJ()
{
  return has_maij;
}

PetscErrorCode BringHomeForMAIJ()
{
  PetscErrorCode (*creator)(Mat) = nullptr;

  PetscFunctionBegin;
  PetscCall(MatInitializePackage());
  PetscCall(PetscFunctionListFind(MatList, MATSEQMAIJ, &creator));
  if (!creator || creator == CreateMAIJ) PetscFunctionReturn(PETSC_SUCCESS);
  maij_creator = creator;
  has_maij     = false;
  PetscCall(MatRegister(MATSEQMAIJ, CreateMAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::face
