/// A product that sends entries of its factor to other GPUs: an epilogue of the formats' kernels around another one.
#pragma once

#include "comm/exchange.cuh"
#include "device/load.cuh"

namespace sparsegpu::formats
{

/// The first blocks of the grid begin the exchange before they turn to their rows.
template <class Epilogue> struct Sending : Epilogue {
  using Rows = Epilogue;

  comm::DeviceExchange exchange;
  const Scalar        *x;

  __device__ __forceinline__ bool Skip()
  {
    comm::begin_exchange<1>(exchange, x, gridDim.x);
    return Epilogue::Skip();
  }
  /// By so many blocks at most, which have no rows.
  __device__ __forceinline__ void Send(unsigned most) const
  {
    constexpr int AHEAD = 8;
    comm::begin_exchange<AHEAD>(exchange, x, most);
  }
  /// Whether what other ranks send has come: to all threads of a block, which must all call.
  __device__ __forceinline__ bool Await() const { return comm::await_entries(exchange); }
  /// Entry n of that, and how many there are.
  __device__ __forceinline__ Scalar   Received(PetscInt n) const { return load_shared(comm::entries_of(exchange) + n); }
  __device__ __forceinline__ PetscInt Receives() const { return static_cast<PetscInt>(exchange.side.receives); }
  /// What stands for sums with entries that have not come.
  static __device__ __forceinline__ Scalar Lost() { return comm::no_number(); }
};
template <class Epilogue> constexpr bool SENDS                    = false;
template <class Epilogue> constexpr bool SENDS<Sending<Epilogue>> = true;

/// launch(epilogue that sends entries of x), which multiplies `rows` rows with x, and begins the exchange.
template <class Epilogue, class Launch> PetscErrorCode SendWith(PetscInt rows, const comm::DeviceExchange &exchange,
                                                                const Scalar *x, const Epilogue &epilogue,
                                                                Stream stream, Launch launch)
{
  PetscFunctionBegin;
  if (rows == 0)
    PetscCall(comm::BeginExchange_CUDA(exchange, x, stream));
  else
    PetscCall(launch(Sending<Epilogue>{epilogue, exchange, x}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/// The same, or without an exchange launch(epilogue).
template <class Epilogue, class Launch> PetscErrorCode SendAlong(PetscInt rows, const comm::DeviceExchange *exchange,
                                                                 const Scalar *x, const Epilogue &epilogue,
                                                                 Stream stream, Launch launch)
{
  PetscFunctionBegin;
  PetscCall(exchange ? SendWith(rows, *exchange, x, epilogue, stream, launch) : launch(epilogue));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace sparsegpu::formats
