static const char help[] =
    "MatView(): a line of ours, or all facts, in the info formats; aij's text in all others.\n\n";

#include "lazy_pair.hpp"

using namespace testing;

static std::string Number(PetscLogDouble v)
{
  char text[64];
  snprintf(text, sizeof(text), "%.0f", v);
  return text;
}

/// ::ascii_info: aij's text and one line, which names the format and the reason; the same before any product, after
/// one, after many, and of another matrix like it. Looking converts nothing.
static PetscErrorCode OneLine()
{
  const Problem            p     = conformance::Banded("bands_6000", 6000, 6000, {-100, -1, 0, 1, 100});
  const std::string        label = "sparsegpu: format ";
  std::vector<std::string> formats;
  std::string              aij, text, first;
  Counts                   counts;
  PetscBool                accepts = PETSC_TRUE;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATAIJ, nullptr, Layout::Even, &A));
  PetscCall(PetscObjectSetName((PetscObject)A, "matrix"));
  PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO, "view_line", &aij));
  PetscCall(MatDestroy(&A));
  PetscCall(Formats(&formats));
  formats.push_back("auto");
  for (const std::string &format : formats) {
    first.clear();
    for (int matrix = 0; matrix < 2; ++matrix) {
      Vec x, y;
      PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format.c_str(), Layout::Even, &A));
      PetscCall(PetscObjectSetName((PetscObject)A, "matrix"));
      PetscCall(MatSparseGPUSetBackend(A, "kokkos")); // where auto takes something else than csr
      PetscCall(MatSparseGPUCheckFormat(A, format.c_str(), &accepts, nullptr));
      if (!accepts) PetscCall(MatSparseGPUSetFormat(A, "auto"));
      PetscCall(MatCreateVecs(A, &x, &y));
      PetscCall(VecSet(x, 1));
      for (PetscInt products : {0, 1, 300}) {
        for (PetscInt k = 0; k < products; ++k) PetscCall(MatMult(A, x, y));
        PetscCall(Count(&counts));
        PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO_DETAIL, "view_line", &text));
        PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO, "view_line", &text));
        PetscCall(Count(&counts));
        PetscCheck(!counts.choices && !counts.conversions && !counts.updates, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s: looking at it after %" PetscInt_FMT " products more converts it", format.c_str(), products);
        if (PetscGlobalRank > 0) continue;
        if (first.empty()) first = text;
        PetscCheck(text == first, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %" PetscInt_FMT " products more:\n%s\nnot\n%s",
                   format.c_str(), products, text.c_str(), first.c_str());
      }
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&A));
    }
    if (PetscGlobalRank > 0 || !accepts) continue; // it was auto once more
    const size_t at = first.find(label);
    PetscCheck(at != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no line in\n%s", format.c_str(),
               first.c_str());
    const size_t      begin = first.rfind('\n', at) + 1, end = first.find('\n', at) + 1;
    const std::string line = first.substr(at, end - at), rest = first.substr(0, begin) + first.substr(end);
    PetscCheck(AsAIJ(rest) == aij, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: besides our line\n%s\nnot\n%s", format.c_str(),
               rest.c_str(), aij.c_str());
    PetscCall(CheckText(format, line,
                        {format == "auto" ? label : label + format, format == "auto" ? "(auto: " : "asked for"}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ::ascii_info_detail after a product: format, backend, reason, sizes and times, as MatSparseGPUGetInfo() tells them.
/// Before: which format it will be.
static PetscErrorCode Facts()
{
  const Problem            p = conformance::Banded("bands_80", 80, 80, {-9, 0, 1});
  std::vector<std::string> formats;
  std::string              text;
  MatSparseGPUInfo         info;
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(Formats(&formats));
  formats.push_back("auto");
  for (const std::string &format : formats)
    for (bool product_before : {false, true}) {
      PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format.c_str(), Layout::Even, &A));
      if (product_before) PetscCall(CheckProducts(A, p, "view"));
      PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO_DETAIL, "view_facts", &text));
      PetscCall(MatSparseGPUGetInfo(A, &info));
      if (PetscGlobalRank == 0) {
        const std::string stored = Number(info.stored) + " entries for " + Number(info.nonzeros) + " nonzeros";
        const std::string bytes  = Number(info.bytes_stored) + " bytes against " + Number(info.bytes_csr) + " as csr";
        if (product_before)
          PetscCall(CheckText("view of " + format, text,
                              {std::string("format: ") + info.format + " on " + info.backend, info.reason, stored,
                               bytes, "padding", "conversion: ", "update of values: "}));
        else
          PetscCall(CheckText("view of " + format, text,
                              {"format: ", std::string(" on ") + info.backend, "not converted yet"}));
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
  const PetscInt       n = 1200;
  conformance::Builder b("scattered_off_diagonal", n, n), alike("alike_off_diagonal", n, n);
  std::string          text;
  PetscBool            device;
  Mat                  A;

  PetscFunctionBeginUser;
  PetscCall(SparseGPUHasDevice(&device));
  if (PetscGlobalSize == 1) {
    PetscCall(Skip("one rank has no off-diagonal block"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < n; ++i) { // one entry a row behind the own columns, on a diagonal of its own
    const PetscInt share = n / PetscGlobalSize, next = (i / share + 1) * share;
    b.Add(i, i).Add(i, (next + i * 37 % share) % n);
    alike.Add(i, i, 3).Add(i, (i + share) % n, 2);
  }
  for (const char *format : {"dia", "ell", "stencil"}) {
    const Problem p = strcmp(format, "stencil") ? b : alike;
    // ell holds one entry a row without any padding; on a GPU products of stencil may take csr's ghosts
    const bool        refused = strcmp(format, "ell") && (strcmp(format, "stencil") || device);
    const std::string head    = "sparsegpu [" + std::to_string(PetscGlobalSize - 1) + "] ";
    PetscCall(CreateMatrix(PETSC_COMM_WORLD, p, MATSPARSEGPU, format, Layout::Even, &A));
    PetscCall(CheckProducts(A, p, std::string("off-diagonal block, ") + format));
    PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO, "view_off_diagonal", &text));
    if (PetscGlobalRank == 0)
      PetscCall(CheckText(
          "view", text,
          {std::string("format ") + format + ", off-diagonal blocks " + (refused ? "csr," : std::string(format) + ","),
           refused ? format + std::string(", which was asked for, refuses 3 blocks") : "(asked for)"}));
    PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO_DETAIL, "view_off_diagonal", &text));
    if (PetscGlobalRank == 0) {
      PetscCall(CheckText("view", text, {head + "diagonal block: format: " + format + " "}));
      PetscCall(CheckText("view", text,
                          {head + "off-diagonal block: format: " + (refused ? "csr " : std::string(format) + " ")}));
      if (refused) PetscCall(CheckText("view", text, {format + std::string(" refuses this off-diagonal block")}));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Blocks that differ are counted: rank 0's has four diagonals, the others' entries are scattered.
static PetscErrorCode Differing()
{
  const PetscInt       share = 40000, n = share * PetscGlobalSize;
  conformance::Builder b("differing_blocks", n, n);
  std::string          text;
  Mat                  A;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt at = i % share;
    b.Add(i, i);
    for (PetscInt k = 1; k < 4; ++k)
      if (i >= share)
        b.Add(i, i - at + (at + k + i * (7 + k) % 31607) % share);
      else if (at + k < share)
        b.Add(i, i + k);
  }
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, b, MATSPARSEGPU, "auto", Layout::Even, &A));
  PetscCall(MatSparseGPUSetBackend(A, "kokkos"));
  PetscCall(ViewText(A, PETSC_VIEWER_ASCII_INFO, "view_differing", &text));
  if (PetscGlobalRank == 0) {
    const size_t at = text.find("sparsegpu: ");
    PetscCall(CheckText("view", text, {"sparsegpu: format csr on 2 of 3 ranks, dia on 1, backend kokkos (auto: 0."}));
    PetscCheck(text.find("sparsegpu: ", at + 1) == std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Not one line in\n%s", text.c_str());
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In the formats that print entries the text is aij's, our type's name apart.
static PetscErrorCode Entries()
{
  const Problem p = conformance::Banded("bands_20", 20, 17, {-9, 0, 1});
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
  return Main(argc, argv, help,
              {{"line", OneLine},
               {"facts", Facts},
               {"differing", Differing},
               {"off_diagonal", OffDiagonal},
               {"entries", Entries}});
}
