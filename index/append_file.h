// A new file that is written from its beginning to its end, through a buffer.
//
//   AppendFile file(folder / "_7.frq");
//   file.AppendVarint(17);
//   absl::Status status = file.Close();
//
// The first error, also that of making the file, is kept: what is appended later is dropped, and Close() says
// it. Not thread-safe.
#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "index/varint.h"

namespace waymark {

class AppendFile {
 public:
  explicit AppendFile(std::filesystem::path path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void AppendByte(uint8_t byte) {
    MakeRoom(1);
    buffer_[used_++] = byte;
  }
  void AppendVarint(uint64_t value) {
    MakeRoom(kLongestVarint);
    used_ = static_cast<size_t>(WriteVarint(value, buffer_.data() + used_) - buffer_.data());
  }
  void Append(absl::Span<const uint8_t> bytes) {
    if (bytes.size() > kRoom) return AppendLong(bytes);
    MakeRoom(bytes.size());
    std::memcpy(buffer_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  void Append(std::string_view text) {
    Append(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  }
  // Most significant byte first.
  void AppendBigEndian32(uint32_t value);
  void AppendBigEndian64(uint64_t value);
  // Writes over bytes that lie in the file already.
  void OverwriteBigEndian64(uint64_t offset, uint64_t value);

  // Bytes so far.
  uint64_t size() const { return written_ + used_; }
  const std::filesystem::path& path() const { return path_; }
  const absl::Status& status() const { return status_; }
  // Without fsync.
  absl::Status Close();

 private:
  static constexpr size_t kRoom = size_t{1} << 16;

  void MakeRoom(size_t bytes) {
    if (buffer_.size() - used_ < bytes) Flush();
  }
  void Flush();
  void AppendLong(absl::Span<const uint8_t> bytes);
  void Write(const uint8_t* bytes, size_t size);
  void Fail(const char* what);

  std::filesystem::path path_;
  int file_;
  std::vector<uint8_t> buffer_;
  size_t used_ = 0;
  uint64_t written_ = 0;
  absl::Status status_;
};

}  // namespace waymark
