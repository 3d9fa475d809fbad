static const char help[] = "Vectors' local arrays, borrowed in either space: where they lie, and what is copied.\n\n";

#include <petsc/private/petscimpl.h>
#include "../testing.hpp"
#include "device/local_array.hpp"

#include <cstring>
#include <utility>

using namespace sparsegpu;

namespace
{
constexpr PetscInt ROWS = 1000;

/// Entry r of the vectors here.
PetscScalar Entry(PetscInt r, PetscReal factor = 1)
{
  return factor * (1 + r);
}
Scalar ScalarOf(PetscScalar v)
{
  Scalar s;
  memcpy(&s, &v, sizeof(s));
  return s;
}

bool Is(const Scalar &s, PetscScalar v)
{
  return !memcmp(&s, &v, sizeof(s));
}

PetscErrorCode CreateVector(VecType type, Vec *v)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, ROWS, ROWS));
  PetscCall(VecSetType(*v, type));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt r = 0; r < ROWS; r++) a[r] = Entry(r);
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckEntries(const char what[], Vec v, PetscReal factor)
{
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt r = 0; r < ROWS; r++)
    PetscCheck(a[r] == Entry(r, factor), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %" PetscInt_FMT " is %g, not %g",
               what, r, (double)PetscRealPart(a[r]), (double)PetscRealPart(Entry(r, factor)));
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The object state says whether a vector is known to have changed.
PetscErrorCode CheckState(const char what[], Vec v, PetscObjectState before, bool changes)
{
  PetscObjectState after;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectStateGet((PetscObject)v, &after));
  PetscCheck((after != before) == changes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the vector is %sknown to have changed",
             what, changes ? "not " : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a copy between host and device has been logged since the last call.
bool Copied()
{
  static PetscLogDouble before = 0;
  PetscLogDouble        now    = 0;
#if defined(PETSC_HAVE_DEVICE)
  now = petsc_ctog_ct + petsc_gtoc_ct;
#endif
  return now != std::exchange(before, now);
}

/// Every access in every space, of a host vector: its own array, nothing is copied.
PetscErrorCode Host()
{
  Vec              v;
  PetscScalar     *own;
  PetscObjectState state;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(VECSEQ, &v));
  PetscCall(VecGetArray(v, &own));
  const void *const where = own;
  PetscCall(VecRestoreArray(v, &own));
  (void)Copied();
  PetscReal factor = 1;
  for (Space space : {Space::Host, Space::Device})
    for (Access access : {Access::Read, Access::Write, Access::ReadWrite}) {
      const char *const what = access == Access::Read ? "read" : access == Access::Write ? "write" : "read and write";
      LocalArray        array;
      PetscCall(PetscObjectStateGet((PetscObject)v, &state));
      PetscCall(array.Get(v, space, access));
      PetscCheck(array.borrowed() && !array.on_device() && array.read() == where, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: not the vector's own array", what);
      if (access != Access::Read) {
        factor *= 2;
        for (PetscInt r = 0; r < ROWS; r++) array.write()[r] = ScalarOf(Entry(r, factor));
      }
      PetscCall(array.Restore());
      PetscCheck(!array.borrowed(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: still borrowed", what);
      PetscCall(CheckState(what, v, state, access != Access::Read));
      PetscCall(CheckEntries(what, v, factor));
    }
  PetscCheck(!Copied(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A host vector was copied");
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One vector is borrowed by two readers at a time, and by one object after another.
PetscErrorCode Nested()
{
  Vec        v, w;
  LocalArray first, second;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(VECSEQ, &v));
  PetscCall(VecDuplicate(v, &w));
  for (Space space : {Space::Host, Space::Device}) {
    PetscCall(first.Get(v, space, Access::Read));
    PetscCall(second.Get(v, space, Access::Read));
    PetscCheck(first.read() == second.read(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Two arrays of one vector");
    PetscCall(first.Restore());
    PetscCheck(Is(second.read()[ROWS - 1], Entry(ROWS - 1)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "The second reader lost the array with the first");
    PetscCall(first.Get(w, space, Access::Write)); // another vector, while the first one is borrowed
    for (PetscInt r = 0; r < ROWS; r++) first.write()[r] = second.read()[r];
    PetscCall(first.Restore());
    PetscCall(second.Restore());
    PetscCall(second.Restore()); // no harm: nothing is borrowed
    PetscCall(CheckEntries("copied", w, 1));
    PetscCall(VecSet(w, 0));
  }
  PetscCall(first.Get(v, Space::Host, Access::Read));
  PetscCall(PetscPushErrorHandler(PetscIgnoreErrorHandler, nullptr));
  const PetscErrorCode code = first.Get(w, Space::Host, Access::Read);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(code == PETSC_ERR_ORDER, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Borrowed two arrays at a time: error %d",
             (int)code);
  PetscCall(first.Restore());
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A function that fails while it has an array: the vector gets it back.
PetscErrorCode Fail(Vec v)
{
  LocalArray array;

  PetscFunctionBeginUser;
  PetscCall(array.Get(v, Space::Host, Access::ReadWrite));
  PetscCheck(array.read() == nullptr, PETSC_COMM_SELF, PETSC_ERR_USER, "On purpose");
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode AfterError()
{
  Vec              v;
  PetscObjectState state;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(VECSEQ, &v));
  PetscCall(PetscObjectStateGet((PetscObject)v, &state));
  PetscCall(PetscPushErrorHandler(PetscIgnoreErrorHandler, nullptr));
  const PetscErrorCode code = Fail(v);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(code == PETSC_ERR_USER, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Error %d", (int)code);
  PetscCall(CheckState("after an error", v, state, true));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_CUDA)
/// Reading and writing a device vector on the device copies nothing; on the host, what is newer is copied when it is
/// read, not when it is written.
PetscErrorCode OnDeviceVector()
{
  struct {
    const char *what;
    Space       space;
    Access      access;
    bool        copies;
  } const steps[] = {
      // the entries have been set on the host
      {"write there", Space::Device, Access::Write, false},
      {"read there", Space::Device, Access::Read, false},
      {"read and write there", Space::Device, Access::ReadWrite, false},
      {"write here", Space::Host, Access::Write, false},
      {"read there what is here", Space::Device, Access::Read, true},
      {"read here what is in both", Space::Host, Access::Read, false},
      {"read and write there", Space::Device, Access::ReadWrite, false},
      {"read here what is there", Space::Host, Access::Read, true},
  };
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(VECSEQCUDA, &v));
  (void)Copied();
  for (const auto &step : steps) {
    LocalArray array;
    PetscCall(array.Get(v, step.space, step.access));
    PetscCheck(array.on_device() == (step.space == Space::Device), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: the array is on the %s", step.what, array.on_device() ? "device" : "host");
    PetscCall(array.Restore());
    PetscCheck(Copied() == step.copies, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the entries were %scopied", step.what,
               step.copies ? "not " : "");
  }
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode Device()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(DeviceFound(&device));
#if defined(PETSC_HAVE_CUDA)
  if (device) {
    PetscCall(OnDeviceVector());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(testing::Skip("there is no GPU, or PETSc has no CUDA"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A host vector's copy on the device: uploaded if it is read, copied back if it is written.
PetscErrorCode CheckStaged(Access access)
{
  const char *const   what = access == Access::Read ? "read" : access == Access::Write ? "write" : "read and write";
  Vec                 v;
  LocalArray          array;
  DeviceMemory        scratch;
  Stream              stream;
  std::vector<Scalar> entries(ROWS);

  PetscFunctionBeginUser;
  PetscCall(CreateVector(VECSEQ, &v));
  PetscCall(DeviceStream(&stream));
  (void)Copied();
  PetscCall(array.Get(v, Space::Device, access));
  PetscCall(array.Stage(&scratch, stream));
  PetscCheck(array.read() == scratch.data() && !array.on_device(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: not the copy in scratch memory", what);
#if defined(PETSC_HAVE_DEVICE)
  PetscCheck(Copied() == (access != Access::Write), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the entries were %suploaded",
             what, access == Access::Write ? "" : "not ");
#endif
  if (access != Access::Write) {
    PetscCall(DeviceCopyOut(entries.data(), array.read(), ROWS * sizeof(Scalar), stream));
    for (PetscInt r = 0; r < ROWS; r++)
      PetscCheck(Is(entries[r], Entry(r)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: entry %" PetscInt_FMT " was not uploaded", what, r);
  }
  for (PetscInt r = 0; r < ROWS; r++) entries[r] = ScalarOf(Entry(r, 2));
  if (access != Access::Read) PetscCall(DeviceCopyIn(array.write(), entries.data(), ROWS * sizeof(Scalar), stream));
  PetscCall(array.Restore());
  PetscCall(CheckEntries(what, v, access == Access::Read ? 1 : 2));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode Staged()
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(DeviceFound(&device));
  if (!device) {
    PetscCall(testing::Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (Access access : {Access::Read, Access::Write, Access::ReadWrite}) PetscCall(CheckStaged(access));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return testing::Main(
      argc, argv, help,
      {{"host", Host}, {"nested", Nested}, {"after_error", AfterError}, {"device", Device}, {"staged", Staged}});
}
