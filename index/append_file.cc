#include "index/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "index/index_manifest.h"

namespace waymark {
namespace {

std::array<uint8_t, 8> BigEndian(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  for (size_t i = 8; i-- > 0; value >>= 8) bytes[i] = static_cast<uint8_t>(value);
  return bytes;
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path) : path_(std::move(path)), buffer_(kRoom) {
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) Fail("cannot be made");
}

AppendFile::~AppendFile() {
  if (file_ >= 0) close(file_);
}

void AppendFile::AppendBigEndian32(uint32_t value) {
  Append(absl::MakeConstSpan(BigEndian(value)).subspan(4));
}

void AppendFile::AppendBigEndian64(uint64_t value) { Append(absl::MakeConstSpan(BigEndian(value))); }

void AppendFile::OverwriteBigEndian64(uint64_t offset, uint64_t value) {
  Flush();
  if (!status_.ok()) return;
  const std::array<uint8_t, 8> bytes = BigEndian(value);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t wrote =
        pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return Fail("cannot be written");
    done += static_cast<size_t>(wrote);
  }
}

absl::Status AppendFile::Close() {
  Flush();
  // What a file system found out late.
  if (file_ >= 0 && close(std::exchange(file_, -1)) != 0) Fail("cannot be closed");
  return status_;
}

void AppendFile::Flush() {
  Write(buffer_.data(), used_);
  used_ = 0;
}

void AppendFile::AppendLong(absl::Span<const uint8_t> bytes) {
  Flush();
  Write(bytes.data(), bytes.size());
}

void AppendFile::Write(const uint8_t* bytes, size_t size) {
  written_ += size;
  for (size_t done = 0; done < size && status_.ok();) {
    const ssize_t wrote = write(file_, bytes + done, size - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return Fail("cannot be written");
    done += static_cast<size_t>(wrote);
  }
}

void AppendFile::Fail(const char* what) {
  if (status_.ok()) status_ = FileError(absl::StatusCode::kInternal, path_, what);
}

}  // namespace waymark
