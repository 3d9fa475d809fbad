#include "text_cursor.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

void Cursor::SkipBlanks()
{
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
}

void Cursor::NextLine()
{
  for (;;) {
    SkipBlanks();
    if (at < end && *at == '%') at = std::find(at, end, '\n');
    if (at == end || *at != '\n') return;
    at++;
    line++;
  }
}

const char *Cursor::WordEnd() const
{
  return std::find_if(at, end, [](unsigned char c) { return isspace(c); });
}

std::string Cursor::Word() const
{
  std::string word(at, std::min<size_t>(WordEnd() - at, 40));
  for (char &c : word) c = isprint(static_cast<unsigned char>(c)) ? c : '?';
  return word;
}

PetscErrorCode Cursor::ReadInteger(const char what[], long long low, long long high, long long *value)
{
  PetscFunctionBeginUser;
  SkipBlanks();
  PetscCheck(!AtLineEnd(), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s, line %lld: %s expected, but the line ends",
             file, line, what);
  const char *stop   = WordEnd();
  const auto  result = std::from_chars(at + (*at == '+'), stop, *value);
  PetscCheck(result.ec != std::errc::invalid_argument && result.ptr == stop, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: %s \"%s\" is not an integer", file, line, what, Word().c_str());
  PetscCheck(result.ec == std::errc() && *value >= low && *value <= high, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s, line %lld: %s %s is out of range %lld ... %lld", file, line, what, Word().c_str(), low, high);
  at = stop;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cursor::ReadReal(bool integer, PetscReal *value)
{
  PetscFunctionBeginUser;
  SkipBlanks();
  PetscCheck(!AtLineEnd(), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: value expected, but the line ends", file, line);
  char        *stop;
  const double number = strtod(at, &stop);
  PetscCheck(stop == WordEnd(), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: value \"%s\" is not a number", file, line, Word().c_str());
  *value = static_cast<PetscReal>(number);
  PetscCheck(std::isfinite(*value), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s, line %lld: value %s is not a finite number of %zu bytes", file, line, Word().c_str(), sizeof(*value));
  PetscCheck(!integer || number == std::floor(number), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: value %s is not an integer, which the header promises", file, line, Word().c_str());
  at = stop;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cursor::ExpectLineEnd()
{
  PetscFunctionBeginUser;
  SkipBlanks();
  PetscCheck(AtLineEnd(), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s, line %lld: \"%s\" is too much for this line",
             file, line, Word().c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}
