#include "compressed.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <lzma.h>
#include <zlib.h>

namespace
{
constexpr size_t Piece = 1 << 16; // bytes read or decompressed at once: they stay in the cache

PetscErrorCode ReadRaw(const char file[], std::string *bytes)
{
  PetscFunctionBeginUser;
  const std::unique_ptr<FILE, int (*)(FILE *)> stream(fopen(file, "rb"), fclose);
  PetscCheck(stream, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: %s", file, strerror(errno));
  for (size_t got = 1, size = 0; got > 0; size += got) {
    PetscCallCXX(bytes->resize(size + Piece));
    got = fread(&(*bytes)[size], 1, Piece, stream.get());
    bytes->resize(size + got);
  }
  PetscCheck(!ferror(stream.get()), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s, byte %zu: %s", file, bytes->size(),
             strerror(errno));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Inflater {
  z_stream state{};
  ~Inflater() { inflateEnd(&state); }
};

/// Appends the decompressed content of the gzip members in `packed`.
PetscErrorCode Gunzip(const char file[], const std::string &packed, std::string *bytes)
{
  Inflater          inflater;
  z_stream         &z    = inflater.state;
  size_t            used = 0;
  std::vector<char> piece;

  PetscFunctionBeginUser;
  PetscCallCXX(piece.resize(Piece)); // reused: there may be a million members of no content
  PetscCheck(inflateInit2(&z, 16 + MAX_WBITS) == Z_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: zlib does not start",
             file); // 16: gzip
  while (used < packed.size()) {
    const size_t offered = std::min(packed.size() - used, size_t{1} << 30);
    z.next_in            = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data() + used));
    z.avail_in           = static_cast<uInt>(offered);
    z.next_out           = reinterpret_cast<Bytef *>(piece.data());
    z.avail_out          = Piece;
    const int code       = inflate(&z, Z_NO_FLUSH);
    used += offered - z.avail_in;
    PetscCallCXX(bytes->append(piece.data(), Piece - z.avail_out));
    if (code == Z_STREAM_END && used == packed.size()) PetscFunctionReturn(PETSC_SUCCESS);
    if (code == Z_STREAM_END)
      inflateReset(&z); // another member follows
    else
      PetscCheck(code == Z_OK, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s, byte %zu: damaged gzip data: %s", file, used,
                 z.msg ? z.msg : "cut short");
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s, byte %zu: the gzip data are cut short", file, used);
}

struct Decoder {
  lzma_stream state = LZMA_STREAM_INIT;
  ~Decoder() { lzma_end(&state); }
};

PetscErrorCode Unxz(const char file[], const std::string &packed, std::string *bytes)
{
  Decoder      decoder;
  lzma_stream &z    = decoder.state;
  lzma_ret     code = LZMA_OK;
  // xz -9 needs 65 MiB, whatever it packs; gzip packs 1000 bytes into one at best, xz 7000
  const uint64_t limit = (uint64_t{256} << 20) + 1000 * uint64_t{packed.size()};
  const size_t   most  = (size_t{1} << 30) + 1000 * packed.size();

  PetscFunctionBeginUser;
  PetscCheck(lzma_stream_decoder(&z, limit, LZMA_CONCATENATED) == LZMA_OK, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "%s: liblzma does not start", file);
  z.next_in  = reinterpret_cast<const uint8_t *>(packed.data());
  z.avail_in = packed.size();
  while (code == LZMA_OK) {
    const size_t size = bytes->size();
    PetscCallCXX(bytes->resize(size + Piece));
    z.next_out  = reinterpret_cast<uint8_t *>(&(*bytes)[size]);
    z.avail_out = Piece;
    code        = lzma_code(&z, LZMA_FINISH);
    bytes->resize(size + Piece - z.avail_out);
    PetscCheck(
        bytes->size() <= most, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
        "%s, byte %zu: %zu bytes of xz data become more than %zu, which matrices do not: unpack the file yourself "
        "if it is right",
        file, static_cast<size_t>(z.total_in), packed.size(), most);
  }
  PetscCheck(
      code != LZMA_MEMLIMIT_ERROR, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
      "%s, byte %zu: %zu bytes of xz data announce a dictionary for which %llu MiB are needed; allowed are %llu: "
      "unpack the file yourself if it is right",
      file, static_cast<size_t>(z.total_in), packed.size(), static_cast<unsigned long long>(lzma_memusage(&z) >> 20),
      static_cast<unsigned long long>(limit >> 20));
  PetscCheck(code == LZMA_STREAM_END, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s, byte %zu: the xz data are %s", file,
             static_cast<size_t>(z.total_in), code == LZMA_BUF_ERROR ? "cut short" : "damaged");
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode ReadWhole(const char file[], std::string *bytes)
{
  std::string raw;

  PetscFunctionBeginUser;
  bytes->clear();
  PetscCall(ReadRaw(file, &raw));
  PetscCheck(!raw.empty(), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s: the file is empty", file);
  if (raw.compare(0, 2, "\x1f\x8b") == 0)
    PetscCall(Gunzip(file, raw, bytes));
  else if (raw.compare(0, 6,
                       std::string("\xfd"
                                   "7zXZ\0",
                                   6)) == 0)
    PetscCall(Unxz(file, raw, bytes));
  else
    *bytes = std::move(raw);
  PetscFunctionReturn(PETSC_SUCCESS);
}
