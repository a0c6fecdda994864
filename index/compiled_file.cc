#include "index/compiled_file.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "index/compiled_image.h"
#include "index/huge_pages.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;
constexpr char kEnding[] = ".postings";
constexpr size_t kLargest = size_t{1} << 40;

absl::Status WriteDurably(const fs::path& path, absl::Span<const uint8_t> bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return FileError(absl::StatusCode::kInternal, path, "cannot be made");
  const absl::Cleanup close_file = [file] { close(file); };
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = write(file, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return FileError(absl::StatusCode::kInternal, path, "cannot be written");
    done += static_cast<size_t>(wrote);
  }
  return fsync(file) == 0 ? absl::OkStatus() : FileError(absl::StatusCode::kInternal, path, "fsync");
}

}  // namespace

std::map<std::string, std::string> CompiledNames(const IndexManifest& manifest) {
  std::map<std::string, std::string> contents;  // segment -> names, sizes and hashes of its files
  for (const IndexedFile& file : manifest.files) {
    const size_t dot = file.name.find('.');
    // "_7.frq", not "_7_2.del": deletions change, postings don't.
    if (file.name[0] != '_' || dot == std::string::npos || file.name.rfind('_') != 0) continue;
    absl::StrAppend(&contents[file.name.substr(0, dot)], file.name, " ", file.size, " ", file.hash, "\n");
  }
  std::map<std::string, std::string> names;
  for (const auto& [segment, text] : contents) {
    names[segment] = absl::StrCat(
        segment, "-", absl::Hex(XXH3_64bits(text.data(), text.size()), absl::kZeroPad16), kEnding);
  }
  return names;
}

absl::StatusOr<std::shared_ptr<const CompiledSegment>> ReadCompiled(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return FileError(errno == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kDataLoss, path,
                     "cannot be opened");
  }
  const absl::Cleanup close_file = [file] { close(file); };
  struct stat about;
  if (fstat(file, &about) != 0) return FileError(absl::StatusCode::kDataLoss, path, "cannot be read");
  const auto size = static_cast<size_t>(about.st_size);
  if (size == 0) return absl::DataLossError(path.string() + ": empty");
  if (size > kLargest) return absl::DataLossError(path.string() + ": longer than a compiled segment can be");
  auto bytes = std::make_shared<HugePageVector<uint8_t>>(size);
  for (size_t done = 0; done < size;) {
    const ssize_t got = read(file, bytes->data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(absl::StatusCode::kDataLoss, path, "cannot be read");
    if (got == 0) return absl::DataLossError(path.string() + ": cut short");
    done += static_cast<size_t>(got);
  }
  auto segment = CompiledImage::Open({bytes->data(), size}, bytes);
  if (segment.ok()) return segment;
  return absl::Status(segment.status().code(), absl::StrCat(path.string(), ": ", segment.status().message()));
}

std::vector<LiveSegment> LoadCompiled(const fs::path& folder, const IndexManifest& manifest,
                                      std::string* damage) {
  std::vector<LiveSegment> segments;
  for (const auto& [name, file] : CompiledNames(manifest)) {
    auto compiled = ReadCompiled(folder / file);
    if (compiled.ok() && (*compiled)->name() == name) {
      segments.push_back({*std::move(compiled), nullptr});
    } else if (!absl::IsNotFound(compiled.status())) {
      std::error_code error;
      fs::remove(folder / file, error);
      *damage = compiled.ok() ? absl::StrCat(file, ": of another segment")
                              : std::string(compiled.status().message());
      spdlog::warn("keyword index {}: {}; compiled again from its segment", folder.string(), *damage);
    }
  }
  return segments;
}

absl::Status KeepCompiled(const fs::path& folder, const IndexManifest& manifest,
                          const std::vector<LiveSegment>& segments) {
  const std::map<std::string, std::string> names = CompiledNames(manifest);
  std::set<std::string> wanted;
  for (const LiveSegment& segment : segments) {
    const auto name = names.find(segment.postings->name());
    if (name == names.end()) continue;  // not committed
    wanted.insert(name->second);
    const fs::path path = folder / name->second, fresh = path.string() + ".new";
    if (fs::exists(path)) continue;
    if (absl::Status status = WriteDurably(fresh, segment.postings->image()); !status.ok()) return status;
    if (std::rename(fresh.c_str(), path.c_str()) != 0) {
      return FileError(absl::StatusCode::kInternal, fresh, "cannot be renamed");
    }
  }
  std::error_code error;
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.find(kEnding) != std::string::npos && !wanted.contains(name)) others.push_back(entry.path());
  }
  for (const fs::path& other : others) fs::remove(other, error);
  return absl::OkStatus();
}

}  // namespace waymark
