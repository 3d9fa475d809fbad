static char help[] =
    "Products with dense matrices on the GPU, Z = A X by columns, in each format that takes the matrix: against\n"
    "cuSPARSE's SpMM (CSR, the fastest of ALG1 to ALG3, preprocessed) and against as many products with one column.\n"
    "One line for each matrix, number of columns and format: milliseconds, and how many times as fast it is.\n"
    "  -gen name,name -nonzeros n,n : generated matrices (a name that ends in + has the few values that such a problem\n"
    "                                 has, others have full mantissas) of about so many nonzeros\n"
    "  -columns n,n                 : numbers of columns\n"
    "  -batches n -products n       : the median of n batches of n products\n";

#include <algorithm>
#include <cmath>
#include <cstdio>
#include "cusparse.hpp"
#include "device/device.hpp"
#include "generate.hpp"
#include "mat/formats/plan.hpp"
#include "mat/rows/device_rows.hpp"
#include "sparsegpu.h"
#include "spmm_baseline.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
namespace
{
struct Settings {
  std::vector<std::string> names    = {"stencil27", "stencil27+", "stencil7", "elasticity", "random", "rmat"};
  std::vector<PetscInt>    nonzeros = {13400000, 13400000, 7000000, 8000000, 5000000, 5000000};
  std::vector<PetscInt>    columns  = {1, 2, 4, 8, 16, 32};
  PetscInt                 batches = 5, products = 10;
};

struct Product {
  Format      *format;
  DenseColumns d;
  DeviceMemory scratch;
  Stream       stream;
};
void Dense(void *argument)
{
  Product *p = static_cast<Product *>(argument);
  PetscCallAbort(PETSC_COMM_SELF, p->format->MultDense(p->d, &p->scratch, p->stream));
}
void Single(void *argument)
{
  const Product *p = static_cast<Product *>(argument);
  PetscCallAbort(PETSC_COMM_SELF, p->format->Mult(p->d.x, nullptr, p->d.z, p->stream));
}

/// One matrix on the device, with X and Z of the most columns.
struct Problem {
  std::string   name;
  CsrView       A;
  Array<Scalar> x, z;

  DenseColumns Columns(PetscInt n) { return DenseColumns{n, x.data(), A.cols, z.data(), A.rows}; }
};

/// The first and the last column of Z.
PetscErrorCode Ends(const DenseColumns &d, PetscInt rows, std::vector<Scalar> *ends)
{
  Stream       stream;
  const size_t bytes = static_cast<size_t>(rows) * sizeof(Scalar);

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  ends->resize(2 * static_cast<size_t>(rows));
  PetscCall(DeviceCopyOut(ends->data(), d.z, bytes, stream));
  PetscCall(DeviceCopyOut(ends->data() + rows, d.Z(d.count - 1), bytes, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Is Z what cuSPARSE gave?
PetscErrorCode Check(const Problem &p, const DenseColumns &d, const std::vector<Scalar> &expected, const char *format)
{
  std::vector<Scalar> ends;
  double              difference = 0, norm = 0;

  PetscFunctionBegin;
  PetscCall(Ends(d, p.A.rows, &ends));
  for (size_t k = 0; k < ends.size(); k++) {
    difference += (ends[k] - expected[k]) * (ends[k] - expected[k]);
    norm += expected[k] * expected[k];
  }
  PetscCheck(difference <= 1e-20 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s as %s times %" PetscInt_FMT " columns is wrong: relative error %g", p.name.c_str(), format, d.count,
             std::sqrt(difference / norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All numbers of columns in one format; `baseline` and `algorithm` are cuSPARSE's, `expected` the ends of its Z.
PetscErrorCode TimeFormat(Problem *p, const char *name, Format *format, const Settings &settings,
                          const std::vector<double> &baseline, const std::vector<int> &algorithm,
                          const std::vector<std::vector<Scalar>> &expected)
{
  const int batches = static_cast<int>(settings.batches), products = static_cast<int>(settings.products);
  const std::vector<Scalar> zeros(static_cast<size_t>(p->A.rows), 0);
  Product                   product{format, p->Columns(1), {}, nullptr};

  PetscFunctionBegin;
  PetscCall(DeviceStream(&product.stream));
  const double single = EventSeconds(Single, &product, product.stream, batches, products);
  for (size_t k = 0; k < settings.columns.size(); k++) {
    product.d = p->Columns(settings.columns[k]);
    for (PetscInt c : {PetscInt(0), product.d.count - 1}) // not what was there before
      PetscCall(DeviceCopyIn(product.d.Z(c), zeros.data(), zeros.size() * sizeof(Scalar), product.stream));
    const double seconds = EventSeconds(Dense, &product, product.stream, batches, products);
    PetscCall(Check(*p, product.d, expected[k], name));
    printf("%-11s %9d %4d  %-8s %9.4f %9.4f %6.2f %9.4f ALG%d %6.2f %6.0f\n", p->name.c_str(), (int)p->A.nonzeros,
           (int)product.d.count, name, seconds * 1e3, single * 1e3, single * product.d.count / seconds,
           baseline[k] * 1e3, algorithm[k], baseline[k] / seconds,
           (format->BytesStored() + sizeof(Scalar) * product.d.count * (0.0 + p->A.rows + p->A.cols)) / seconds / 1e9);
    fflush(stdout);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TimeMatrix(Problem *p, const Settings &settings)
{
  const DeviceCsr     csr{p->A.rows, p->A.cols, p->A.nonzeros, p->A.device.i, p->A.device.j, p->A.device.a};
  std::vector<double> baseline;
  std::vector<int>    algorithm;
  std::vector<std::vector<Scalar>> expected;
  Stream                           stream;

  PetscFunctionBegin;
  PetscCall(DeviceStream(&stream));
  for (PetscInt n : settings.columns) {
    PetscCall(DeviceSynchronize(stream));
    baseline.push_back(SpmmSeconds(csr, n, p->x.data(), p->z.data(), static_cast<int>(settings.batches),
                                   static_cast<int>(settings.products), &algorithm.emplace_back()));
    PetscCheck(baseline.back() > 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "cuSPARSE's SpMM fails");
    PetscCall(Ends(p->Columns(n), p->A.rows, &expected.emplace_back()));
  }
  for (const char *name : {"csr", "sell", "dia", "stencil", "bsr"}) {
    Plans                   plans(p->A, FormatOptions(), Space::Device);
    std::unique_ptr<Format> format;
    bool                    fits;
    std::string             why;
    PetscCall(plans.Check(name, &fits, &why));
    if (!fits) continue;
    PetscCall(plans.Build(name, &format));
    PetscCall(TimeFormat(p, name, format.get(), settings, baseline, algorithm, expected));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bench(const std::string &name, PetscInt nonzeros, const Settings &settings)
{
  const bool          natural = name.back() == '+';
  const PetscInt      most    = *std::max_element(settings.columns.begin(), settings.columns.end());
  Problem             p;
  Mat                 M;
  DeviceRows          rows;
  PetscScalar        *a;
  PetscMemType        where;
  std::vector<Scalar> x;

  PetscFunctionBegin;
  p.name = name;
  PetscCall(GenerateMatrix(PETSC_COMM_SELF, name.substr(0, name.size() - natural).c_str(), nonzeros,
                           natural ? PETSC_TRUE : PETSC_FALSE, &M));
  PetscCall(MatGetSize(M, &p.A.rows, &p.A.cols));
  PetscCall(MatGetBlockSize(M, &p.A.block_size));
  PetscCall(MatSeqAIJGetCSRAndMemType(M, &p.A.i, &p.A.j, &a, &where));
  p.A.a        = a;
  p.A.nonzeros = p.A.i[p.A.rows];
  x.resize(static_cast<size_t>(p.A.cols) * most);
  for (size_t k = 0; k < x.size(); k++) x[k] = 1 + static_cast<double>(k * 2654435761u % 4294967291u) / 4294967291.0;
  PetscCall(p.x.Take(std::move(x), Space::Device));
  PetscCall(p.z.Allocate(static_cast<size_t>(p.A.rows) * most, Space::Device));
  PetscCall(rows.Upload(p.A, true));
  p.A.device = rows.View();
  PetscCall(TimeMatrix(&p, settings));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadNumbers(const char option[], std::vector<PetscInt> *numbers)
{
  PetscInt  list[64], count = 64;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetIntArray(nullptr, nullptr, option, list, &count, &set));
  if (set) numbers->assign(list, list + count);
  for (PetscInt n : *numbers)
    PetscCheck(n > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s %" PetscInt_FMT " must be positive", option, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run()
{
  char       *list[64];
  const char *why;
  PetscInt    count = 64;
  PetscBool   found, set;
  Settings    settings;

  PetscFunctionBegin;
  PetscCall(DeviceFound(&found, &why));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_SUP, "This benchmark needs a GPU: %s", why);
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-gen", list, &count, &set));
  if (set) settings.names.clear();
  for (PetscInt k = 0; set && k < count; k++) {
    settings.names.push_back(list[k]);
    PetscCall(PetscFree(list[k]));
  }
  PetscCall(ReadNumbers("-nonzeros", &settings.nonzeros));
  PetscCall(ReadNumbers("-columns", &settings.columns));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-batches", &settings.batches, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-products", &settings.products, nullptr));
  PetscCheck(!settings.columns.empty() && !settings.nonzeros.empty() && settings.batches > 0 && settings.products > 0,
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-columns, -nonzeros, -batches and -products must be positive");
  printf("matrix       nonzeros cols  format          ms  one, ms  times cuSPARSE, ms       times   GB/s\n");
  for (size_t k = 0; k < settings.names.size(); k++)
    PetscCall(Bench(settings.names[k], settings.nonzeros[std::min(k, settings.nonzeros.size() - 1)], settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace
#endif

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(SparseGPUInitializePackage());
#if !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES) && defined(PETSC_USE_REAL_DOUBLE)
  PetscCall(Run());
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "This benchmark needs a PETSc of double precision and 32-bit integers");
#endif
  PetscCall(PetscFinalize());
  return 0;
}
