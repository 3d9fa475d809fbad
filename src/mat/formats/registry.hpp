/// The list of formats, from formats.def, and the entry by which each registers.
#pragma once

#include <memory>
#include <string>
#include <vector>
#include "mat/formats/format.hpp"
#include "mat/formats/options.hpp"

namespace sparsegpu::formats
{

struct FormatEntry {
  const char *name = nullptr; ///< as in formats.def
  std::unique_ptr<Format> (*make)();
  std::shared_ptr<Options> (*options)(); ///< the defaults; null: it has none of its own
  bool off_diagonal = true; ///< on a device an off-diagonal block is stored so, too, where it is asked for; else in the
                            ///< baseline
};
/// What RegisterFormat_NAME(), which each format defines, returns.
template <class F> FormatEntry EntryOf()
{
  return FormatEntry{nullptr, []() -> std::unique_ptr<Format> { return std::make_unique<F>(); }, nullptr};
}
template <class F, class Own> FormatEntry EntryOf()
{
  FormatEntry entry = EntryOf<F>();
  entry.options     = []() -> std::shared_ptr<Options> { return std::make_shared<Own>(); };
  return entry;
}

/// In the order of formats.def. The first is the baseline that others are compared with: it takes every matrix, and its
/// conversion is almost free.
const std::vector<FormatEntry>  &Formats();
const std::vector<const char *> &FormatNames();
const char                      *Baseline();
/// z = A^T x + y, or A^H, from the rows of A itself on the host, by one thread: not a format that can be requested, but
/// the substitute until building the transpose pays.
std::unique_ptr<Format> MakeBaselineTransposed(bool hermitian);
/// Its Format::Name().
const char *BaselineTransposed();
/// FormatEntry::off_diagonal; true for an unknown name.
bool StoresOffDiagonal(const std::string &name);
/// Null for an unknown name.
std::unique_ptr<Format> MakeFormat(const std::string &name);

} // namespace sparsegpu::formats
