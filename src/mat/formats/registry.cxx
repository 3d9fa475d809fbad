/// The one place where formats.def is expanded.
#include "mat/formats/registry.hpp"

namespace sparsegpu::formats
{

#define FORMAT(name) FormatEntry RegisterFormat_##name();
#include "mat/formats/formats.def"
#undef FORMAT

static FormatEntry Named(const char *name, FormatEntry entry)
{
  entry.name = name;
  return entry;
}

const std::vector<FormatEntry> &Formats()
{
  static const std::vector<FormatEntry> formats = {
#define FORMAT(name) Named(#name, RegisterFormat_##name()),
#include "mat/formats/formats.def"
#undef FORMAT
  };
  return formats;
}

const std::vector<const char *> &FormatNames()
{
  static const std::vector<const char *> names = [] {
    std::vector<const char *> all;
    for (const FormatEntry &format : Formats()) all.push_back(format.name);
    return all;
  }();
  return names;
}

const char *Baseline()
{
  return Formats().front().name;
}

/// Null for an unknown name.
static const FormatEntry *EntryNamed(const std::string &name)
{
  for (const FormatEntry &format : Formats())
    if (name == format.name) return &format;
  return nullptr;
}

bool StoresOffDiagonal(const std::string &name)
{
  const FormatEntry *const entry = EntryNamed(name);
  return !entry || entry->off_diagonal;
}

std::unique_ptr<Format> MakeFormat(const std::string &name)
{
  const FormatEntry *const entry = EntryNamed(name);
  return entry ? entry->make() : nullptr;
}

} // namespace sparsegpu::formats
