/// The text that is an input of fuzz_options: a line for each option, "-name value". Only the options of this table are
/// set: PETSc's own can write files.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fuzz
{
struct KnownOption {
  const char *name;
  const char *values; ///< some that are allowed, between blanks
  bool        closed; ///< whether others are left out: they would choose PETSc's own types, which are not on trial
};

const std::vector<KnownOption> &KnownOptions();
const KnownOption              *FindOption(const std::string &name); ///< null where there is none

using OptionLines = std::vector<std::pair<std::string, std::string>>; ///< name, value

std::vector<std::string> Words(const std::string &text);
/// The lines that begin with a known name and, where that is closed, go on with one of its values.
OptionLines ParseOptionLines(const std::string &text);
std::string PrintOptionLines(const OptionLines &lines);
} // namespace fuzz
