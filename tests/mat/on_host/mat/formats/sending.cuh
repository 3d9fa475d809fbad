/// Which epilogues send, for kernels on the host.
#pragma once

namespace sparsegpu::formats
{

template <class Epilogue> constexpr bool SENDS = false;

} // namespace sparsegpu::formats
