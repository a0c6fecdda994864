#include "catalog/columns_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "catalog/column_bytes.h"

namespace waymark {
namespace {

constexpr std::string_view kMagic = "WMCOLUMN";
constexpr uint32_t kVersion = 1;
constexpr size_t kPrefixBytes = 24, kBlockHeadBytes = 16;
// More than any schema has fields.
constexpr uint32_t kMostBlocks = 1u << 16;

absl::Status SystemError(const std::filesystem::path& file, const char* what) {
  const std::string message = absl::StrCat(what, " ", file.string(), ": ", std::strerror(errno));
  return errno == ENOSPC || errno == EDQUOT ? absl::ResourceExhaustedError(message)
                                            : absl::UnavailableError(message);
}

// A file that is being written; closed whatever happens.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& file)
      : file_(file), fd_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {}
  ~OutputFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OutputFile(const OutputFile&) = delete;

  absl::Status Append(std::string_view bytes) {
    if (fd_ < 0) return SystemError(file_, "cannot make");
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return SystemError(file_, "cannot write");
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }
  absl::Status Block(uint64_t number, std::string_view bytes) {
    std::string head;
    ByteWriter writer(&head);
    writer.Put<uint64_t>(bytes.size());
    writer.Put<uint64_t>(XXH3_64bits_withSeed(bytes.data(), bytes.size(), number));
    if (absl::Status status = Append(head); !status.ok()) return status;
    return Append(bytes);
  }
  absl::Status Sync() { return ::fsync(fd_) == 0 ? absl::OkStatus() : SystemError(file_, "cannot sync"); }

 private:
  std::filesystem::path file_;
  int fd_;
};

absl::Status SyncFolder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return SystemError(folder, "cannot open");
  const bool synced = ::fsync(fd) == 0;
  ::close(fd);
  return synced ? absl::OkStatus() : SystemError(folder, "cannot sync");
}

absl::Status Damaged(const std::filesystem::path& file, const std::string& where) {
  return absl::DataLossError(absl::StrCat(file.string(), ": ", where));
}

absl::StatusOr<ColumnsHeader> ParseHeader(const std::filesystem::path& file, std::string_view bytes) {
  ByteReader reader(bytes);
  ColumnsHeader header;
  std::string schema;
  if (!reader.Get(&header.epoch) || !reader.Get(&header.position) || !reader.GetText(&schema) ||
      !reader.AtEnd() || !header.schema.ParseFromString(schema)) {
    return Damaged(file, "the header is not one");
  }
  return header;
}

absl::Status WriteBlocks(const std::filesystem::path& file, const ColumnsHeader& header, size_t parts,
                         absl::FunctionRef<absl::Status(size_t part, std::string* out)> write_part) {
  OutputFile out(file);
  std::string bytes(kMagic);
  ByteWriter prefix(&bytes);
  prefix.Put(kVersion);
  prefix.Put(static_cast<uint32_t>(parts + 1));
  prefix.Put<uint64_t>(XXH3_64bits(bytes.data(), bytes.size()));
  if (absl::Status status = out.Append(bytes); !status.ok()) return status;
  bytes.clear();
  ByteWriter head(&bytes);
  head.Put(header.epoch);
  head.Put(header.position);
  head.PutText(header.schema.SerializeAsString());
  if (absl::Status status = out.Block(0, bytes); !status.ok()) return status;
  for (size_t part = 0; part < parts; ++part) {
    bytes.clear();
    if (absl::Status status = write_part(part, &bytes); !status.ok()) return status;
    if (absl::Status status = out.Block(part + 1, bytes); !status.ok()) return status;
  }
  return out.Sync();
}

}  // namespace

absl::Status WriteColumnsFile(const std::filesystem::path& file, const ColumnsHeader& header, size_t parts,
                              absl::FunctionRef<absl::Status(size_t part, std::string* out)> write_part) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot make ", file.parent_path().string(), ": ", error.message()));
  }
  std::filesystem::path fresh = file;
  fresh += ".new";
  absl::Status status = WriteBlocks(fresh, header, parts, write_part);
  if (status.ok()) {
    std::filesystem::rename(fresh, file, error);
    if (error) {
      status = absl::UnavailableError(absl::StrCat("cannot rename ", fresh.string(), ": ", error.message()));
    }
  }
  if (!status.ok()) {
    std::filesystem::remove(fresh, error);
    return status;
  }
  return SyncFolder(file.parent_path());
}

absl::Status ReadColumnsFile(const std::filesystem::path& file,
                             absl::FunctionRef<absl::Status(const ColumnsHeader& header, size_t parts)> start,
                             absl::FunctionRef<absl::Status(size_t part, std::string_view bytes)> part) {
  std::error_code error;
  uint64_t left = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) return absl::NotFoundError(absl::StrCat("no ", file.string()));

  std::string bytes(kPrefixBytes, '\0');
  if (left < kPrefixBytes || !in.read(bytes.data(), kPrefixBytes)) return Damaged(file, "it is cut short");
  left -= kPrefixBytes;
  ByteReader prefix(std::string_view(bytes).substr(kMagic.size()));
  uint32_t version = 0, blocks = 0;
  uint64_t hash = 0;
  prefix.Get(&version);
  prefix.Get(&blocks);
  prefix.Get(&hash);
  if (std::string_view(bytes).substr(0, kMagic.size()) != kMagic || hash != XXH3_64bits(bytes.data(), 16)) {
    return Damaged(file, "its first bytes are not those of a column file");
  }
  if (version > kVersion) {
    return absl::UnimplementedError(
        absl::StrCat(file.string(), " has format ", version, "; this program reads up to ", kVersion));
  }
  if (blocks == 0 || blocks > kMostBlocks) return Damaged(file, "its number of blocks cannot be");
  for (uint32_t block = 0; block < blocks; ++block) {
    char head[kBlockHeadBytes];
    uint64_t length = 0;
    if (left < kBlockHeadBytes || !in.read(head, kBlockHeadBytes)) return Damaged(file, "it is cut short");
    left -= kBlockHeadBytes;
    ByteReader reader(std::string_view(head, kBlockHeadBytes));
    reader.Get(&length);
    reader.Get(&hash);
    if (length > left) return Damaged(file, absl::StrCat("block ", block, " is longer than the file"));
    bytes.resize(length);
    if (!in.read(bytes.data(), static_cast<std::streamsize>(length))) return Damaged(file, "it is cut short");
    left -= length;
    if (XXH3_64bits_withSeed(bytes.data(), length, block) != hash) {
      return Damaged(file, absl::StrCat("block ", block, " does not match its checksum"));
    }
    absl::Status status;
    if (block == 0) {
      absl::StatusOr<ColumnsHeader> header = ParseHeader(file, bytes);
      status = header.ok() ? start(*header, blocks - 1) : header.status();
    } else {
      status = part(block - 1, bytes);
    }
    if (!status.ok()) return status;
  }
  return left == 0 ? absl::OkStatus() : Damaged(file, "there are bytes after its end");
}

}  // namespace waymark
