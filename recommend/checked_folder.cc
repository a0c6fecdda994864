#include "recommend/checked_folder.h"

#include <fstream>
#include <limits>

#include "absl/strings/match.h"
#include "recommend/checked_file.h"
#include "recommend/field_vectors.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;
// Files go while they are looked at when a checkpoint comes between: then they are looked at again.
constexpr int kFolderLooks = 4;

bool Passed(const fs::path& file, const fs::path& folder) {
  const std::string name = file.lexically_relative(folder).string();
  return absl::StrContains(name, ".damaged") || absl::EndsWith(name, ".tmp") || absl::EndsWith(name, ".new");
}

// By the magic that it begins with itself: a wrong one is wrong in the checksum too.
absl::Status CheckFile(const fs::path& file) {
  std::string magic(8, '\0');
  std::ifstream(file, std::ios::binary).read(magic.data(), static_cast<std::streamsize>(magic.size()));
  return CheckedReader::Open(file, magic, std::numeric_limits<uint32_t>::max()).status();
}

void CheckFiles(const fs::path& data, const fs::path& folder, PartCheck* check) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (!entry->is_regular_file(gone) || gone || Passed(entry->path(), folder)) continue;
    const uint64_t size = entry->file_size(gone);
    absl::Status status = CheckFile(entry->path());
    if (absl::IsNotFound(status)) continue;
    ++check->files;
    if (!gone) check->bytes += static_cast<int64_t>(size);
    if (!status.ok()) {
      check->Find(entry->path().lexically_relative(data).string(), std::string(status.message()), kMadeAnew);
    }
  }
}

}  // namespace

void CheckFolder(const fs::path& data, const fs::path& folder, PartCheck* check) {
  CheckFiles(data, folder, check);
}

void CheckVectorFiles(const fs::path& data, Scope scope, PartCheck* check) {
  const fs::path folder = VectorFolder(data, scope);
  CheckFiles(data, folder, check);
  if (!check->clean()) return;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (!entry->is_directory(gone) || Passed(entry->path(), folder)) continue;
    absl::Status status;
    for (int look = 0; look < kFolderLooks; ++look) {
      status = VectorIndex::Verify(entry->path());
      if (status.ok() || absl::IsNotFound(status)) break;
    }
    if (status.ok() || absl::IsNotFound(status)) continue;
    check->Find(entry->path().lexically_relative(data).string(), std::string(status.message()), kMadeAnew);
  }
}

}  // namespace waymark
