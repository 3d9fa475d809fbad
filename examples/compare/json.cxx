#include "report.hpp"
#include "print.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fstream>

namespace
{
std::string Json(double v)
{
  char text[64];
  if (v == NoNumber) return "null";
  snprintf(text, sizeof(text), "%.9g", std::isfinite(v) ? v : 1e308); // JSON knows no infinity
  return text;
}

std::string Json(const Result &r)
{
  std::string text = "{\"type\": " + Quoted(r.type) + ", \"format\": " + (r.format.empty() ? "null" : Quoted(r.format));
  text += ", \"chosen\": " + (r.chosen.empty() ? "null" : Quoted(r.chosen)) + ", \"backend\": " + Quoted(r.backend);
  text += std::string(", \"device\": ") + (r.device ? "true" : "false");
  text += std::string(", \"applicable\": ") + (r.applicable ? "true" : "false") + ", \"reason\": " + Quoted(r.reason);
  text += ", \"convert_ms\": " + Json(r.convert_ms) + ", \"convert_spmv\": " + Json(r.convert_spmv);
  text += ", \"ms\": " + Json(r.ms) + ", \"ms_min\": " + Json(r.ms_min) + ", \"ms_max\": " + Json(r.ms_max) +
          ", \"ms_spread\": " + Json(r.spread) + ", \"gbs\": " + Json(r.gbs) + ", \"ratio\": " + Json(r.ratio);
  text += ", \"native\": " + (r.native.empty() ? "null" : Quoted(r.native));
  text += ", \"bytes_stored\": " + Json(r.bytes_stored) + ", \"padding\": " + Json(r.padding);
  return text + ", \"max_error_over_bound\": " + Json(r.max_error_over_bound) + "}";
}
std::string HostName()
{
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.rfind("model name", 0) == 0 && line.find(':') != std::string::npos) return line.substr(line.find(':') + 2);
  return "CPU";
}

std::string DeviceName()
{
  const char *const folder = "/proc/driver/nvidia/gpus";
  std::string       name;
  DIR              *gpus = opendir(folder);
  while (gpus && name.empty()) {
    const dirent *gpu = readdir(gpus);
    if (!gpu) break;
    std::ifstream information(std::string(folder) + "/" + gpu->d_name + "/information");
    for (std::string line; std::getline(information, line);)
      if (line.rfind("Model:", 0) == 0) name = line.substr(line.find_first_not_of(" \t", 6));
  }
  if (gpus) closedir(gpus);
  return name.empty() ? "GPU" : name;
}
} // namespace

PetscErrorCode WriteJson(const char file[], bool device, const std::vector<Case> &cases)
{
  const bool  complex = sizeof(PetscScalar) != sizeof(PetscReal);
  PetscMPIInt rank, size;
  int         code = 0;
  char        version[64];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  snprintf(version, sizeof(version), "%d.%d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
  if (rank == 0) {
    std::ofstream out(file);
    out << "{\"host\": " << Quoted(HostName()) << ", \"device\": " << (device ? Quoted(DeviceName()) : "null");
    out << ", \"petsc\": " << Quoted(version) << ", \"scalar\": \"" << (complex ? "complex" : "real")
        << "\", \"real_bytes\": " << sizeof(PetscReal);
    out << ", \"int_bytes\": " << sizeof(PetscInt) << ", \"ranks\": " << size << ",\n \"cases\": [";
    for (const Case &c : cases) {
      out << (&c == cases.data() ? "\n" : ",\n") << "  {\"matrix\": " << Quoted(c.matrix) << ", \"rows\": " << c.rows
          << ", \"cols\": " << c.cols;
      out << ", \"nnz\": " << static_cast<long long>(c.nonzeros) << ", \"in_turn\": " << (c.in_turn ? "true" : "false")
          << ", \"results\": [";
      for (const Result &r : c.results) out << (&r == c.results.data() ? "\n    " : ",\n    ") << Json(r);
      out << "]}";
    }
    out << "\n]}\n";
    out.close();
    code = out ? 0 : errno ? errno : EIO;
  }
  PetscCallMPI(MPI_Bcast(&code, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(!code, PETSC_COMM_WORLD, PETSC_ERR_FILE_WRITE, "%s: %s", file, strerror(code));
  PetscFunctionReturn(PETSC_SUCCESS);
}
