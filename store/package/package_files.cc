#include "store/package/package_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

absl::Status Failed(const std::filesystem::path& path, const char* doing) {
  const int code = errno;
  const std::string text = absl::StrCat(path.string(), ": ", doing, ": ", std::strerror(code));
  if (code == ENOSPC || code == EDQUOT) return absl::ResourceExhaustedError(text + "; free space there");
  return absl::FailedPreconditionError(text);
}

absl::Status WriteAll(int file, const std::filesystem::path& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(path, "writing");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteSyncedFile(const std::filesystem::path& file, absl::Span<const std::string_view> parts) {
  const int out = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (out < 0) return Failed(file, "creating");
  absl::Status status;
  for (std::string_view part : parts) {
    if (status.ok()) status = WriteAll(out, file, part);
  }
  if (status.ok() && fsync(out) != 0) status = Failed(file, "syncing");
  if (close(out) != 0 && status.ok()) status = Failed(file, "closing");
  return status;
}

absl::Status SyncFolder(const std::filesystem::path& folder) {
  const int handle = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return Failed(folder, "opening");
  absl::Status status = fsync(handle) == 0 ? absl::OkStatus() : Failed(folder, "syncing");
  close(handle);
  return status;
}

absl::StatusOr<std::string> ReadWholeFile(const std::filesystem::path& file, uint64_t max_bytes) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(file, error);
  if (error) return absl::DataLossError(absl::StrCat(file.string(), ": ", error.message()));
  if (size > max_bytes) {
    return absl::DataLossError(
        absl::StrCat(file.string(), " is ", size, " bytes, which is more than the ", max_bytes, " taken"));
  }
  std::string bytes(size, '\0');
  std::ifstream in(file, std::ios::binary);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size)) && size > 0) {
    return absl::DataLossError(absl::StrCat(file.string(), " cannot be read to its end"));
  }
  return bytes;
}

}  // namespace waymark
