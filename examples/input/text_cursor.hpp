/// Numbers and words of a text, line by line, for readers whose errors name file, line and value.
#pragma once

#include <string>

#include "petsc/compat.hpp"

/// A place in a text. A NUL must follow `end`: std::string has one, and reading a number can stop there.
struct Cursor {
  const char *file, *at, *end;
  long long   line = 1;

  Cursor(const char name[], const std::string &text) : file(name), at(text.data()), end(text.data() + text.size()) {}
  bool        AtLineEnd() const { return at == end || *at == '\n'; }
  void        SkipBlanks();
  void        NextLine(); ///< to the next word that is no % comment, over as many lines as that takes
  const char *WordEnd() const;
  std::string Word() const; ///< the next word, for a message: at most 40 characters, control characters as '?'

  // These read the next word of the line. Errors: PETSC_ERR_FILE_UNEXPECTED where it is missing or no number,
  // PETSC_ERR_ARG_OUTOFRANGE where the number is outside low ... high or not finite as a PetscReal.
  PetscErrorCode ReadInteger(const char what[], long long low, long long high, long long *value);
  PetscErrorCode ReadReal(bool integer, PetscReal *value);
  PetscErrorCode ExpectLineEnd();
};
