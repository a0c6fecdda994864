#include "training/shards/shard_packing.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr int kZstdLevel = 3;
constexpr int kGzipWindow = 15 + 16;  // zlib's way to say gzip
constexpr size_t kZlibStep = size_t{1} << 30;

absl::StatusOr<std::string> Gzip(std::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return absl::ResourceExhaustedError("gzip: no memory");
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  size_t read = 0, written = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    const size_t in = std::min(kZlibStep, bytes.size() - read),
                 room = std::min(kZlibStep, out.size() - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    code = deflate(&stream, read + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += room - stream.avail_out;
  }
  deflateEnd(&stream);
  if (code != Z_STREAM_END) return absl::InternalError(absl::StrCat("gzip: zlib answers ", code));
  out.resize(written);
  return out;
}

absl::Status WrongLength(std::string_view packing, uint64_t raw_bytes) {
  return absl::DataLossError(absl::StrCat("is damaged: its ", std::string(packing),
                                          " stream does not unpack to the ", raw_bytes,
                                          " bytes that the index says"));
}

absl::StatusOr<std::string> Gunzip(std::string_view bytes, uint64_t raw_bytes) {
  z_stream stream = {};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) return absl::ResourceExhaustedError("gzip: no memory");
  std::string out(raw_bytes + 1, '\0');  // one more shows that there is more
  size_t read = 0, written = 0;
  int code = Z_OK;
  while (code == Z_OK && written < out.size()) {
    const size_t in = std::min(kZlibStep, bytes.size() - read),
                 room = std::min(kZlibStep, out.size() - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    code = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END || written != raw_bytes || read != bytes.size()) {
    return WrongLength("gzip", raw_bytes);
  }
  out.resize(written);
  return out;
}

}  // namespace

absl::StatusOr<ShardPacking> ShardPackingOf(std::string_view name) {
  for (ShardPacking packing : {ShardPacking::kNone, ShardPacking::kGzip, ShardPacking::kZstd}) {
    if (name == NameOf(packing)) return packing;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no compression '", std::string(name), "'; there are none, gzip and zstd"));
}

const char* NameOf(ShardPacking packing) {
  switch (packing) {
    case ShardPacking::kNone:
      return "none";
    case ShardPacking::kGzip:
      return "gzip";
    case ShardPacking::kZstd:
      return "zstd";
  }
  return "none";
}

const char* EndingOf(ShardPacking packing) {
  switch (packing) {
    case ShardPacking::kNone:
      return ".tfrecord";
    case ShardPacking::kGzip:
      return ".tfrecord.gz";
    case ShardPacking::kZstd:
      return ".tfrecord.zst";
  }
  return ".tfrecord";
}

absl::StatusOr<std::string> Pack(ShardPacking packing, std::string_view bytes) {
  if (packing == ShardPacking::kNone) return std::string(bytes);
  if (packing == ShardPacking::kGzip) return Gzip(bytes);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kZstdLevel);
  if (ZSTD_isError(size)) return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

absl::StatusOr<std::string> Unpack(ShardPacking packing, std::string_view bytes, uint64_t raw_bytes) {
  if (packing == ShardPacking::kGzip) return Gunzip(bytes, raw_bytes);
  if (packing == ShardPacking::kNone) {
    if (bytes.size() != raw_bytes) return WrongLength("plain", raw_bytes);
    return std::string(bytes);
  }
  std::string out(raw_bytes, '\0');
  const size_t size = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) || size != raw_bytes) return WrongLength("zstd", raw_bytes);
  return out;
}

}  // namespace waymark
