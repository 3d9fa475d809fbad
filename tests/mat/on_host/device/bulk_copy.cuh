/// The copy engine on the host: what has been asked for comes at once or as late as it may, when it is awaited; both
/// are tried. What a buffer had before is lost.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include "device/bulk_places.hpp"
#include "device/launch.cuh"

#define SPARSEGPU_DYNAMIC_SHARED(name) unsigned char *const name = on_host::engine.memory

namespace on_host
{

struct Engine {
  static constexpr unsigned BYTES = 1 << 20, BARRIERS = 16,
                            BARRIER = 1u << 31; ///< addresses of barriers from BARRIER on
  struct Copy {
    sparsegpu::Scalar       *to;
    const sparsegpu::Scalar *from;
    std::ptrdiff_t           count;
    bool                     pending;
  };

  alignas(128) unsigned char memory[BYTES];
  const sparsegpu::Scalar *begin, *end; ///< that may be read
  unsigned                 stage_bytes;
  bool                     late;
  const std::uint64_t     *barrier;
  unsigned                 arrived[BARRIERS]; ///< phases that have been asked for
  Copy                     copy[BARRIERS];

  void Deliver(Copy *c)
  {
    using sparsegpu::Scalar;
    if (!c->pending) return;
    c->pending = false;
    unsigned char *stage =
        memory + static_cast<size_t>(reinterpret_cast<unsigned char *>(c->to) - memory) / stage_bytes * stage_bytes;
    const Scalar none = std::numeric_limits<PetscReal>::quiet_NaN();
    std::fill_n(reinterpret_cast<Scalar *>(stage), stage_bytes / sizeof(Scalar), none);
    Expect(reinterpret_cast<unsigned char *>(c->to + c->count) <= stage + stage_bytes,
           "a plane does not fit its buffer");
    std::memcpy(static_cast<void *>(c->to), c->from, static_cast<size_t>(c->count) * sizeof(Scalar));
  }
};
inline Engine engine;

} // namespace on_host

namespace sparsegpu
{

inline void begin_arrivals(std::uint64_t *barriers, int count)
{
  on_host::engine.barrier = barriers;
  std::fill_n(on_host::engine.arrived, count, 0u);
  for (int k = 0; k < count; k++) on_host::engine.copy[k].pending = false;
}
inline void arrive_expecting(std::uint64_t *barrier, unsigned)
{
  ++on_host::engine.arrived[barrier - on_host::engine.barrier];
}
inline unsigned fixed_address(const void *p)
{
  const auto    &e  = on_host::engine;
  const auto    *at = static_cast<const unsigned char *>(p);
  const unsigned in =
      static_cast<unsigned>(at - e.memory); // may be before it, by a multiple that a constant takes back
  return p == e.barrier ? on_host::Engine::BARRIER : in;
}
inline void await_arrival(unsigned barrier, unsigned parity)
{
  auto          &e = on_host::engine;
  const unsigned k = (barrier - on_host::Engine::BARRIER) / static_cast<unsigned>(sizeof(std::uint64_t));
  on_host::Expect(e.arrived[k] > 0 && (e.arrived[k] - 1) % 2 == parity, "a plane is awaited that nobody has asked for");
  e.Deliver(&e.copy[k]);
}
inline Scalar load_at(unsigned address, int constant)
{
  Scalar         v{};
  const unsigned at = address + static_cast<unsigned>(constant);
  on_host::Expect(at <= on_host::Engine::BYTES - sizeof(v), "a read outside of the shared memory");
  if (at <= on_host::Engine::BYTES - sizeof(v))
    std::memcpy(static_cast<void *>(&v), on_host::engine.memory + at, sizeof(v));
  return v;
}
inline unsigned copy_bulk(Scalar *to, const Scalar *from, PetscCount count, std::uint64_t *barrier)
{
  auto      &e = on_host::engine;
  const auto k = barrier - e.barrier;
  on_host::Expect(from >= e.begin && from + count <= e.end, "a copy from outside of x");
  on_host::Expect((reinterpret_cast<std::uintptr_t>(from) - reinterpret_cast<std::uintptr_t>(to)) % BULK == 0,
                  "addresses that are not alike");
  on_host::Expect(from == e.begin || from + count == e.end ||
                      (!entries_behind_bulk(from) && !entries_behind_bulk(from + count)),
                  "a copy that does not end where the engine copies");
  e.copy[k] = {to, from, count, true};
  if (!e.late) e.Deliver(&e.copy[k]);
  return 0;
}

} // namespace sparsegpu
