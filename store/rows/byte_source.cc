#include "store/rows/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace waymark {
namespace {

constexpr size_t kInputBytes = 256 << 10;

// The file itself, with a buffer that can be looked at before it is taken.
class RawFile {
 public:
  RawFile(int descriptor, std::string name, std::optional<int64_t> total)
      : descriptor_(descriptor), name_(std::move(name)), total_(total), buffer_(kInputBytes) {}
  ~RawFile() {
    if (descriptor_ > 0) close(descriptor_);
  }
  RawFile(const RawFile&) = delete;

  // What has been read and not been taken; reads on when that is less than `least`. Shorter only at the end.
  absl::StatusOr<absl::string_view> Peek(size_t least) {
    while (end_ - begin_ < least && !at_end_) {
      if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
      }
      const ssize_t got = read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
      if (got < 0) {
        // The program has been asked to stop, and a pipe may stay silent for long.
        if (errno == EINTR) return absl::CancelledError("reading was interrupted");
        return absl::ErrnoToStatus(errno, absl::StrCat("reading ", name_));
      }
      at_end_ = got == 0;
      end_ += got;
      bytes_read_ += got;
    }
    return absl::string_view(buffer_.data() + begin_, end_ - begin_);
  }
  void Take(size_t bytes) { begin_ += bytes; }

  const std::string& name() const { return name_; }
  int64_t bytes_read() const { return bytes_read_; }
  std::optional<int64_t> total() const { return total_; }

 private:
  int descriptor_;
  std::string name_;
  std::optional<int64_t> total_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool at_end_ = false;
  int64_t bytes_read_ = 0;
};

class SourceOfFile : public ByteSource {
 public:
  explicit SourceOfFile(std::unique_ptr<RawFile> file) : file_(std::move(file)) {}
  int64_t bytes_read() const override { return file_->bytes_read(); }
  std::optional<int64_t> total_bytes() const override { return file_->total(); }

 protected:
  absl::Status Damaged(absl::string_view packing, absl::string_view what) const {
    return absl::DataLossError(absl::StrCat(file_->name(), ": its ", packing, " data ", what, ", after ",
                                            file_->bytes_read(), " bytes"));
  }
  std::unique_ptr<RawFile> file_;
};

class PlainSource : public SourceOfFile {
 public:
  using SourceOfFile::SourceOfFile;
  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    auto input = file_->Peek(1);
    if (!input.ok()) return input.status();
    const size_t taken = std::min(size, input->size());
    std::memcpy(out, input->data(), taken);
    file_->Take(taken);
    return taken;
  }
};

class GzipSource : public SourceOfFile {
 public:
  explicit GzipSource(std::unique_ptr<RawFile> file) : SourceOfFile(std::move(file)) {
    inflateInit2(&stream_, 15 + 16);
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1 << 30));
    const size_t room = stream_.avail_out;
    while (stream_.avail_out == room) {
      auto input = file_->Peek(1);
      if (!input.ok()) return input.status();
      if (input->empty()) {
        if (inside_member_) return Damaged("gzip", "ends in the middle");
        return size_t{0};
      }
      inside_member_ = true;
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input->data()));
      stream_.avail_in = static_cast<uInt>(input->size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      file_->Take(input->size() - stream_.avail_in);
      if (code == Z_STREAM_END) {  // another member may follow
        inside_member_ = false;
        inflateReset(&stream_);
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return Damaged("gzip", absl::StrCat("is damaged (", stream_.msg ? stream_.msg : "no detail", ")"));
      }
    }
    return room - stream_.avail_out;
  }

 private:
  z_stream stream_ = {};
  bool inside_member_ = false;
};

class ZstdSource : public SourceOfFile {
 public:
  explicit ZstdSource(std::unique_ptr<RawFile> file)
      : SourceOfFile(std::move(file)), stream_(ZSTD_createDStream()) {}
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    ZSTD_outBuffer output = {out, size, 0};
    while (output.pos == 0) {
      auto peeked = file_->Peek(1);
      if (!peeked.ok()) return peeked.status();
      ZSTD_inBuffer input = {peeked->data(), peeked->size(), 0};
      if (input.size == 0 && !inside_frame_) return size_t{0};
      const size_t code = ZSTD_decompressStream(stream_, &output, &input);
      if (ZSTD_isError(code)) {
        return Damaged("zstd", absl::StrCat("is damaged (", ZSTD_getErrorName(code), ")"));
      }
      file_->Take(input.pos);
      inside_frame_ = code != 0;
      if (peeked->empty() && output.pos == 0) return Damaged("zstd", "ends in the middle");
    }
    return output.pos;
  }

 private:
  ZSTD_DStream* stream_;
  bool inside_frame_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(const std::string& path) {
  int descriptor = STDIN_FILENO;
  std::string name = "standard input";
  if (path != "-") {
    name = path;
    descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  struct stat info = {};
  std::optional<int64_t> total;
  if (fstat(descriptor, &info) == 0) {
    if (S_ISDIR(info.st_mode)) {
      if (descriptor != STDIN_FILENO) close(descriptor);
      return absl::InvalidArgumentError(absl::StrCat(name, " is a folder, not a file"));
    }
    if (S_ISREG(info.st_mode)) total = info.st_size;
  }
  auto file = std::make_unique<RawFile>(descriptor, name, total);
  auto start = file->Peek(4);
  if (!start.ok()) return start.status();
  if (start->substr(0, 2) == "\x1f\x8b") return std::make_unique<GzipSource>(std::move(file));
  if (start->substr(0, 4) == "\x28\xb5\x2f\xfd") return std::make_unique<ZstdSource>(std::move(file));
  return std::make_unique<PlainSource>(std::move(file));
}

}  // namespace waymark
