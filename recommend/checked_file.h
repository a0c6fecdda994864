// Files of our own: a magic, a format version, a payload, an XXH3 checksum. Written beside the old one, then
// fsynced and renamed, so that a reader sees either the old or the new; read only after the checksum holds.
//
//   auto writer = CheckedWriter::Create(file, "WMCOUNTS", 1);
//   (*writer)->Put<uint32_t>(7);
//   (*writer)->Commit();
//
// Layout: magic [8] · version u32 · payload · XXH3-64 of everything before, u64; little-endian.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waymark {

class CheckedWriter {
 public:
  // `magic`: 8 bytes.
  static absl::StatusOr<std::unique_ptr<CheckedWriter>> Create(const std::filesystem::path& file,
                                                               std::string_view magic, uint32_t version);
  // Removes the unfinished file when Commit() was not called.
  ~CheckedWriter();

  // Errors are kept and answered by Commit().
  void Write(const void* bytes, size_t size);
  template <typename T>
  void Put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Write(&value, sizeof(T));
  }
  // u64 length, then the elements.
  template <typename T>
  void PutArray(absl::Span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    Put<uint64_t>(values.size());
    Write(values.data(), values.size() * sizeof(T));
  }
  void PutText(std::string_view text) { PutArray<char>(absl::MakeConstSpan(text.data(), text.size())); }
  // RESOURCE_EXHAUSTED: no space; else UNAVAILABLE with the file and the system's words.
  absl::Status Commit();
  // Of everything written so far.
  uint64_t Hash() const;

 private:
  CheckedWriter() = default;
  void Flush();
  std::filesystem::path file_, temporary_;
  int fd_ = -1;
  int error_ = 0;
  void* hash_ = nullptr;
  std::vector<uint8_t> buffer_;
};

class CheckedReader {
 public:
  // NOT_FOUND; DATA_LOSS: no such magic, cut short, checksum; FAILED_PRECONDITION: a version above
  // `newest_version`.
  static absl::StatusOr<std::unique_ptr<CheckedReader>> Open(const std::filesystem::path& file,
                                                             std::string_view magic, uint32_t newest_version);
  ~CheckedReader();

  uint32_t version() const { return version_; }
  uint64_t hash() const { return hash_; }
  uint64_t remaining() const { return end_ - at_; }
  // DATA_LOSS past the end.
  absl::Status Read(void* bytes, size_t size);
  template <typename T>
  absl::Status Get(T* value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return Read(value, sizeof(T));
  }
  // The length is held against what the file has left before anything is allocated.
  template <typename T>
  absl::Status GetArray(std::vector<T>* values) {
    uint64_t length = 0;
    if (absl::Status s = Get(&length); !s.ok()) return s;
    if (length > remaining() / sizeof(T)) return Damaged("a length is beyond the file's end");
    values->resize(length);
    return Read(values->data(), length * sizeof(T));
  }
  absl::Status GetText(std::string* text);
  // DATA_LOSS with the file's name.
  absl::Status Damaged(std::string_view what) const;

 private:
  CheckedReader() = default;
  std::filesystem::path file_;
  int fd_ = -1;
  uint32_t version_ = 0;
  uint64_t hash_ = 0, at_ = 0, end_ = 0;
  std::vector<uint8_t> buffer_;
  size_t buffer_at_ = 0;
};

// Renames a file or folder that is damaged to <name>.damaged, where one that stood there before goes, and
// answers that name; when it cannot, what the system says. What is not there stays so: «nothing».
std::string SetAsideDamaged(const std::filesystem::path& path);

}  // namespace waymark
