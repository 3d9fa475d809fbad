/// Operations after which the matrix is another object, has another's data, or another type: copies, conversions,
/// exchanged headers; and where and how its products run.
#include "model.hpp"

#include <petsc/private/petscimpl.h> // the object states

namespace sequences
{

namespace
{
bool Always(const Side &, const Facts &)
{
  return true;
}

/// What was SECOND becomes MAIN, what was MAIN is SECOND.
void Exchange(Side &s, Slot with)
{
  std::swap(s.slot[MAIN], s.slot[with]);
  std::swap(s.coo_arrays[MAIN], s.coo_arrays[with]);
  s.version++;
  s.stored = -2;
}

PetscErrorCode Duplicate(Side &s, const Facts &, Draw d, std::string *words)
{
  static const char *const names[] = {"MAT_DO_NOT_COPY_VALUES", "MAT_COPY_VALUES", "MAT_SHARE_NONZERO_PATTERN"};
  const PetscInt           option  = d.Below(3);
  const bool               go_on   = d.OneIn(3) && option != MAT_SHARE_NONZERO_PATTERN;
  Mat                      B;

  PetscFunctionBeginUser;
  *words = std::string("MatDuplicate, ") + names[option] + (go_on ? ", going on with the duplicate" : "");
  PetscCall(MatDuplicate(s.slot[MAIN], (MatDuplicateOption)option, &B));
  PetscCall(Replace(s, SECOND, B));
  s.shared = option == MAT_SHARE_NONZERO_PATTERN;
#if !PETSC_VERSION_LT(3, 20, 0) // a duplicate takes values by coordinates from 3.20 on
  const bool coo = s.coo == s.version;
#else
  const bool coo = false;
#endif
  if (go_on) Exchange(s, SECOND);
  if (go_on && coo) s.coo = s.version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// There and back. The type of the way there is MAIN's afterwards where the way back is in place.
PetscErrorCode Convert(Side &s, const Facts &f, Draw d, std::string *words)
{
  const bool        baij     = d.OneIn(2) && (!f.blocked || f.size == 1); // else PETSC_ERR_ARG_OUTOFRANGE of one rank
  const char *const there    = d.OneIn(2) ? MATAIJ : baij ? MATBAIJ : MATDENSE;
  const bool        in_place = d.OneIn(2), back_in_place = d.OneIn(2);
  Mat               B;

  PetscFunctionBeginUser;
  *words = std::string("MatConvert to ") + there + (in_place ? " in place" : "") + " and back" +
           (back_in_place ? " in place" : "");
  if (in_place)
    PetscCall(MatConvert(s.slot[MAIN], there, MAT_INPLACE_MATRIX, &s.slot[MAIN]));
  else {
    PetscCall(MatConvert(s.slot[MAIN], there, MAT_INITIAL_MATRIX, &B));
    PetscCall(Replace(s, MAIN, B));
  }
  if (back_in_place)
    PetscCall(MatConvert(s.slot[MAIN], s.type.c_str(), MAT_INPLACE_MATRIX, &s.slot[MAIN]));
  else {
    PetscCall(MatConvert(s.slot[MAIN], s.type.c_str(), MAT_INITIAL_MATRIX, &B));
    PetscCall(Replace(s, SECOND, s.slot[MAIN]));
    s.coo_arrays[SECOND] = s.coo_arrays[MAIN];
    s.slot[MAIN]         = B;
    s.stored             = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConvertReuse(Side &s, const Facts &, Draw d, std::string *words)
{
  const char *const there = d.OneIn(3) ? MATDENSE : MATAIJ;
  Mat               B;

  PetscFunctionBeginUser;
  *words = std::string("MatConvert to ") + there + ", MatScale by 2, MatConvert with MAT_REUSE_MATRIX";
  PetscCall(MatConvert(s.slot[MAIN], there, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatScale(s.slot[MAIN], 2));
  PetscCall(MatConvert(s.slot[MAIN], there, MAT_REUSE_MATRIX, &B));
  PetscCall(Replace(s, SECOND, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On one process between the sequential and the parallel type. PETSc's own derived types give the type asked for.
PetscErrorCode ConvertNames(Side &s, const Facts &, Draw d, std::string *words)
{
  const bool in_place = d.OneIn(2);
  PetscBool  ours, same;
  Mat        B = nullptr;

  PetscFunctionBeginUser;
  *words = std::string("MatConvert between the sequential and the parallel type") + (in_place ? " in place" : "");
  // PETSc has no way to ask for this option, so that the matrix made does not have it: nor is the plain one to.
  PetscCall(MatSetOption(s.slot[MAIN], MAT_IGNORE_ZERO_ENTRIES, PETSC_FALSE));
  if (!s.ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(IsOurs(s.slot[MAIN], &ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  for (const char *type : {MATMPIAIJSPARSEGPU, MATSEQAIJSPARSEGPU}) {
    if (in_place)
      PetscCall(MatConvert(s.slot[MAIN], type, MAT_INPLACE_MATRIX, &s.slot[MAIN]));
    else {
      PetscCall(MatConvert(s.slot[MAIN], type, MAT_INITIAL_MATRIX, &B));
      PetscCall(Replace(s, MAIN, B));
    }
    PetscCall(PetscObjectTypeCompare((PetscObject)s.slot[MAIN], type, &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatConvert to %s gives %s", type,
               ((PetscObject)s.slot[MAIN])->type_name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Transpose(Side &s, const Facts &, Draw d, std::string *words)
{
  Mat B;

  PetscFunctionBeginUser;
  if (d.OneIn(2)) {
    *words = "MatTranspose in place";
    PetscCall(MatTranspose(s.slot[MAIN], MAT_INPLACE_MATRIX, &s.slot[MAIN]));
  } else {
    *words = "MatTranspose, MAT_INITIAL_MATRIX";
    PetscCall(MatTranspose(s.slot[MAIN], MAT_INITIAL_MATRIX, &B));
    PetscCall(Replace(s, TRANSPOSED, B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TransposeReuse(Side &s, const Facts &, Draw, std::string *words)
{
  PetscFunctionBeginUser;
  *words = "MatTranspose, MAT_REUSE_MATRIX";
  PetscCall(MatTranspose(s.slot[MAIN], MAT_REUSE_MATRIX, &s.slot[TRANSPOSED]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Another matrix of the same layout with products of its own gives MAIN its data. Its object state is set near MAIN's,
/// so that what was derived from it carries the state that MAIN has afterwards. MatHeaderMerge() is private to PETSc:
/// transposes in place and sums of different patterns reach it.
PetscErrorCode Header(Side &s, const Facts &f, Draw d, std::string *words)
{
  const bool       scaled = d.OneIn(2), same = d.OneIn(2);
  const PetscInt   ahead = d.Below(4) - 1, products = d.OneIn(4) ? 0 : d.OneIn(3) ? 40 : 1;
  PetscObjectState state;
  Problem          p = f.p;
  Mat              C;

  PetscFunctionBeginUser;
  *words = std::string("MatHeaderReplace") + (same ? " by other values in the same pattern" : " by another pattern");
  *words += ", object state ahead by " + std::to_string(ahead) + ", products " + std::to_string(products);
  if (scaled) *words += ", scaled";
  if (same)
    for (Entry &e : p.entries) e.v = d.Value();
  else
    p = DrawProblem(d, f.p.rows, f.p.cols, f.block);
  PetscCall(Create(s.type.c_str(), f.LocalRows(), f.LocalCols(), f.block, p, &C));
  PetscCall(PetscObjectStateGet((PetscObject)s.slot[MAIN], &state));
  PetscCall(PetscObjectStateSet((PetscObject)C, state + ahead));
  if (products) PetscCall(Multiply(C, products));
  if (scaled) PetscCall(MatScale(C, -2));
  PetscCall(MatHeaderReplace(s.slot[MAIN], &C));
  s.stored           = -1;
  s.coo_arrays[MAIN] = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bind(Side &s, const Facts &, Draw d, std::string *words)
{
  const PetscBool on = d.OneIn(2) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  *words = on ? "MatBindToCPU true" : "MatBindToCPU false";
  PetscCall(MatBindToCPU(s.slot[MAIN], on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Formats that refuse some matrices are left out: asked for by name they would be an error, as they should.
PetscErrorCode Format(Side &s, const Facts &, Draw d, std::string *words)
{
  static const std::vector<const char *> formats = {"csr", "merge", "coo", "hyb", "sccsr", "vab", "sell", "auto"};
  const char *const                      format  = d.One(formats);
  PetscBool                              ours;

  PetscFunctionBeginUser;
  *words = std::string("MatSparseGPUSetFormat ") + format;
  PetscCall(IsOurs(s.slot[MAIN], &ours));
  if (ours) PetscCall(MatSparseGPUSetFormat(s.slot[MAIN], format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Backend(Side &s, const Facts &, Draw d, std::string *words)
{
  std::vector<std::string> backends;
  PetscBool                ours;

  PetscFunctionBeginUser;
  PetscCall(testing::Backends(&backends));
  backends.push_back("auto");
  const std::string backend = d.One(backends);
  *words                    = "MatSparseGPUSetBackend " + backend;
  PetscCall(IsOurs(s.slot[MAIN], &ours));
  if (ours) PetscCall(MatSparseGPUSetBackend(s.slot[MAIN], backend.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Goes on with the matrix of another slot, made of MAIN's type where it has another.
PetscErrorCode GoOn(Side &s, const Facts &, Draw d, std::string *words)
{
  const int with = 1 + (int)d.Below(PRODUCT);

  PetscFunctionBeginUser;
  if (!s.slot[with] || (with == SECOND && s.shared) || (with == PRODUCT && s.product_error > 0))
    PetscFunctionReturn(PETSC_SUCCESS);
  *words = std::string("go on with ") + Name(with);
  Exchange(s, (Slot)with);
  PetscCall(MatConvert(s.slot[MAIN], s.type.c_str(), MAT_INPLACE_MATRIX, &s.slot[MAIN]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Permute(Side &s, const Facts &f, Draw d, std::string *words)
{
  const auto permutation = [&d](const std::vector<PetscInt> &start, PetscMPIInt rank, IS *is) {
    std::vector<PetscInt> order((size_t)start.back());
    std::iota(order.begin(), order.end(), 0);
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[(size_t)d.Below((PetscInt)k)]);
    PetscFunctionBeginUser;
    PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, start[(size_t)rank + 1] - start[(size_t)rank],
                              order.data() + start[(size_t)rank], PETSC_COPY_VALUES, is));
    PetscCall(ISSetPermutation(*is));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  IS  rows, cols;
  Mat B;

  PetscFunctionBeginUser;
  *words = "MatPermute";
  PetscCall(permutation(f.row_of, f.rank, &rows));
  PetscCall(permutation(f.col_of, f.rank, &cols));
  PetscCall(MatPermute(s.slot[MAIN], rows, cols, &B));
  PetscCall(Replace(s, MAIN, B));
  s.stored           = -1;
  s.coo_arrays[MAIN] = false;
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

const std::vector<Operation> &IdentityOperations()
{
  static const std::vector<Operation> operations = {
      {"duplicate", 4, false, Always, Duplicate},
      {"convert", 3, true, Always, Convert},
      {"convert_reuse", 1, false, Always, ConvertReuse},
      {"convert_names", 1, true, [](const Side &, const Facts &f) { return f.size == 1; }, ConvertNames},
      {"transpose", 2, true, Always, Transpose},
      {"transpose_reuse", 2, false,
       [](const Side &s, const Facts &) { return s.slot[TRANSPOSED] && s.link[TRANSPOSED] == s.version; },
       TransposeReuse},
      {"header", 5, true, Always, Header},
      {"bind", 1, false, Always, Bind},
      {"format", 1, false, Always, Format},
      {"backend", 1, false, Always, Backend},
      {"go_on", 3, true, Always, GoOn},
      {"permute", 1, true, Always, Permute},
  };
  return operations;
}

} // namespace sequences
