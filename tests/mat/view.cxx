static const char help[] = "MatView(): the facts of ours in the info formats, aij's text in all others.\n\n";

#include "../family.hpp"

using namespace testing;

static std::string Number(PetscLogDouble v)
{
  char text[64];
  snprintf(text, sizeof(text), "%.0f", v);
  return text;
}

/// Format, backend, reason, sizes and times: what MatSparseGPUGetInfo() tells must be in the text.
static PetscErrorCode Facts()
{
  const Problem            p = battery::Banded("bands_80", 80, 80, {-9, 0, 1});
  std::vector<std::string> formats;
  std::string              text;
  MatSparseGPUInfo         info;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  formats.push_back("auto");
  for (const std::string &format : formats)
    for (PetscViewerFormat view : {PETSC_VIEWER_ASCII_INFO, PETSC_VIEWER_ASCII_INFO_DETAIL})
      for (bool product_before : {false, true}) {
        PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format.c_str(), Layout::Even, &A));
        if (product_before) PetscCall(CheckProducts(A, p, "view"));
        PetscCall(ViewText(A, view, "view_facts", &text));
        PetscCall(MatSparseGPUGetInfo(A, &info));
        if (PetscGlobalRank == 0) {
          const std::string stored = Number(info.stored) + " entries for " + Number(info.nonzeros) + " nonzeros";
          const std::string bytes  = Number(info.bytes_stored) + " bytes against " + Number(info.bytes_csr) + " as csr";
          PetscCall(CheckText("view of " + format, text,
                              {std::string("format: ") + info.format + " on " + info.backend, info.reason, stored,
                               bytes, "padding", "conversion: ", "update of values: "}));
          PetscCheck((text.find(format == "auto" ? "auto" : "asked for") != std::string::npos), PETSC_COMM_SELF,
                     PETSC_ERR_PLIB, "%s: not said why in\n%s", format.c_str(), text.c_str());
        }
        PetscCall(MatDestroy(&A));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every rank's diagonal block is in the format asked for; an off-diagonal block that it refuses is csr, and says so.
static PetscErrorCode OffDiagonal()
{
  const PetscInt   n = 1200;
  battery::Builder b("scattered_off_diagonal", n, n);
  std::string      text;
  Mat              A;

  PetscFunctionBeginUser;
  if (PetscGlobalSize == 1) {
    PetscCall(Skip("one rank has no off-diagonal block"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < n; ++i) { // one entry a row behind the own columns, on a diagonal of its own
    const PetscInt share = n / PetscGlobalSize, next = (i / share + 1) * share;
    b.Add(i, i).Add(i, (next + i * 37 % share) % n);
  }
  const Problem p = b;
  for (const char *format : {"dia", "ell"}) {
    const bool        refused = !strcmp(format, "dia"); // ell holds one entry a row without any padding
    const std::string head    = "sparsegpu [" + std::to_string(PetscGlobalSize - 1) + "] ";
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format, Layout::Even, &A));
    PetscCall(CheckProducts(A, p, std::string("off-diagonal block, ") + format));
    PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO, "view_off_diagonal", &text));
    if (PetscGlobalRank == 0) {
      PetscCall(CheckText("view", text, {head + "diagonal block: format: " + format + " "}));
      PetscCall(CheckText("view", text, {head + "off-diagonal block: format: " + (refused ? "csr " : "ell ")}));
      if (refused) PetscCall(CheckText("view", text, {"dia refuses this off-diagonal block"}));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In the formats that print entries the text is aij's, our type's name apart.
static PetscErrorCode Entries()
{
  const Problem p = battery::Banded("bands_20", 20, 17, {-9, 0, 1});
  std::string   text[2];
  Mat           A;

  PetscFunctionBeginUser;
  for (PetscViewerFormat view :
       {PETSC_VIEWER_DEFAULT, PETSC_VIEWER_ASCII_MATLAB, PETSC_VIEWER_ASCII_COMMON, PETSC_VIEWER_ASCII_DENSE}) {
    for (int which = 0; which < 2; ++which) {
      PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, which ? MATAIJ : MATSPARSEGPU, nullptr, Layout::Even, &A));
      PetscCall(PetscObjectSetName((PetscObject)A, "matrix"));
      PetscCall(ViewText(A, view, "view_entries", &text[which]));
      PetscCall(MatDestroy(&A));
    }
    PetscCheck(AsAIJ(text[0]) == text[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "View %d of aij gives\n%s\nof ours\n%s",
               (int)view, text[1].c_str(), text[0].c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  return Main(argc, argv, help, {{"facts", Facts}, {"off_diagonal", OffDiagonal}, {"entries", Entries}});
}
