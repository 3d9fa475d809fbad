/// What crosses the bus, for tests of those who promise that nothing does.
#pragma once

namespace sparsegpu
{

/// Bytes that DeviceCopyIn() and DeviceCopyOut() have copied so far.
struct DeviceCopies {
  double in = 0, out = 0;
};
DeviceCopies CopiesSoFar();

} // namespace sparsegpu
