#include "store/rows/row_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace waymark {

namespace {
constexpr size_t kFlushBytes = 256 << 10;
constexpr size_t kPackedBytes = 128 << 10;
}  // namespace

class RowWriter::Packer {
 public:
  using Sink = std::function<absl::Status(absl::string_view)>;
  virtual ~Packer() = default;
  virtual absl::Status Pack(absl::string_view text, bool end, const Sink& sink) = 0;
};

class RowWriter::GzipPacker : public RowWriter::Packer {
 public:
  GzipPacker() { deflateInit2(&stream_, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY); }
  ~GzipPacker() override { deflateEnd(&stream_); }
  absl::Status Pack(absl::string_view text, bool end, const Sink& sink) override {
    std::string packed(kPackedBytes, '\0');
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    int code;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream_.avail_out = static_cast<uInt>(packed.size());
      code = deflate(&stream_, end ? Z_FINISH : Z_NO_FLUSH);
      if (code == Z_STREAM_ERROR) return absl::InternalError("gzip refused to pack");
      auto status = sink(absl::string_view(packed.data(), packed.size() - stream_.avail_out));
      if (!status.ok()) return status;
    } while (stream_.avail_out == 0 || (end && code != Z_STREAM_END));
    return absl::OkStatus();
  }

 private:
  z_stream stream_ = {};
};

class RowWriter::ZstdPacker : public RowWriter::Packer {
 public:
  ZstdPacker() : stream_(ZSTD_createCStream()) { ZSTD_CCtx_setParameter(stream_, ZSTD_c_checksumFlag, 1); }
  ~ZstdPacker() override { ZSTD_freeCStream(stream_); }
  absl::Status Pack(absl::string_view text, bool end, const Sink& sink) override {
    std::string packed(kPackedBytes, '\0');
    ZSTD_inBuffer input = {text.data(), text.size(), 0};
    while (true) {
      ZSTD_outBuffer output = {packed.data(), packed.size(), 0};
      const size_t left = ZSTD_compressStream2(stream_, &output, &input, end ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left)) return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(left)));
      auto status = sink(absl::string_view(packed.data(), output.pos));
      if (!status.ok()) return status;
      if (end ? left == 0 : input.pos == input.size) return absl::OkStatus();
    }
  }

 private:
  ZSTD_CStream* stream_;
};

RowWriter::RowWriter(std::string path, int descriptor, std::unique_ptr<Packer> packer)
    : path_(std::move(path)), descriptor_(descriptor), packer_(std::move(packer)) {}

absl::StatusOr<std::unique_ptr<RowWriter>> RowWriter::Open(const std::string& path) {
  if (path == "-") return std::unique_ptr<RowWriter>(new RowWriter(path, STDOUT_FILENO, nullptr));
  // A device, a pipe or a link is written to. Renaming onto it would put a file in its place.
  struct stat info = {};
  const bool in_place = lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  const std::string opened = in_place ? path : path + ".part";
  const int descriptor = open(opened.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", opened));
  std::unique_ptr<Packer> packer;
  if (absl::EndsWithIgnoreCase(path, ".gz")) packer = std::make_unique<GzipPacker>();
  if (absl::EndsWithIgnoreCase(path, ".zst")) packer = std::make_unique<ZstdPacker>();
  auto writer = std::unique_ptr<RowWriter>(new RowWriter(path, descriptor, std::move(packer)));
  writer->in_place_ = in_place;
  return writer;
}

RowWriter::~RowWriter() {
  if (closed_ || path_ == "-") return;
  close(descriptor_);
  if (!in_place_) unlink((path_ + ".part").c_str());
}

absl::Status RowWriter::WriteOut(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return absl::ErrnoToStatus(errno,
                                 absl::StrCat("writing ", path_ == "-" ? "to standard output" : path_));
    }
    bytes.remove_prefix(written);
  }
  return absl::OkStatus();
}

absl::Status RowWriter::Drain(bool end) {
  absl::Status status;
  if (packer_ == nullptr) {
    status = WriteOut(buffer_);
  } else {
    status = packer_->Pack(buffer_, end, [this](absl::string_view bytes) { return WriteOut(bytes); });
  }
  buffer_.clear();
  return status;
}

absl::Status RowWriter::WriteLine(absl::string_view line) {
  absl::StrAppend(&buffer_, line, "\n");
  ++lines_;
  return buffer_.size() < kFlushBytes ? absl::OkStatus() : Drain(/*end=*/false);
}

absl::Status RowWriter::Close() {
  if (auto status = Drain(/*end=*/true); !status.ok()) return status;
  if (path_ == "-") return absl::OkStatus();
  // Devices and pipes know nothing of fsync.
  if (fsync(descriptor_) != 0 && !in_place_) {
    return absl::ErrnoToStatus(errno, absl::StrCat("writing ", path_));
  }
  if (close(descriptor_) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("writing ", path_));
  closed_ = true;
  if (in_place_) return absl::OkStatus();
  if (std::rename((path_ + ".part").c_str(), path_.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot give ", path_, ".part its name"));
  }
  return absl::OkStatus();
}

}  // namespace waymark
