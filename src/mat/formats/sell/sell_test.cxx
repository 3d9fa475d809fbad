/// Places and columns of the worked example for each window, width and codec, and the three classes of rows.
#include <cstring>
#include "mat/formats/sell/sell.hpp"
#include "mat/formats/worked_example.hpp"

using namespace sparsegpu;
using namespace sparsegpu::formats;

/// Row lengths 2, 1, 3: one slice of width 3, unsorted; and sorted 3, 2, 1 within a window.
static PetscErrorCode Places()
{
  FormatOptions options;

  PetscFunctionBeginUser;
  for (PetscInt window : {1, 2, 256}) {
    options.Set<SellOptions>().window = window;
    for (PetscInt bytes : {0, 1, 2, 4}) {
      options.Set<SellOptions>().column_bytes = bytes;
      for (const char *codec : ValueCodecNames) {
        Sell sell;
        options.Set<CommonOptions>().values = codec;
        PetscCall(example::BuildAndMultiply(sell, options));
        PetscCheck(sell.Layout().width == 3 && sell.Layout().bytes == (bytes ? bytes : 1), PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "Width %" PetscInt_FMT ", columns of %d bytes", sell.Layout().width,
                   sell.Layout().bytes);
        const unsigned short sorted[] = {2, 0, 1};
        PetscCheck(window != 256 || !std::memcmp(sell.Layout().local, sorted, sizeof(sorted)), PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "Places are rows %d %d %d", sell.Layout().local[0], sell.Layout().local[1],
                   sell.Layout().local[2]);
      }
    }
  }
  Sell       sell; // unsorted, full width columns: entry 0 has columns 0, 1, 0; entry 1 2, -, 1; entry 2 -, -, 2
  PetscInt   three[3];
  const auto column = [&](int k, int lane) {
    unsigned v;
    std::memcpy(&v, sell.Layout().columns + 4 * (32 * k + lane), 4);
    return static_cast<PetscInt>(v);
  };
  options.Set<SellOptions>().window       = 1;
  options.Set<SellOptions>().column_bytes = 4;
  PetscCall(sell.Build(example::Matrix(), options, Space::Host));
  for (int lane = 0; lane < 3; lane++) three[lane] = column(0, lane);
  PetscCall(example::CheckInts("columns of entry 0", three, {0, 1, 0}));
  PetscCheck(column(1, 0) == 2 && column(1, 2) == 1 && column(2, 2) == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Columns %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT, column(1, 0), column(1, 2), column(2, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of 1, 300 and 3000 entries: a slice, a warp, thread blocks.
static PetscErrorCode Classes()
{
  std::vector<PetscInt> i{0}, j;
  std::vector<Scalar>   a, x(3000, Scalar(1)), z(100, Scalar(0));
  Sell                  sell;
  std::vector<PetscInt> length(100, 1);

  PetscFunctionBeginUser;
  length[7]  = 3000;
  length[50] = 300;
  for (PetscInt r = 0; r < 100; r++) {
    for (PetscInt k = 0; k < length[r]; k++) {
      j.push_back(k);
      a.push_back(Scalar(1));
    }
    i.push_back(static_cast<PetscInt>(j.size()));
  }
  PetscCall(sell.Build(CsrView{100, 3000, static_cast<PetscInt>(j.size()), i.data(), j.data(), a.data()},
                       FormatOptions(), Space::Host));
  PetscCheck(sell.Layout().long_rows == 2 && sell.Layout().warp_rows == 1 && sell.Layout().chunks == 2, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%" PetscInt_FMT " long rows, %" PetscInt_FMT " for warps, %" PetscInt_FMT " chunks",
             sell.Layout().long_rows, sell.Layout().warp_rows, sell.Layout().chunks);
  PetscCall(sell.Mult(x.data(), nullptr, z.data(), nullptr));
  for (PetscInt r = 0; r < 100; r++)
    PetscCheck(RealPart(z[r]) == static_cast<PetscReal>(length[r]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Row %" PetscInt_FMT " gives %g", r, (double)RealPart(z[r]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test()
{
  PetscFunctionBeginUser;
  PetscCall(Places());
  PetscCall(Classes());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return example::Main(argc, argv, Test);
}
