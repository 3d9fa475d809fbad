/// Where the copy engine of bulk_copy.cuh may begin and end.
#pragma once

#include <cstdint>
#include "device/scalar.hpp"

namespace sparsegpu
{

constexpr unsigned BULK = 16; ///< bytes: addresses and sizes of what the engine copies are multiples

/// Entries between p and the last multiple of BULK bytes before it, and the next one.
SPARSEGPU_HD int entries_behind_bulk(const Scalar *p)
{
  return static_cast<int>(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p)) % BULK / sizeof(Scalar));
}
SPARSEGPU_HD int entries_before_bulk(const Scalar *p)
{
  return static_cast<int>((0u - static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p))) % BULK / sizeof(Scalar));
}

} // namespace sparsegpu
