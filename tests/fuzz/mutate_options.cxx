/// How libFuzzer changes an input of fuzz_options: by whole options. Bytes changed at random would mostly break names.
#include <algorithm>
#include <random>

#include "fuzz.hpp"
#include "option_lines.hpp"

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);

namespace
{
using Random = std::minstd_rand;

size_t Below(size_t end, Random *random) // end > 0
{
  return (*random)() % end;
}

/// A value that the option allows or, as often, one at the end of some number's range or no number.
std::string AnyValue(const fuzz::KnownOption &option, Random *random)
{
  static const std::vector<std::string> extremes = fuzz::Words(
      "0 1 2 3 5 6 7 31 32 33 64 100 1000 65536 1000000 -1 -2 -5 0.5 -0.5 1e-300 1e300 -1e300 1e-12 nan inf -inf "
      "2147483646 2147483647 2147483648 -2147483648 -2147483649 4294967296 9223372036854775807 -9223372036854775808 "
      "1e999 1,2,3 1,,2 0x10 1e3 +1 -0 decide default determine mouse auto on off true %s %n x");
  const std::vector<std::string> allowed = fuzz::Words(option.values);
  const auto                    &from    = option.closed || Below(2, random) ? allowed : extremes;

  return from[Below(from.size(), random)];
}

std::string Scrambled(std::string value)
{
  const size_t size = value.size();
  value.resize(size + 8);
  value.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(&value[0]), size, value.size()));
  std::replace(value.begin(), value.end(), '\n', ' ');
  return value;
}
} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  Random            random(seed);
  fuzz::OptionLines lines = fuzz::ParseOptionLines(std::string(reinterpret_cast<const char *>(data), size));
  const auto       &known = fuzz::KnownOptions();
  // the first ones say what is solved and by what: each has a share of its own
  const auto &option = known[Below(3, &random) ? Below(known.size(), &random) : Below(6, &random)];
  const auto  same   = std::find_if(lines.begin(), lines.end(), [&](const auto &l) { return l.first == option.name; });

  switch (lines.empty() ? 0 : Below(4, &random)) {
  case 0:
  case 1:
    if (same == lines.end())
      lines.emplace_back(option.name, AnyValue(option, &random));
    else
      same->second = AnyValue(option, &random);
    break;
  case 2: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(Below(lines.size(), &random))); break;
  default:
    auto &line = lines[Below(lines.size(), &random)];
    if (!fuzz::FindOption(line.first)->closed) line.second = Scrambled(line.second);
  }
  const std::string text = fuzz::PrintOptionLines(lines);
  const size_t      used = std::min(text.size(), capacity);
  std::copy_n(text.begin(), used, data);
  return used;
}
