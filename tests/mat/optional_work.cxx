static const char help[] = "Optional work is skipped for lack of memory; all its other errors are reported.\n\n";

#include "../testing.hpp"

#include <cstdio>
#include <fstream>
#include <new>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

#include "petsc/may_lack_memory.hpp"

using namespace testing;

namespace
{
PetscErrorCode Fail(PetscErrorCode code)
{
  PetscFunctionBeginUser;
  PetscCheck(!code, PETSC_COMM_SELF, code, "Asked for 12345 bytes");
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Exception> PetscErrorCode Throw(const Exception &exception)
{
  PetscFunctionBeginUser;
  PetscCallCXX(throw exception);
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// As the caller of a caller sees it.
template <class Call> PetscErrorCode Nested(Call call)
{
  PetscFunctionBeginUser;
  PetscCall(call());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `call` is passed over by MayLackMemory() where `lacks`, and by TryOnDevice() where `host`; else its own message and
/// code arrive.
template <class Call> PetscErrorCode Check(const std::string &what, Call call, PetscErrorCode code, bool lacks,
                                           bool host, const char message[])
{
  std::string text;

  PetscFunctionBeginUser;
  for (bool on_device : {false, true}) {
    bool       passed_over = false;
    const bool expected    = on_device ? host : lacks;
    const auto run         = [&] {
      const auto nested = [&] { return Nested(call); };
      return on_device ? sparsegpu::TryOnDevice(nested, &passed_over) : sparsegpu::MayLackMemory(nested, &passed_over);
    };
    if (expected || !code) {
      PetscCall(run());
      PetscCheck(passed_over == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: passed over: %d", what.c_str(),
                 passed_over);
      continue;
    }
    PetscCall(ExpectError(what, run, &text, code));
    PetscCall(CheckText(what, text, {message}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Errors()
{
  PetscFunctionBeginUser;
  PetscCall(Check(
      "none", [] { return Fail(PETSC_SUCCESS); }, PETSC_SUCCESS, false, false, ""));
  PetscCall(Check(
      "memory", [] { return Fail(PETSC_ERR_MEM); }, PETSC_ERR_MEM, true, true, "12345"));
  PetscCall(Check(
      "bad_alloc", [] { return Throw(std::bad_alloc()); }, PETSC_ERR_LIB, true, true, ""));
  PetscCall(Check(
      "refused", [] { return Fail(PETSC_ERR_ARG_OUTOFRANGE); }, PETSC_ERR_ARG_OUTOFRANGE, false, true, "12345"));
  PetscCall(Check(
      "GPU", [] { return Fail(PETSC_ERR_GPU); }, PETSC_ERR_GPU, false, false, "12345"));
  PetscCall(Check(
      "ours", [] { return Fail(PETSC_ERR_PLIB); }, PETSC_ERR_PLIB, false, false, "12345"));
  PetscCall(Check(
      "logic_error", [] { return Throw(std::logic_error("wrong")); }, PETSC_ERR_LIB, false, false, "wrong"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// -info says what was lacking.
PetscErrorCode Told()
{
  const std::string name = "optional_work_" + std::to_string(getpid()), file = name + ".0";
  bool              lacks = false;

  PetscFunctionBeginUser;
#if !defined(PETSC_USE_INFO)
  PetscCall(Skip("PETSc has no PetscInfo()"));
  PetscFunctionReturn(PETSC_SUCCESS);
#endif
  PetscCall(PetscInfoSetFile(name.c_str(), "w"));
  PetscCall(PetscInfoAllow(PETSC_TRUE));
  PetscCall(sparsegpu::MayLackMemory([] { return Fail(PETSC_ERR_MEM); }, &lacks));
  PetscCall(PetscInfoAllow(PETSC_FALSE));
  PetscCall(PetscInfoSetFile(nullptr, nullptr)); // standard output
  std::ifstream     stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  (void)std::remove(file.c_str());
  PetscCall(CheckText("-info", text.str(), {"lack of memory", "12345 bytes"}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"errors", Errors}, {"told", Told}});
}
