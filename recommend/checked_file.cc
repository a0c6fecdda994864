#include "recommend/checked_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;
constexpr size_t kMagicBytes = 8;
constexpr size_t kHeaderBytes = kMagicBytes + sizeof(uint32_t);
constexpr size_t kFooterBytes = sizeof(uint64_t);

absl::Status SystemError(const std::filesystem::path& file, int error) {
  const std::string text = absl::StrCat(file.string(), ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(text);
  return absl::UnavailableError(text);
}

bool ReadFully(int fd, uint8_t* bytes, size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(fd, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckedWriter>> CheckedWriter::Create(const std::filesystem::path& file,
                                                                     std::string_view magic,
                                                                     uint32_t version) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  std::unique_ptr<CheckedWriter> writer(new CheckedWriter);
  writer->file_ = file;
  writer->temporary_ = file.string() + ".tmp";
  writer->fd_ = ::open(writer->temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (writer->fd_ < 0) return SystemError(writer->temporary_, errno);
  writer->hash_ = XXH3_createState();
  XXH3_64bits_reset(static_cast<XXH3_state_t*>(writer->hash_));
  writer->buffer_.reserve(kBuffer);
  writer->Write(magic.data(), kMagicBytes);
  writer->Put(version);
  return writer;
}

CheckedWriter::~CheckedWriter() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }
  XXH3_freeState(static_cast<XXH3_state_t*>(hash_));
}

void CheckedWriter::Write(const void* bytes, size_t size) {
  const uint8_t* from = static_cast<const uint8_t*>(bytes);
  XXH3_64bits_update(static_cast<XXH3_state_t*>(hash_), from, size);
  while (size > 0) {
    const size_t part = std::min(size, kBuffer - buffer_.size());
    buffer_.insert(buffer_.end(), from, from + part);
    from += part;
    size -= part;
    if (buffer_.size() == kBuffer) Flush();
  }
}

void CheckedWriter::Flush() {
  const uint8_t* from = buffer_.data();
  size_t size = buffer_.size();
  while (size > 0 && error_ == 0) {
    const ssize_t put = ::write(fd_, from, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      error_ = errno;
      break;
    }
    from += put;
    size -= static_cast<size_t>(put);
  }
  buffer_.clear();
}

uint64_t CheckedWriter::Hash() const { return XXH3_64bits_digest(static_cast<const XXH3_state_t*>(hash_)); }

absl::Status CheckedWriter::Commit() {
  Put<uint64_t>(Hash());
  Flush();
  if (error_ == 0 && ::fsync(fd_) != 0) error_ = errno;
  if (::close(fd_) != 0 && error_ == 0) error_ = errno;
  fd_ = -1;
  if (error_ == 0 && ::rename(temporary_.c_str(), file_.c_str()) != 0) error_ = errno;
  if (error_ != 0) {
    ::unlink(temporary_.c_str());
    return SystemError(file_, error_);
  }
  // The rename itself is durable only once its folder is.
  const int folder = ::open(file_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return SystemError(file_.parent_path(), errno);
  const int synced = ::fsync(folder) == 0 ? 0 : errno;
  ::close(folder);
  return synced == 0 ? absl::OkStatus() : SystemError(file_.parent_path(), synced);
}

absl::StatusOr<std::unique_ptr<CheckedReader>> CheckedReader::Open(const std::filesystem::path& file,
                                                                   std::string_view magic,
                                                                   uint32_t newest_version) {
  std::unique_ptr<CheckedReader> reader(new CheckedReader);
  reader->file_ = file;
  reader->fd_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (reader->fd_ < 0) return SystemError(file, errno);
  struct stat status {};
  if (::fstat(reader->fd_, &status) != 0) return SystemError(file, errno);
  const size_t size = static_cast<size_t>(status.st_size);
  if (size < kHeaderBytes + kFooterBytes) return reader->Damaged("is cut short");

  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  reader->buffer_.resize(kBuffer);
  for (size_t at = 0; at < size - kFooterBytes;) {
    const size_t part = std::min(kBuffer, size - kFooterBytes - at);
    if (!ReadFully(reader->fd_, reader->buffer_.data(), part)) return reader->Damaged("cannot be read");
    if (at == 0) {
      if (std::memcmp(reader->buffer_.data(), magic.data(), kMagicBytes) != 0)
        return reader->Damaged(absl::StrCat("does not begin with ", std::string(magic)));
      std::memcpy(&reader->version_, reader->buffer_.data() + kMagicBytes, sizeof(uint32_t));
    }
    XXH3_64bits_update(state.get(), reader->buffer_.data(), part);
    at += part;
  }
  uint64_t stored = 0;
  if (!ReadFully(reader->fd_, reinterpret_cast<uint8_t*>(&stored), sizeof(stored)))
    return reader->Damaged("is cut short");
  reader->hash_ = XXH3_64bits_digest(state.get());
  if (reader->hash_ != stored) return reader->Damaged("does not have the checksum that it was written with");
  if (reader->version_ > newest_version)
    return absl::FailedPreconditionError(absl::StrCat(file.string(), " has format version ", reader->version_,
                                                      "; this program reads up to ", newest_version));
  if (::lseek(reader->fd_, kHeaderBytes, SEEK_SET) < 0) return SystemError(file, errno);
  reader->at_ = kHeaderBytes;
  reader->end_ = size - kFooterBytes;
  reader->buffer_.clear();
  return reader;
}

CheckedReader::~CheckedReader() {
  if (fd_ >= 0) ::close(fd_);
}

absl::Status CheckedReader::Read(void* bytes, size_t size) {
  if (size > remaining()) return Damaged("ends before its content does");
  uint8_t* to = static_cast<uint8_t*>(bytes);
  at_ += size;
  while (size > 0) {
    if (buffer_at_ == buffer_.size()) {
      // What is left of the payload in the file: at_ has already moved over what this call takes.
      const size_t left = static_cast<size_t>(end_ - at_) + size;
      buffer_.resize(std::min(kBuffer, left));
      buffer_at_ = 0;
      if (!ReadFully(fd_, buffer_.data(), buffer_.size())) return Damaged("cannot be read");
    }
    const size_t part = std::min(size, buffer_.size() - buffer_at_);
    std::memcpy(to, buffer_.data() + buffer_at_, part);
    buffer_at_ += part;
    to += part;
    size -= part;
  }
  return absl::OkStatus();
}

absl::Status CheckedReader::GetText(std::string* text) {
  std::vector<char> bytes;
  if (absl::Status s = GetArray(&bytes); !s.ok()) return s;
  text->assign(bytes.begin(), bytes.end());
  return absl::OkStatus();
}

absl::Status CheckedReader::Damaged(std::string_view what) const {
  return absl::DataLossError(absl::StrCat(file_.string(), " ", std::string(what)));
}

std::string SetAsideDamaged(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return "nothing";
  const std::filesystem::path aside = path.string() + ".damaged";
  std::filesystem::remove_all(aside, error);
  std::filesystem::rename(path, aside, error);
  return error ? absl::StrCat("(cannot be renamed: ", error.message(), ")") : aside.string();
}

}  // namespace waymark
