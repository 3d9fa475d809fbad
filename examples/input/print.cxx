#include "print.hpp"

#include <algorithm>
#include <cstdio>
#include "petsc/compat.hpp"

PetscErrorCode PrintLines(const std::vector<Line> &lines, size_t left)
{
  std::vector<size_t> width;

  PetscFunctionBeginUser;
  for (const Line &line : lines) {
    PetscCallCXX(width.resize(std::max(width.size(), line.size())));
    for (size_t k = 0; k < line.size(); k++) width[k] = std::max(width[k], line[k].size());
  }
  for (const Line &line : lines) {
    std::string text;
    for (size_t k = 0; k < line.size(); k++) {
      const std::string padding(width[k] - line[k].size(), ' ');
      PetscCallCXX(text += (k ? "  " : "") + (k < left ? line[k] + padding : padding + line[k]));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", text.c_str()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Quoted(const std::string &text)
{
  std::string quoted = "\"";
  for (const char c : text) {
    char code[8];
    snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned char>(c));
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += code;
    else
      quoted += c;
  }
  return quoted + "\"";
}
