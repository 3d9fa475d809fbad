static const char help[] =
    "Large copies between the device and pageable memory: chunks, threads, pages, and what arrives.\n\n";

#include "../testing.hpp"
#include "device/buffer.hpp"
#include "device/host_memory.hpp"
#include "device/staging.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#if defined(__linux__)
  #include <sched.h>
  #include <sys/mman.h>
#endif

using namespace testing;
using namespace sparsegpu;

namespace
{
/// The chunks are neighbours, end at multiples of their size, and cover the array.
PetscErrorCode CheckChunks(const char *array, size_t bytes, size_t size)
{
  const size_t chunks = ChunksOf(array, bytes, size);
  size_t       at     = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < chunks; k++) {
    const Chunk chunk = ChunkOf(array, bytes, size, k);
    const auto  end   = reinterpret_cast<std::uintptr_t>(array) + chunk.at + chunk.bytes;
    PetscCheck(chunk.at == at && chunk.bytes > 0 && chunk.bytes <= size && (k + 1 == chunks || end % size == 0),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Chunk %zu of %zu bytes: %zu bytes at %zu, not at %zu", k, bytes,
               chunk.bytes, chunk.at, at);
    at += chunk.bytes;
  }
  PetscCheck(at == bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu chunks have %zu of %zu bytes", chunks, at, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestChunks()
{
  constexpr size_t SIZE = 64;

  PetscFunctionBeginUser;
  for (std::uintptr_t begin : {4096, 4097, 4096 + 63})
    for (size_t bytes = 0; bytes < 4 * SIZE; bytes++)
      PetscCall(CheckChunks(reinterpret_cast<const char *>(begin), bytes, SIZE)); // addresses alone
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(__linux__)
PetscErrorCode TestThreads()
{
  cpu_set_t mine, one;

  PetscFunctionBeginUser;
  if (sched_getaffinity(0, sizeof(mine), &mine)) {
    PetscCall(Skip("skipped: this process cannot ask for its processors"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const int expected = std::min(CPU_COUNT(&mine), MOST_COPY_THREADS);
  PetscCheck(CopyThreads() == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d threads on %d processors", CopyThreads(),
             CPU_COUNT(&mine));
  int first = 0;
  while (!CPU_ISSET(first, &mine)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  PetscCheck(!sched_setaffinity(0, sizeof(one), &one), PETSC_COMM_SELF, PETSC_ERR_SYS, "Processor %d refused", first);
  const int threads = CopyThreads();
  PetscCheck(!sched_setaffinity(0, sizeof(mine), &mine), PETSC_COMM_SELF, PETSC_ERR_SYS, "Processors refused");
  PetscCheck(threads == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d threads on one processor", threads);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Flags of the mapping in which address p lies, of /proc/self/smaps; empty where that is missing.
std::string MappingFlags(const void *p)
{
  std::ifstream smaps("/proc/self/smaps");
  std::string   line;
  bool          here = false;
  while (std::getline(smaps, line)) {
    std::uintptr_t     begin, end;
    char               dash;
    std::istringstream range(line);
    if (range >> std::hex >> begin >> dash >> end && dash == '-')
      here = reinterpret_cast<std::uintptr_t>(p) >= begin && reinterpret_cast<std::uintptr_t>(p) < end;
    else if (here && line.rfind("VmFlags:", 0) == 0)
      return line + " ";
  }
  return "";
}

PetscErrorCode CheckAdvice(const char what[], bool touched, size_t bytes, bool expected)
{
  PetscFunctionBeginUser;
  void *p = mmap(nullptr, 32 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  PetscCheck(p != MAP_FAILED, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory");
  char *const array = static_cast<char *>(p) + 16; // as an allocator would give it
  if (touched) std::fill(array, array + bytes, 'x');
  AdviseHugePages(array, bytes);
  // in a huge page that lies wholly in the array, if there is one
  const bool advised = MappingFlags(array + bytes / 2).find(" hg ") != std::string::npos;
  if (!touched) std::fill(array, array + bytes, 'x');
  PetscCheck(std::count(array, array + bytes, 'x') == static_cast<std::ptrdiff_t>(bytes), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s: the array has changed", what);
  PetscCheck(!munmap(p, 32 << 20), PETSC_COMM_SELF, PETSC_ERR_SYS, "munmap() failed");
  PetscCheck(advised == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: huge pages %s asked for", what,
             advised ? "are" : "are not");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestPages()
{
  std::ifstream enabled("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string   how;

  PetscFunctionBeginUser;
  std::getline(enabled, how);
  if (how.find("[madvise]") == std::string::npos && how.find("[always]") == std::string::npos) {
    PetscCall(Skip("skipped: this system has no transparent huge pages"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CheckAdvice("fresh memory", false, 16 << 20, true));
  PetscCall(CheckAdvice("used memory", true, 16 << 20, false));
  PetscCall(CheckAdvice("less than a huge page", false, 1 << 20, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode TestThreads()
{
  PetscFunctionBeginUser;
  PetscCheck(CopyThreads() == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d threads", CopyThreads());
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode TestPages()
{
  PetscFunctionBeginUser;
  PetscCall(Skip("skipped: no advice outside Linux"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

#if defined(SPARSEGPU_HAVE_CUDA)
/// Byte k of what is copied: no two chunks are the same.
unsigned char Byte(size_t k)
{
  return static_cast<unsigned char>((k * 2654435761u) >> 13);
}

struct Free {
  void operator()(unsigned char *p) const { free(p); }
};
using Bytes = std::unique_ptr<unsigned char, Free>;

/// There and back again through `threads` threads; 0: as DeviceCopyIn() and DeviceCopyOut() do it.
PetscErrorCode RoundTrip(size_t bytes, size_t shift, int threads, bool fresh)
{
  const Bytes    from(static_cast<unsigned char *>(malloc(bytes + shift)));
  const Bytes    to(static_cast<unsigned char *>(malloc(bytes + shift)));
  unsigned char *a = from.get() + shift, *b = to.get() + shift;
  DeviceMemory   there;
  Stream         stream;
  bool           done = true;

  PetscFunctionBeginUser;
  PetscCheck(from && to, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory");
  for (size_t k = 0; k < bytes; k++) a[k] = Byte(k);
  if (!fresh) std::fill(b, b + bytes, static_cast<unsigned char>(0xa5));
  PetscCall(there.Reserve(bytes));
  PetscCall(DeviceStream(&stream));
  if (threads)
    PetscCall(StagedCopyIn(there.data(), a, bytes, threads, stream, &done));
  else
    PetscCall(DeviceCopyIn(there.data(), a, bytes, stream));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No staged copy to the device");
  std::fill(a, a + bytes, static_cast<unsigned char>(0x5a)); // the host side is done with
  if (threads)
    PetscCall(StagedCopyOut(b, there.data(), bytes, threads, stream, &done));
  else
    PetscCall(DeviceCopyOut(b, there.data(), bytes, stream));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No staged copy from the device");
  for (size_t k = 0; k < bytes; k++)
    PetscCheck(b[k] == Byte(k), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%zu bytes at %zu, %d threads, %s memory: byte %zu is %d, not %d", bytes, shift, threads,
               fresh ? "fresh" : "used", k, b[k], Byte(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDevice()
{
  PetscBool device;
  bool      pays;
  void     *pinned;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (!device) {
    PetscCall(Skip("skipped: no device"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const std::vector<char> pageable(2 * STAGED_CHUNK);
  for (size_t asked = pageable.size(); asked <= STAGED_FROM + pageable.size(); asked += pageable.size()) {
    PetscCall(StagingPays(pageable.data(), pageable.size(), &pays));
    PetscCheck(pays == (asked >= STAGED_FROM), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Pageable memory is%s staged after %zu bytes", pays ? "" : " not", asked);
  }
  const std::vector<size_t> sizes = {1,
                                     STAGED_CHUNK - 1,
                                     STAGED_CHUNK,
                                     STAGED_CHUNK + 1,
                                     2 * STAGED_CHUNK,
                                     4 * STAGED_CHUNK + 1,
                                     8 * STAGED_CHUNK - 1,
                                     9 * STAGED_CHUNK,
                                     25 * STAGED_CHUNK + 7};
  for (size_t bytes : sizes)
    for (size_t shift : {0, 16, 4095})
      for (int threads : {0, 1, 3, 4})
        for (bool fresh : {true, false}) PetscCall(RoundTrip(bytes, shift, threads, fresh));
  PetscCall(StagingPays(pageable.data(), pageable.size() - 1, &pays));
  PetscCheck(!pays, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A small copy is staged");
  PetscCall(DeviceAllocatePinned(2 * STAGED_CHUNK, &pinned));
  PetscCall(StagingPays(pinned, 2 * STAGED_CHUNK, &pays));
  PetscCall(DeviceFreePinned(pinned));
  PetscCheck(!pays, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Pinned memory is staged");
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode TestDevice()
{
  PetscFunctionBeginUser;
  PetscCall(Skip("skipped: built without CUDA"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
} // namespace

int main(int argc, char **argv)
{
  return testing::Main(
      argc, argv, help,
      {{"chunks", TestChunks}, {"threads", TestThreads}, {"pages", TestPages}, {"device", TestDevice}});
}
