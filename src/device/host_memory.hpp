/// Large arrays of the host: their pages, how many threads copy them, and how they are cut into chunks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sparsegpu
{

constexpr int MOST_COPY_THREADS = 4; ///< more are no faster: measured

/// Threads for a large copy, 1 to MOST_COPY_THREADS: no more than the processors that this process may run on.
int CopyThreads();

/// Has the whole huge pages inside [p, p + bytes) come as such when they are touched for the first time, which costs a
/// page fault for 2 MB instead of one for 4 KB. Nothing where the memory has been touched already, which is judged by a
/// page in its middle, where it is small, or where the system refuses.
void AdviseHugePages(void *p, size_t bytes);

/// Bytes [at, at + bytes) of an array.
struct Chunk {
  size_t at, bytes;
};

/// Chunks that an array of `bytes` bytes is cut into where addresses are multiples of `size`, a power of two.
inline size_t ChunksOf(const void *array, size_t bytes, size_t size)
{
  const size_t before = reinterpret_cast<std::uintptr_t>(array) & (size - 1);
  return bytes ? (before + bytes + size - 1) / size : 0;
}
/// Chunk k of them; the first and the last one may be shorter.
inline Chunk ChunkOf(const void *array, size_t bytes, size_t size, size_t k)
{
  const size_t before = reinterpret_cast<std::uintptr_t>(array) & (size - 1);
  const size_t begin = k ? k * size - before : 0, end = (k + 1) * size - before;
  return Chunk{begin, (end < bytes ? end : bytes) - begin};
}

} // namespace sparsegpu
