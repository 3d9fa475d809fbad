static const char help[] = "The pattern and the map that coordinates make, on the host and on the device.\n\n";

#include "../testing.hpp"
#include "../matrices.hpp"
#include "device/device.hpp"
#include "mat/rows/sort_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <map>

using namespace testing;

namespace
{
using sparsegpu::Array;
using sparsegpu::Space;

struct Case {
  std::string           name;
  PetscInt              rows, cols;
  std::vector<PetscInt> i, j;
};

/// `count` entries at random places of the matrix; some rows or columns are negative where `negative`.
Case Random(std::string name, PetscInt rows, PetscInt cols, size_t count, bool negative)
{
  Case c{std::move(name), rows, cols, {}, {}};

  for (size_t k = 0; k < count; ++k) {
    const auto at = [&](PetscInt size, size_t seed) {
      const double part = std::abs((double)conformance::RealValue(3 * k + seed)) - 0.5; // of [0, 1), in single, too
      return std::min(size - 1, (PetscInt)(part * (double)size));
    };
    c.i.push_back(negative && k % 7 == 0 ? -1 : at(rows, 1));
    c.j.push_back(negative && k % 5 == 0 ? -(PetscInt)k - 1 : at(cols, 2));
  }
  return c;
}

std::vector<Case> Cases()
{
  const PetscInt    huge = (PetscInt)1 << (sizeof(PetscInt) == 4 ? 30 : 40);
  std::vector<Case> cases;

  for (bool negative : {false, true}) {
    cases.push_back(Random("few places, many repeated", 5, 7, 1000, negative));
    cases.push_back(Random("more places than entries", 300, 200, 2000, negative));
    cases.push_back(Random("one row", 1, 100, 50, negative));
    cases.push_back(Random("one column", 100, 1, 50, negative));
    cases.push_back(Random("one place", 1, 1, 10, negative));
    cases.push_back(Random("keys of 31 bits", 1 << 10, 1 << 21, 5000, negative));
    cases.push_back(Random("keys of 32 bits", 1 << 10, 1 << 22, 5000, negative));
    cases.push_back(Random("keys of 33 bits", 1 << 11, 1 << 22, 5000, negative));
    cases.push_back(Random("long rows", 100, huge, 5000, negative));
    cases.push_back(Random("one long row", 1, huge, 500, negative));
    cases.push_back(Random("mostly empty rows", 1000000, 1000, 300, negative));
    cases.push_back(Random("several blocks", 4000, 4000, 100000, negative));
  }
  cases.push_back({"no entries", 4, 3, {}, {}});
  cases.push_back({"no rows", 0, 3, {}, {}});
  cases.push_back({"none kept", 4, 3, {-1, 2, -5}, {0, -1, -2}});
  cases.push_back({"no rows, none kept", 0, 0, {-1, 0}, {0, -1}});
  cases.push_back({"last and first", 4, 3, {3, 0, 3, 0}, {2, 0, 2, 0}});
  Case sorted = Random("ascending", 50, 60, 0, false);
  for (PetscInt r = 0; r < 50; r += 2)
    for (PetscInt c = 0; c < 60; c += 7) sorted.i.push_back(r), sorted.j.push_back(c);
  cases.push_back(sorted);
  std::reverse(sorted.i.begin(), sorted.i.end());
  std::reverse(sorted.j.begin(), sorted.j.end());
  sorted.name = "descending";
  cases.push_back(sorted);
  return cases;
}

PetscErrorCode Sort(const Case &c, Space space, sparsegpu::rows::SortedCoordinates *sorted)
{
  Array<PetscInt> i, j;

  PetscFunctionBeginUser;
  PetscCall(i.Copy(c.i.data(), c.i.size(), space));
  PetscCall(j.Copy(c.j.data(), c.j.size(), space));
  PetscCall(
      sparsegpu::rows::SortCoordinates(c.rows, c.cols, (PetscCount)c.i.size(), i.data(), j.data(), space, sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Compare(const Case &c, const char *array, const std::vector<T> &expected,
                                          const Array<T> &found, Space space)
{
  std::vector<T> host(found.size());

  PetscFunctionBeginUser;
  PetscCheck(found.size() == expected.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s has %zu entries, not %zu",
             c.name.c_str(), array, found.size(), expected.size());
  if (space == Space::Device) {
    sparsegpu::Stream stream;
    PetscCall(sparsegpu::DeviceStream(&stream));
    PetscCall(sparsegpu::DeviceCopyOut(host.data(), found.data(), found.bytes(), stream));
  } else {
    std::copy(found.data(), found.data() + found.size(), host.begin());
  }
  for (size_t k = 0; k < host.size(); ++k)
    PetscCheck(host[k] == expected[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s[%zu] is %lld, not %lld", c.name.c_str(),
               array, k, (long long)host[k], (long long)expected[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SortAll(Space space)
{
  PetscFunctionBeginUser;
  for (const Case &c : Cases()) {
    std::map<std::pair<PetscInt, PetscInt>, std::vector<PetscInt>> places; // by row, then by column
    sparsegpu::rows::SortedCoordinates                             sorted;
    std::vector<PetscInt>                                          i((size_t)c.rows + 1, 0), j;
    std::vector<PetscInt>                                          jmap(1, 0), perm;

    for (size_t k = 0; k < c.i.size(); ++k)
      if (c.i[k] >= 0 && c.j[k] >= 0) places[{c.i[k], c.j[k]}].push_back((PetscInt)k);
    for (const auto &place : places) {
      i[(size_t)place.first.first + 1]++;
      j.push_back(place.first.second);
      perm.insert(perm.end(), place.second.begin(), place.second.end());
      jmap.push_back((PetscInt)perm.size());
    }
    for (size_t r = 0; r < (size_t)c.rows; ++r) i[r + 1] += i[r];
    if (j.size() == perm.size()) jmap.clear(); // none is given twice
    PetscCall(Sort(c, space, &sorted));
    PetscCall(Compare(c, "i", i, sorted.i, space));
    PetscCall(Compare(c, "j", j, sorted.j, space));
    PetscCall(Compare(c, "jmap", jmap, sorted.jmap, space));
    PetscCall(Compare(c, "perm", perm, sorted.perm, space));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Coordinates beyond the matrix are errors that name them; ignored entries may have any.
PetscErrorCode Beyond(Space space)
{
  const Case row = {"row", 4, 3, {0, 4, 1}, {0, 0, 1}}, col = {"column", 4, 3, {0, 3, 1}, {0, 0, 17}},
             neither = {"neither", 4, 3, {0, 400, -1}, {0, -1, 300}};
  sparsegpu::rows::SortedCoordinates sorted;
  std::string                        message;

  PetscFunctionBeginUser;
  const auto expect = [&](const Case &c, const char *words) -> PetscErrorCode {
    PetscFunctionBeginUser;
    PetscCall(ExpectError(
        c.name, [&] { return Sort(c, space, &sorted); }, &message, PETSC_ERR_ARG_OUTOFRANGE));
    PetscCheck(message.find(words) != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "\"%s\" does not say \"%s\"",
               message.c_str(), words);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(expect(row, "row index 4 is >= the matrix row size 4"));
  PetscCall(expect(col, "column index 17 is >= the matrix column size 3"));
  PetscCall(Sort(neither, space, &sorted));
  PetscCheck(sorted.j.size() == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu nonzeros, not 1", sorted.j.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Host()
{
  PetscFunctionBeginUser;
  PetscCall(SortAll(Space::Host));
  PetscCall(Beyond(Space::Host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Device()
{
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(sparsegpu::DeviceFound(&found));
  if (!found) {
    PetscCall(Skip("there is no GPU"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SortAll(Space::Device));
  PetscCall(Beyond(Space::Device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the device has no keys or numbers for is told beforehand.
PetscErrorCode Limits()
{
  const PetscInt most = PETSC_MAX_INT;

  PetscFunctionBeginUser;
  PetscCheck(sparsegpu::rows::CanSortCoordinates(1000, 1000, 1000), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "1000 are refused");
  PetscCheck(!sparsegpu::rows::CanSortCoordinates(1000, 1000, most), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " are not refused", most);
  PetscCheck(sparsegpu::rows::CanSortCoordinates(most, most, 1) == (sizeof(PetscInt) == 4), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "Keys of %d bits", 2 * sparsegpu::rows::BitsUpTo(most));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"host", Host}, {"device", Device}, {"limits", Limits}});
}
