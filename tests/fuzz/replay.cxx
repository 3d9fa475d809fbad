/// The program around a harness where libFuzzer is not: runs the files of the folders that it is given. A file named
/// good... must be accepted, one named bad... must give a PETSc error; of others it is enough that they come back.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz.hpp"

namespace
{
/// Whether the file was taken as its name says.
bool Replay(const std::filesystem::path &file)
{
  std::ifstream           stream(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const std::string       name = file.filename();

  fprintf(stderr, "%s\n", name.c_str()); // the last one is the one that crashed
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  const bool good = name.compare(0, 4, "good") == 0, bad = name.compare(0, 3, "bad") == 0;
  if ((good && !fuzz::Accepted()) || (bad && fuzz::Accepted())) {
    fprintf(stderr, "%s was %s\n", name.c_str(), good ? "refused" : "accepted");
    return false;
  }
  return true;
}
} // namespace

int main(int argc, char **argv)
{
  std::vector<std::filesystem::path> files;
  size_t                             wrong = 0;

  for (int k = 1; k < argc; k++) {
    if (!std::filesystem::is_directory(argv[k]))
      files.emplace_back(argv[k]);
    else
      for (const auto &entry : std::filesystem::directory_iterator(argv[k])) files.push_back(entry.path());
  }
  if (files.empty()) {
    fprintf(stderr, "no files: %s FILE|FOLDER ...\n", argv[0]);
    return 1;
  }
  std::sort(files.begin(), files.end());
  LLVMFuzzerInitialize(&argc, &argv);
  for (const auto &file : files) wrong += !Replay(file);
  fprintf(stderr, "%zu files, %zu taken wrongly\n", files.size(), wrong);
  return wrong || PetscFinalize();
}
