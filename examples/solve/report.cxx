#include "solve.hpp"
#include "print.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <sparsegpu.h>

namespace
{
std::string Number(double v, const char format[])
{
  char text[64];
  if (v == NoNumber) return "-";
  snprintf(text, sizeof(text), format, v);
  return text;
}

/// "CONVERGED_RTOL" -> "converged", the others in small letters without DIVERGED_
std::string Reason(KSPConvergedReason reason)
{
  if (reason > 0) return "converged";
  std::string text = KSPConvergedReasons[reason];
  if (text.rfind("DIVERGED_", 0) == 0) text = text.substr(9);
  for (char &c : text) c = static_cast<char>(tolower(c));
  return text;
}

std::string Json(double v)
{
  if (v == NoNumber || std::isnan(v)) return "null";
  return Number(std::isfinite(v) ? v : 1e308, "%.9g"); // JSON knows no infinity
}
std::string Json(const Run &r)
{
  std::string text = "{\"type\": " + Quoted(r.method.type) + ", \"ksp\": " + Quoted(r.method.ksp) +
                     ", \"pc\": " + Quoted(r.method.pc) + ", \"ours\": " + (r.method.ours ? "true" : "false") +
                     ", \"device\": " + (r.method.device ? "true" : "false");
  if (!r.error.empty()) return text + ", \"error\": " + Quoted(r.error) + "}";
  text +=
      ", \"iterations\": " + std::to_string(r.iterations) + ", \"reason\": " + Quoted(KSPConvergedReasons[r.reason]);
  text += ", \"residual\": " + Json(r.residual) + ", \"forward_error\": " + Json(r.forward);
  text += ", \"setup_s\": " + Json(r.setup_s) + ", \"solve_s\": " + Json(r.solve_s);
  text += ", \"ms_per_iteration\": " + Json(r.MsPerIteration()) + ", \"mult_ms\": " + Json(r.mult_ms) +
          ", \"pc_ms\": " + Json(r.pc_ms) + ", \"joules\": " + Json(r.joules);
  text += ", \"over_cpu\": " + Json(r.over_cpu) + ", \"over_native\": " + Json(r.over_native) + ", \"history\": [";
  for (size_t k = 0; k < r.history.size(); k++) text += (k ? ", " : "") + Json(r.history[k]);
  return text + "]}";
}

/// Leaves out the columns in which no line below the title has a value.
void DropEmptyColumns(std::vector<Line> *lines)
{
  for (size_t k = lines->front().size(); k-- > 0;) {
    const bool empty = std::all_of(lines->begin() + 1, lines->end(),
                                   [k](const Line &line) { return k >= line.size() || line[k] == "-"; });
    for (Line &line : *lines)
      if (empty && k < line.size()) line.erase(line.begin() + static_cast<std::ptrdiff_t>(k));
  }
}
} // namespace

PetscErrorCode PrintRuns(const System &system, const std::vector<Run> &runs)
{
  std::vector<Line> lines = {{"type", "solver", "pc", "ended", "iterations", "|b-Ax|/|b|", "error", "set-up s",
                              "solve s", "ms/it", "mult ms", "pc ms", "joules", "vs CPU", "vs native GPU"}};

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s: %" PetscInt_FMT " unknowns, %.0f nonzeros\n", system.name.c_str(),
                        system.rows, system.nonzeros));
  for (const Run &r : runs) {
    Line line = {r.method.type, r.method.ksp, r.method.pc};
    if (r.error.empty())
      PetscCallCXX(line.insert(line.end(),
                               {Reason(r.reason), std::to_string(r.iterations), Number(r.residual, "%.1e"),
                                Number(r.forward, "%.1e"), Number(r.setup_s, "%.4f"), Number(r.solve_s, "%.4f"),
                                Number(r.MsPerIteration(), "%.4f"), Number(r.mult_ms, "%.4f"), Number(r.pc_ms, "%.4f"),
                                Number(r.joules, "%.3g"), Number(r.over_cpu, "%.2f"), Number(r.over_native, "%.2f")}));
    else
      PetscCallCXX(line.push_back("error"));
    PetscCallCXX(lines.push_back(line));
  }
  if (lines.size() > 1) {
    PetscCallCXX(DropEmptyColumns(&lines));
    PetscCall(PrintLines(lines, 4));
  }
  for (const Run &r : runs)
    if (!r.error.empty())
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s, %s: %s\n", r.method.type.c_str(), r.method.ksp.c_str(),
                            r.method.pc.c_str(), r.error.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrintThesis(const std::vector<Solved> &solved, const std::vector<bool> &surrogate)
{
  std::vector<Line> lines = {
      {"matrix", "from", "solver", "ended", "rows", "nonzeros", "iterations", "CPU s", "ours s", "speed-up", "thesis"}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < solved.size(); k++) {
    for (const Run &r : solved[k].runs) {
      if (!r.method.ours) continue;
      const bool jacobi = r.method.ksp == KSPSPARSEGPUJACOBI;
      const auto cpu    = std::find_if(solved[k].runs.begin(), solved[k].runs.end(), [&](const Run &n) {
        return !n.method.ours && !n.method.device && n.method.ksp == (jacobi ? "richardson" : "gmres");
      });
      const bool there  = cpu != solved[k].runs.end() && cpu->error.empty();
      PetscCallCXX(lines.push_back({solved[k].name, surrogate[k] ? "surrogate" : "file", r.method.ksp,
                                    r.error.empty() ? Reason(r.reason) : "error", std::to_string(solved[k].rows),
                                    Number(solved[k].nonzeros, "%.0f"), std::to_string(r.iterations),
                                    there ? Number(cpu->solve_s, "%.3f") : "-", Number(r.solve_s, "%.5f"),
                                    Number(r.over_cpu, "%.1f"), jacobi ? "20 to 74" : "10 to 20"}));
    }
  }
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "\nThe thesis' matrices. Its speed-ups: a GTX 260+ over one core of its CPU\n"));
  PetscCall(PrintLines(lines, 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WriteRuns(const char file[], const std::vector<Solved> &solved)
{
  PetscMPIInt rank, size;
  int         code = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (rank == 0) {
    std::ofstream out(file);
    out << "{\"petsc\": \"" << PETSC_VERSION_MAJOR << "." << PETSC_VERSION_MINOR << "." << PETSC_VERSION_SUBMINOR
        << "\", \"scalar\": \"" << (sizeof(PetscScalar) != sizeof(PetscReal) ? "complex" : "real")
        << "\", \"real_bytes\": " << sizeof(PetscReal) << ", \"int_bytes\": " << sizeof(PetscInt)
        << ", \"ranks\": " << size << ",\n \"systems\": [";
    for (const Solved &s : solved) {
      out << (&s == solved.data() ? "\n" : ",\n") << "  {\"matrix\": " << Quoted(s.name) << ", \"rows\": " << s.rows
          << ", \"nnz\": " << static_cast<long long>(s.nonzeros) << ", \"runs\": [";
      for (const Run &r : s.runs) out << (&r == s.runs.data() ? "\n    " : ",\n    ") << Json(r);
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
