/// A sum over the converted copies, the rows and the map of coordinates. Scratch memory for host vectors, which lasts
/// for products only, is left out.
#include "mat/face/device_bytes.hpp"
#include <cstdio>

namespace sparsegpu::face
{

BytesThere BytesOnDevice(const Context &context)
{
  const int  device = static_cast<int>(Space::Device);
  BytesThere bytes;

  bytes.rows = context.rows.BytesOnDevice();
  if (const CooMap *const map = context.coo.map.get())
    if (map->space == Space::Device)
      bytes.coordinates =
          static_cast<PetscLogDouble>(map->jmap.bytes()) + static_cast<PetscLogDouble>(map->perm.bytes());
  for (int operation = 0; operation < 3; operation++)
    for (const ConvertedMatrix *copy : {&context.converted[device][operation], &context.early[device][operation]})
      if (copy->format)
        bytes.formats += copy->format->BytesStored() + copy->BytesForUpdates() + copy->format->BytesRounded() -
                         (operation == static_cast<int>(Operation::Normal) ? copy->format->BytesShared() : 0);
  return bytes;
}

std::string TellBytesOnDevice(const Context &context, PetscLogDouble nonzeros)
{
  const BytesThere bytes = BytesOnDevice(context);
  char             text[256];

  if (bytes.all() <= 0) return "";
  std::snprintf(text, sizeof(text),
                "%.0f bytes, %.1f per nonzero (formats %.0f, pattern of the rows %.0f, their values %.0f, coordinates "
                "%.0f)",
                bytes.all(), bytes.all() / PetscMax(nonzeros, 1), bytes.formats, bytes.rows.pattern, bytes.rows.values,
                bytes.coordinates);
  return text;
}

} // namespace sparsegpu::face
