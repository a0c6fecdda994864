#include "app/package_parts.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"

namespace waymark {

namespace {
constexpr size_t kPartBytes = size_t{1} << 20;
}

absl::Status ForEachPackagePart(const std::string& parent, const std::filesystem::path& folder,
                                const std::function<absl::Status(const v1::ImportModelRequest&)>& send) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(folder / "manifest.json", error)) {
    return absl::NotFoundError(
        absl::StrCat("'", folder.string(), "' is no model package: it has no manifest.json"));
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return absl::PermissionDeniedError(absl::StrCat("cannot read ", path.string()));
    bool first = true;
    while (true) {
      v1::ImportModelRequest part;
      part.set_parent(parent);
      part.set_file_name(path.filename().string());
      std::string* data = part.mutable_data();
      data->resize(kPartBytes);
      file.read(data->data(), kPartBytes);
      data->resize(file.gcount());
      if (file.bad()) return absl::DataLossError(absl::StrCat("cannot read ", path.string(), " to its end"));
      if (data->empty() && !first) break;
      if (auto status = send(part); !status.ok()) return status;
      first = false;
      if (data->size() < kPartBytes) break;
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
