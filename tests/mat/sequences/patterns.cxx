/// Operations that give the matrix another pattern, or the same one again, and those that combine it with another one.
#include "model.hpp"

namespace sequences
{

namespace
{
bool Always(const Side &, const Facts &)
{
  return true;
}

/// A pattern for MAIN: its own, one with as many ghosts at other columns, or any. New values. *words gets its name.
Problem AnotherPattern(const Facts &f, Draw &d, std::string *words)
{
  const PetscInt kind = d.Below(4);
  Problem        p    = f.p;

  if (kind == 0) {
    p = DrawProblem(d, f.p.rows, f.p.cols, f.block);
    *words += ", another pattern (" + p.name + ")";
    return p;
  }
  if (kind == 1)
    *words += ", the same pattern";
  else
    *words += ", as many entries and ghosts at other columns";
  // The columns of other ranks, and a rank's own, are mapped to each other by a rotation: rows and halos keep lengths.
  const PetscInt turn = 1 + d.Below(f.p.cols);
  for (Entry &e : p.entries) {
    e.v = d.Value();
    if (kind == 1) continue;
    const PetscInt owner = f.Owner(e.i), begin = f.col_of[(size_t)owner], end = f.col_of[(size_t)owner + 1];
    const PetscInt own = end - begin, others = f.p.cols - own;
    if (e.j >= begin && e.j < end) {
      if (kind == 3) e.j = begin + (e.j - begin + turn) % own;
    } else {
      const PetscInt k = ((e.j < begin ? e.j : e.j - own) + turn) % others;
      e.j              = k < begin ? k : k + own;
    }
  }
  std::sort(p.entries.begin(), p.entries.end(),
            [](const Entry &a, const Entry &b) { return a.i < b.i || (a.i == b.i && a.j < b.j); });
  return p;
}

PetscErrorCode SetCoo(Side &s, Draw &d, std::string *words)
{
  const bool               add = d.OneIn(3), wanted = OnDevice(d);
  std::vector<PetscScalar> v(s.coo_entries);
  PetscBool                ours;

  PetscFunctionBeginUser;
  PetscCall(IsOurs(s.slot[MAIN], &ours));
  const bool device = wanted && ours; // plain AIJ reads them on the host
  *words +=
      std::string("MatSetValuesCOO, ") + (add ? "ADD_VALUES" : "INSERT_VALUES") + (device ? ", on the device" : "");
  Draw own = d; // entries are the rank's own
  for (PetscScalar &value : v) value = own.Value();
  testing::ScalarArray array(v, device);
  PetscCall(MatSetValuesCOO(s.slot[MAIN], array.Get(), add ? ADD_VALUES : INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Some coordinates twice, some negative, some given by another rank than the owner.
struct Coordinates {
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> v;
  Coordinates(const Facts &f, const Problem &p, Draw &d, std::string *words)
  {
    const bool odd = d.OneIn(2);
    if (odd) *words += ", some twice, negative or of other ranks";
    for (const Entry &e : p.entries) {
      const PetscInt    times = odd && d.OneIn(6) ? 2 : 1, negative = d.Below(20);
      const PetscMPIInt actor = (f.Owner(e.i) + (odd && d.OneIn(8))) % f.size;
      if (actor != f.rank) continue;
      i.insert(i.end(), (size_t)times, e.i);
      j.insert(j.end(), (size_t)times, e.j);
      if (odd && negative < 2) {
        i.push_back(negative ? e.i : -1);
        j.push_back(negative ? -1 : e.j);
      }
    }
    v.resize(i.size(), 1);
  }
};

/// Up to four times at once, with or without products between them: nothing else takes memory then, so that new arrays
/// get the places of old ones.
PetscErrorCode Coo(Side &s, const Facts &f, Draw d, std::string *words)
{
  const PetscInt           times = d.OneIn(2) ? 1 : 2 + d.Below(3);
  const bool               mult  = d.OneIn(2);
  Facts                    now   = f;
  std::vector<Coordinates> all;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < times; ++k) {
    *words += k ? "; then" : "MatSetPreallocationCOO and MatSetValuesCOO";
    now.p = AnotherPattern(now, d, words);
    all.emplace_back(f, now.p, d, words);
  }
  *words += times > 1 && mult ? "; MatMult before each; " : "; ";
  PetscCall(MatSetOption(s.slot[MAIN], MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE));
  for (Coordinates &c : all) {
    if (mult && times > 1) PetscCall(Multiply(s.slot[MAIN], 1));
    PetscCall(MatSetPreallocationCOO(s.slot[MAIN], (PetscCount)c.i.size(), c.i.data(), c.j.data()));
    PetscCall(MatSetValuesCOO(s.slot[MAIN], c.v.data(), INSERT_VALUES));
  }
  s.coo_entries      = all.back().i.size();
  s.coo              = s.version;
  s.coo_arrays[MAIN] = true;
  PetscCall(SetCoo(s, d, words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CooValues(Side &s, const Facts &, Draw d, std::string *words)
{
  PetscFunctionBeginUser;
  words->clear();
  PetscCall(SetCoo(s, d, words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The counts or the rows of a pattern as the preallocation functions take them, of the calling rank.
struct Rows {
  std::vector<PetscInt>    diagonal, off, i, j;
  std::vector<PetscScalar> v;
  Rows(const Problem &p, const Facts &f) : diagonal((size_t)f.LocalRows() + 1), off(diagonal), i(diagonal)
  {
    for (const Entry &e : p.entries)
      if (f.Owns(e.i)) {
        const size_t r = (size_t)(e.i - f.row_of[(size_t)f.rank]);
        ++(e.j >= f.col_of[(size_t)f.rank] && e.j < f.col_of[(size_t)f.rank + 1] ? diagonal : off)[r];
        ++i[r + 1];
        j.push_back(e.j);
        v.push_back(e.v);
      }
    std::partial_sum(i.begin(), i.end(), i.begin());
  }
};

PetscErrorCode Preallocate(Side &s, const Facts &f, Draw d, std::string *words)
{
  PetscInt                 how     = d.Below(f.block == 1 ? 4 : 3);
  static const char *const names[] = {"MatSeqAIJSetPreallocation or MatMPIAIJSetPreallocation",
                                      "MatSeqAIJSetPreallocationCSR or MatMPIAIJSetPreallocationCSR",
                                      "MatResetPreallocation", "MatXAIJSetPreallocation"};
  const Mat                A       = s.slot[MAIN];

  PetscFunctionBeginUser;
  // PETSc overruns arrays that were made otherwise, and refuses parallel ones on some ranks only.
  if (how == 2 && (s.preallocated != s.version - 1 || f.size > 1)) how = 0;
  *words          = names[how];
  const Problem p = AnotherPattern(f, d, words);
  const Rows    r(p, f);
  if (how == 0 || how == 3) s.preallocated = s.version;
  s.coo_arrays[MAIN] = false;
  if (how == 1) {
    PetscCall(MatSeqAIJSetPreallocationCSR(A, r.i.data(), r.j.data(), r.v.data()));
    PetscCall(MatMPIAIJSetPreallocationCSR(A, r.i.data(), r.j.data(), r.v.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (how == 0) {
    PetscCall(MatSeqAIJSetPreallocation(A, 0, r.diagonal.data()));
    PetscCall(MatMPIAIJSetPreallocation(A, 0, r.diagonal.data(), 0, r.off.data()));
  } else if (how == 2)
    PetscCall(MatResetPreallocation(A));
  else
    PetscCall(MatXAIJSetPreallocation(A, 1, r.diagonal.data(), r.off.data(), nullptr, nullptr));
  PetscCall(AllowNewNonzeros(A));
  PetscCall(SetEntries(A, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *const      FLAGS[]      = {"DIFFERENT", "SUBSET", "SAME", "UNKNOWN"};
constexpr MatStructure STRUCTURES[] = {DIFFERENT_NONZERO_PATTERN, SUBSET_NONZERO_PATTERN, SAME_NONZERO_PATTERN,
                                       UNKNOWN_NONZERO_PATTERN};

/// A matrix that `flag` is true of, as the other operand.
PetscErrorCode Operand(Side &s, const Facts &f, Draw &d, PetscInt flag, Mat *X, std::string *words)
{
  const char *const type = OtherType(s, d);
  Problem           p    = f.p;

  PetscFunctionBeginUser;
  if (flag == 0 || flag == 3)
    p = DrawProblem(d, f.p.rows, f.p.cols, f.block);
  else {
    p.entries.clear();
    for (const Entry &e : f.p.entries) {
      const PetscScalar v = d.Value();
      if (flag == 2 || d.OneIn(2)) p.entries.push_back({e.i, e.j, v});
    }
  }
  *words += std::string(", ") + FLAGS[flag] + (strcmp(type, MATAIJ) ? "" : ", the other one aij");
  PetscCall(Create(type, f.LocalRows(), f.LocalCols(), f.block, p, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Axpy(Side &s, const Facts &f, Draw d, std::string *words)
{
  const PetscInt    flag   = d.Below(4);
  const PetscScalar factor = d.Power();
  const bool        into = d.OneIn(5), scaled = d.OneIn(3);
  Mat               X;

  PetscFunctionBeginUser;
  *words = into ? "MatAXPY of the matrix to another one" : scaled ? "MatAYPX" : "MatAXPY";
  PetscCall(Operand(s, f, d, into ? 0 : flag, &X, words));
  if (into) {
    PetscCall(AllowNewNonzeros(X));
    PetscCall(MatAXPY(X, factor, s.slot[MAIN], DIFFERENT_NONZERO_PATTERN));
    PetscCall(Replace(s, SECOND, X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AllowNewNonzeros(s.slot[MAIN]));
  PetscCall(scaled ? MatAYPX(s.slot[MAIN], factor, X, STRUCTURES[flag])
                   : MatAXPY(s.slot[MAIN], factor, X, STRUCTURES[flag]));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Copy(Side &s, const Facts &f, Draw d, std::string *words)
{
  const PetscInt flag = d.OneIn(2) ? 2 : 0;
  const bool     from = d.OneIn(3);
  Mat            X;

  PetscFunctionBeginUser;
  *words = from ? "MatCopy of the matrix to another one" : "MatCopy to the matrix";
  PetscCall(Operand(s, f, d, flag, &X, words));
  PetscCall(AllowNewNonzeros(from ? X : s.slot[MAIN]));
  if (from) {
    PetscCall(MatCopy(s.slot[MAIN], X, STRUCTURES[flag]));
    PetscCall(Replace(s, SECOND, X));
  } else {
    PetscCall(MatCopy(X, s.slot[MAIN], STRUCTURES[flag]));
    PetscCall(MatDestroy(&X));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Destroyed and created at once, so that malloc gives the old addresses: the same sizes, often other columns.
PetscErrorCode Recreate(Side &s, const Facts &f, Draw d, std::string *words)
{
  PetscFunctionBeginUser;
  if (d.OneIn(2)) {
    PetscCall(Start(s, d, words));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *words          = "destroy, create";
  const Problem p = AnotherPattern(f, d, words);
  PetscCall(Replace(s, MAIN, nullptr));
  PetscCall(Create(s.type.c_str(), f.LocalRows(), f.LocalCols(), f.block, p, &s.slot[MAIN]));
  s.stored           = -1;
  s.preallocated     = s.version;
  s.coo_arrays[MAIN] = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

const std::vector<Operation> &PatternOperations()
{
  static const std::vector<Operation> operations = {
      {"coo", 8, true, Always, Coo},
      {"coo_values", 4, false, [](const Side &s, const Facts &) { return s.coo == s.version; }, CooValues},
      {"preallocate", 5, true, Always, Preallocate},
      {"axpy", 6, true, Always, Axpy},
      {"copy", 4, true, CanGrow, Copy},
      {"recreate", 3, true, Always, Recreate},
  };
  return operations;
}

} // namespace sequences
