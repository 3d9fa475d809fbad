/// How the drivers print: tables and JSON.
#pragma once

#include <string>
#include <vector>
#include <petscsys.h>

using Line = std::vector<std::string>;

/// Prints lines with columns of equal width: the first `left` columns to the left, numbers to the right. Collective.
PetscErrorCode PrintLines(const std::vector<Line> &lines, size_t left);

/// A JSON string.
std::string Quoted(const std::string &text);
