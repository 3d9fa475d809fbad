/// What a matrix takes of the device's memory.
#pragma once

#include "mat/face/context.hpp"

namespace sparsegpu::face
{

/// In bytes; arrays that a format and the rows share count as the rows'.
struct BytesThere {
  PetscLogDouble    formats = 0, coordinates = 0;
  Rows::DeviceBytes rows = {};
  PetscLogDouble    all() const { return formats + coordinates + rows.pattern + rows.values; }
};

BytesThere BytesOnDevice(const Context &context);
/// The same in words; empty if there are none.
std::string TellBytesOnDevice(const Context &context, PetscLogDouble nonzeros);

} // namespace sparsegpu::face
