/// The frame of every test program: named sub-tests selected by -test NAME, skipping, expected errors, kinds of vector.
#pragma once

#include <petscksp.h>
#include <sparsegpu.h>

#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

namespace testing
{

/// The local entries of a vector.
inline PetscErrorCode LocalEntries(Vec v, std::vector<PetscScalar> *entries)
{
  const PetscScalar *from;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &from));
  entries->assign(from, from + n);
  PetscCall(VecRestoreArrayRead(v, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr int SKIPPED = 25; ///< the exit status that ctest takes for "skipped"; 77 is PETSC_ERR_PLIB, a failure

struct Test {
  const char *name;
  PetscErrorCode (*run)();
};

inline std::string &SkipReason() ///< why the sub-test now running could not run; empty if it did
{
  static std::string reason;
  return reason;
}
inline PetscErrorCode Skip(const std::string &reason)
{
  SkipReason() = reason;
  return PETSC_SUCCESS;
}

/// Runs the sub-tests that -test names, separated by commas, else all. *status: SKIPPED if nothing could run, else 0.
inline PetscErrorCode RunTests(const std::vector<Test> &tests, int *status)
{
  char     *names[64];
  PetscInt  count = (PetscInt)std::size(names);
  PetscBool some  = PETSC_FALSE;
  size_t    found = 0, skipped = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-test", names, &count, &some));
  std::set<std::string> wanted(names, names + (some ? count : 0));
  for (PetscInt k = 0; some && k < count; ++k) PetscCall(PetscFree(names[k]));
  for (const Test &test : tests) {
    if (some && !wanted.erase(test.name)) continue;
    ++found;
    SkipReason().clear();
    PetscCall(test.run());
    if (!SkipReason().empty()) ++skipped;
    PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", test.name, SkipReason().empty() ? "passed" : SkipReason().c_str()));
  }
  PetscCheck(wanted.empty() && found > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "There is no sub-test %s",
             wanted.empty() ? "" : wanted.begin()->c_str());
  *status = skipped == found ? SKIPPED : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline int Main(int argc, char **argv, const char help[], const std::vector<Test> &tests)
{
  int status = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
  PetscCall(RunTests(tests, &status));
  PetscCall(PetscFinalize());
  return status;
}

inline PetscErrorCode CollectMessage(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType,
                                     const char *message, void *text)
{
  if (message) *static_cast<std::string *>(text) += std::string(message) + "\n";
  return code;
}
/// Runs `call`, which must return an error, the given one if any; *message gets its text.
template <class Call> PetscErrorCode ExpectError(const std::string &what, Call call, std::string *message,
                                                 PetscErrorCode expected = PETSC_SUCCESS)
{
  PetscFunctionBeginUser;
  message->clear();
  PetscCall(PetscPushErrorHandler(CollectMessage, message));
  const PetscErrorCode code = call();
  PetscCall(PetscPopErrorHandler());
  PetscCheck(code != PETSC_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no error", what.c_str());
  PetscCheck(expected == PETSC_SUCCESS || code == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: error %d, not %d\n%s",
             what.c_str(), (int)code, (int)expected, message->c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `text` must hold every one of `facts`.
inline PetscErrorCode CheckText(const std::string &what, const std::string &text, const std::vector<std::string> &facts)
{
  PetscFunctionBeginUser;
  for (const std::string &fact : facts)
    PetscCheck(text.find(fact) != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no \"%s\" in\n%s",
               what.c_str(), fact.c_str(), text.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every format of the library, "auto" excepted.
inline PetscErrorCode Formats(std::vector<std::string> *formats)
{
  PetscInt           n;
  const char *const *names;

  PetscFunctionBeginUser;
  PetscCall(MatSparseGPUGetFormats(&n, &names));
  formats->assign(names, names + n);
  for (size_t i = formats->size(); i-- > 0;)
    if ((*formats)[i] == "auto") formats->erase(formats->begin() + (std::ptrdiff_t)i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The backends that can run here: kokkos always.
inline PetscErrorCode Backends(std::vector<std::string> *backends)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  backends->assign(1, "kokkos");
  if (device) backends->push_back("cuda");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The vector types that can be used here: standard always.
inline PetscErrorCode VectorTypes(std::vector<std::string> *types)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  types->assign(1, VECSTANDARD);
#if defined(PETSC_HAVE_CUDA)
  if (device) types->push_back(VECCUDA);
#endif
#if defined(PETSC_HAVE_KOKKOS_KERNELS)
  types->push_back(VECKOKKOS);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sets an option for as long as this lives. Create and destroy it while PETSc is up.
class Option
{
public:
  Option(std::string name, const std::string &value) : name_(std::move(name))
  {
    PetscCallAbort(PETSC_COMM_SELF, PetscOptionsSetValue(nullptr, name_.c_str(), value.c_str()));
  }
  Option(const Option &)            = delete;
  Option &operator=(const Option &) = delete;
  ~Option() { PetscCallAbort(PETSC_COMM_SELF, PetscOptionsClearValue(nullptr, name_.c_str())); }

private:
  std::string name_;
};

/// Options for as long as this lives: "-a 1 -b" and so on.
class Options
{
public:
  explicit Options(const std::string &text)
  {
    size_t at = text.find('-');
    while (at < text.size()) {
      size_t end = text.find(" -", at);
      if (end == std::string::npos) end = text.size();
      const std::string one   = text.substr(at, end - at);
      const size_t      space = one.find(' ');
      names_.push_back(one.substr(0, space));
      PetscCallAbort(PETSC_COMM_SELF,
                     PetscOptionsSetValue(nullptr, names_.back().c_str(),
                                          space == std::string::npos ? nullptr : one.substr(space + 1).c_str()));
      at = end + 1;
    }
  }
  Options(const Options &)            = delete;
  Options &operator=(const Options &) = delete;
  ~Options()
  {
    for (const std::string &name : names_)
      PetscCallAbort(PETSC_COMM_SELF, PetscOptionsClearValue(nullptr, name.c_str()));
  }

private:
  std::vector<std::string> names_;
};

/// The calls of an event of ours in all stages so far; needs PetscLogDefaultBegin().
inline PetscErrorCode EventCount(const char name[], PetscInt *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCheck(event >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No log event %s", name);
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info)); // stage 0, the main one: the tests push no other
  *count = (PetscInt)info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace testing
