#include "index/index_folder.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "index/index_manifest.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;
constexpr int kDamagedKept = 3;

fs::path Beside(const fs::path& folder, const std::string& ending) { return folder.string() + ending; }

absl::Status Rename(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("cannot rename ", from.string(), " to ", to.string(), ": ", error.message()));
}

absl::Status Remove(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot remove ", folder.string(), ": ", error.message()));
}

// Of the folder and of its rebuild.
std::vector<fs::path> PartsBeside(const fs::path& folder) {
  std::vector<fs::path> parts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    for (const fs::path& of : {folder, BuildingFolder(folder)}) {
      if (name.starts_with(of.filename().string() + ".part-")) parts.push_back(entry.path());
    }
  }
  return parts;
}

// The numbers N of <folder>.damaged-N.
std::vector<int> DamagedNumbers(const fs::path& folder) {
  std::vector<int> numbers;
  const std::string prefix = folder.filename().string() + ".damaged-";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    if (name.starts_with(prefix) &&
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number).ec == std::errc()) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

fs::path IndexFolder(const fs::path& data, Scope scope) {
  return data / "index" / absl::StrCat(scope.tenant, "-", scope.collection);
}

fs::path BuildingFolder(const fs::path& folder) { return Beside(folder, ".building"); }

fs::path PartFolder(const fs::path& folder, size_t part) {
  return Beside(folder, absl::StrCat(".part-", part));
}

absl::Status TidyIndexFolder(const fs::path& folder) {
  if (!fs::exists(folder) && fs::exists(BuildingFolder(folder) / kManifestName)) {
    if (absl::Status status = Rename(BuildingFolder(folder), folder); !status.ok()) return status;
  }
  if (absl::Status status = Remove(BuildingFolder(folder)); !status.ok()) return status;
  for (const fs::path& part : PartsBeside(folder)) {
    if (absl::Status status = Remove(part); !status.ok()) return status;
  }
  return Remove(Beside(folder, ".old"));
}

absl::StatusOr<fs::path> SetAside(const fs::path& folder) {
  std::vector<int> numbers = DamagedNumbers(folder);
  const int next = numbers.empty() ? 1 : numbers.back() + 1;
  const fs::path aside = Beside(folder, absl::StrCat(".damaged-", next));
  if (absl::Status status = Rename(folder, aside); !status.ok()) return status;
  for (size_t i = 0; i + kDamagedKept - 1 < numbers.size(); ++i) {
    if (absl::Status status = Remove(Beside(folder, absl::StrCat(".damaged-", numbers[i]))); !status.ok()) {
      return status;
    }
  }
  return aside;
}

absl::Status SwapInBuilding(const fs::path& folder) {
  const fs::path old = Beside(folder, ".old");
  if (absl::Status status = Remove(old); !status.ok()) return status;
  if (fs::exists(folder)) {
    if (absl::Status status = Rename(folder, old); !status.ok()) return status;
  }
  if (absl::Status status = Rename(BuildingFolder(folder), folder); !status.ok()) return status;
  return Remove(old);
}

}  // namespace waymark
