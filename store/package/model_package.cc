#include "store/package/model_package.h"

#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <set>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "store/package/package_files.h"

namespace waymark {
namespace {

constexpr int kPackageFormat = 1;
constexpr uint64_t kMaxManifestBytes = 16 << 20;
constexpr uint64_t kMaxVocabularyBytes = uint64_t{4} << 30;
constexpr const char* kManifestName = "manifest.json";
constexpr const char* kWeightsName = "weights.safetensors";

// A file of a package lies in its folder: no separators, no parents.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name.size() <= 128 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
         });
}

std::string EscapeEntry(const std::string& entry) {
  std::string out;
  for (char c : entry) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out;
}

// False: a backslash that EscapeEntry does not write.
bool UnescapeEntry(std::string_view line, std::string& entry) {
  entry.clear();
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      entry += line[i];
      continue;
    }
    if (++i == line.size()) return false;
    if (line[i] != '\\' && line[i] != 'n' && line[i] != 'r') return false;
    entry += line[i] == 'n' ? '\n' : line[i] == 'r' ? '\r' : '\\';
  }
  return true;
}

absl::Status WriteVocabularies(const std::filesystem::path& folder,
                               const std::map<std::string, std::vector<std::string>>& vocabularies) {
  for (const auto& [name, entries] : vocabularies) {
    if (!IsPlainName(name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a vocabulary is named '", name, "'; names take letters, digits, '_', '-' and '.'"));
    }
    std::string text;
    for (const std::string& entry : entries) absl::StrAppend(&text, EscapeEntry(entry), "\n");
    const std::string_view part = text;
    absl::Status status = WriteSyncedFile(folder / (name + ".txt"), {&part, 1});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status DescribeFiles(const std::filesystem::path& folder, storage::ModelManifest& manifest) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  manifest.clear_files();
  for (const std::string& name : names) {
    auto hash = Sha256HexOfFile(folder / name);
    if (!hash.ok()) return hash.status();
    storage::ModelManifest::File* file = manifest.add_files();
    file->set_name(name);
    file->set_bytes(static_cast<int64_t>(std::filesystem::file_size(folder / name)));
    file->set_sha256(*hash);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> PrintManifest(const storage::ModelManifest& manifest) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(manifest, &text, options);
  if (!status.ok())
    return absl::InternalError(absl::StrCat("the manifest cannot be printed: ", status.ToString()));
  return text;
}

absl::Status Fill(const std::filesystem::path& folder, storage::ModelManifest& manifest,
                  const TensorMap& tensors,
                  const std::map<std::string, std::vector<std::string>>& vocabularies) {
  absl::Status status = WriteSafetensors(folder / kWeightsName, tensors);
  if (status.ok()) status = WriteVocabularies(folder, vocabularies);
  manifest.set_format(kPackageFormat);
  if (status.ok()) status = DescribeFiles(folder, manifest);
  if (!status.ok()) return status;
  auto text = PrintManifest(manifest);
  if (!text.ok()) return text.status();
  const std::string_view part = *text;
  status = WriteSyncedFile(folder / kManifestName, {&part, 1});
  return status.ok() ? SyncFolder(folder) : status;
}

absl::Status CheckFile(const std::filesystem::path& folder, const storage::ModelManifest::File& file) {
  if (!IsPlainName(file.name())) {
    return absl::DataLossError(
        absl::StrCat(folder.string(), ": the manifest names a file '", file.name(), "' outside its folder"));
  }
  const std::filesystem::path path = folder / file.name();
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) return absl::DataLossError(absl::StrCat(path.string(), " is missing: ", error.message()));
  if (bytes != static_cast<uint64_t>(file.bytes())) {
    return absl::DataLossError(
        absl::StrCat(path.string(), " has ", bytes, " bytes, the manifest says ", file.bytes()));
  }
  auto hash = Sha256HexOfFile(path);
  if (!hash.ok()) return absl::DataLossError(std::string(hash.status().message()));
  if (*hash != file.sha256()) {
    return absl::DataLossError(
        absl::StrCat(path.string(), " has SHA-256 ", *hash, ", the manifest says ", file.sha256()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModelPackage> WriteModelPackage(
    const std::filesystem::path& folder, storage::ModelManifest manifest, const TensorMap& tensors,
    const std::map<std::string, std::vector<std::string>>& vocabularies) {
  static std::atomic<uint64_t> made = 0;
  try {
    std::filesystem::path target = std::filesystem::absolute(folder).lexically_normal();
    if (!target.has_filename()) target = target.parent_path();  // a slash at its end
    if (std::filesystem::exists(target)) {
      return absl::AlreadyExistsError(absl::StrCat(target.string(), " exists: packages are never changed"));
    }
    const std::filesystem::path parent = target.parent_path();
    std::filesystem::create_directories(parent);
    const std::filesystem::path beside =
        parent / absl::StrCat(".", target.filename().string(), ".", getpid(), ".", made++);
    std::filesystem::create_directory(beside);
    absl::Status status = Fill(beside, manifest, tensors, vocabularies);
    std::error_code error;
    // Fails when somebody made `target` meanwhile, unless it is an empty folder.
    if (status.ok()) std::filesystem::rename(beside, target, error);
    if (error) status = absl::AlreadyExistsError(absl::StrCat(target.string(), ": ", error.message()));
    if (!status.ok()) {
      std::filesystem::remove_all(beside, error);
      return status;
    }
    if (status = SyncFolder(parent); !status.ok()) return status;
    return OpenModelPackage(folder);
  } catch (const std::filesystem::filesystem_error& error) {
    if (error.code() == std::errc::no_space_on_device) return absl::ResourceExhaustedError(error.what());
    return absl::FailedPreconditionError(error.what());
  }
}

absl::StatusOr<ModelPackage> OpenModelPackage(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat("there is no model package at ", folder.string()));
  }
  auto text = ReadWholeFile(folder / kManifestName, kMaxManifestBytes);
  if (!text.ok()) return text.status();
  ModelPackage package;
  package.folder = folder;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // of a newer format, whose number is to be named
  const auto parsed = google::protobuf::util::JsonStringToMessage(*text, &package.manifest, options);
  if (!parsed.ok()) {
    return absl::DataLossError(absl::StrCat((folder / kManifestName).string(), ": ", parsed.ToString()));
  }
  const storage::ModelManifest& manifest = package.manifest;
  if (manifest.format() > kPackageFormat) {
    return absl::FailedPreconditionError(absl::StrCat(folder.string(), " has package format ",
                                                      manifest.format(), ", this program reads up to ",
                                                      kPackageFormat, ": use a newer program"));
  }
  if (manifest.format() < 1) {
    return absl::DataLossError(absl::StrCat((folder / kManifestName).string(), " has no format number"));
  }
  const bool has_weights = std::any_of(manifest.files().begin(), manifest.files().end(),
                                       [](const auto& file) { return file.name() == kWeightsName; });
  if (!has_weights) {
    return absl::DataLossError(absl::StrCat((folder / kManifestName).string(), " lists no ", kWeightsName));
  }
  for (const storage::ModelManifest::File& file : manifest.files()) {
    if (absl::Status status = CheckFile(folder, file); !status.ok()) return status;
  }
  package.content_sha256 = Sha256Hex(*text);
  return package;
}

absl::StatusOr<TensorMap> ReadWeights(const ModelPackage& package) {
  return ReadSafetensors(package.folder / kWeightsName);
}

absl::StatusOr<std::vector<std::string>> ReadVocabulary(const ModelPackage& package,
                                                        const std::string& name) {
  const std::string file_name = name + ".txt";
  const auto& files = package.manifest.files();
  const bool listed =
      std::any_of(files.begin(), files.end(), [&](const auto& f) { return f.name() == file_name; });
  if (!listed) {
    return absl::NotFoundError(
        absl::StrCat(package.folder.string(), " has no vocabulary '", name, "' (", file_name, ")"));
  }
  auto text = ReadWholeFile(package.folder / file_name, kMaxVocabularyBytes);
  if (!text.ok()) return text.status();
  std::vector<std::string> entries;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos || !UnescapeEntry(rest.substr(0, end), entries.emplace_back())) {
      return absl::DataLossError(
          absl::StrCat((package.folder / file_name).string(), ": line ", entries.size() + 1,
                       end == std::string_view::npos ? " has no end" : " is escaped wrongly"));
    }
    rest.remove_prefix(end + 1);
  }
  return entries;
}

absl::Status CheckNetworkKeys(const storage::ModelManifest& manifest, const std::vector<std::string>& known) {
  for (const auto& [key, value] : manifest.network()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat("the ", manifest.kind(), " package ", manifest.version(),
                                                     ": network has the key '", key,
                                                     "', which this program does not know"));
    }
  }
  for (const std::string& key : known) {
    if (!manifest.network().contains(key)) {
      return absl::InvalidArgumentError(absl::StrCat("the ", manifest.kind(), " package ", manifest.version(),
                                                     ": network lacks the key '", key, "'"));
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
