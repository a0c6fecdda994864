#include "index/index_manifest.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kLargestManifest = 64 << 20;

// Bytes that are no UTF-8 are replaced: dump() would throw.
std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string Hex(uint64_t value) { return absl::StrCat(absl::Hex(value, absl::kZeroPad16)); }

// Size and hash; with `sync`, made durable first.
absl::StatusOr<IndexedFile> ReadFile(const fs::path& folder, const std::string& name, bool sync) {
  const fs::path path = folder / name;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return FileError(absl::StatusCode::kDataLoss, path, "cannot be opened");
  const absl::Cleanup close_file = [file] { close(file); };
  if (sync && fsync(file) != 0) return FileError(absl::StatusCode::kInternal, path, "fsync");
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<char> buffer(1 << 20);
  IndexedFile entry{name};
  for (ssize_t got; (got = read(file, buffer.data(), buffer.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(absl::StatusCode::kDataLoss, path, "cannot be read");
    XXH3_64bits_update(state.get(), buffer.data(), static_cast<size_t>(got));
    entry.size += static_cast<uint64_t>(got);
  }
  entry.hash = XXH3_64bits_digest(state.get());
  return entry;
}

absl::Status SyncFolder(const fs::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return FileError(absl::StatusCode::kInternal, folder, "cannot be opened");
  const absl::Cleanup close_file = [file] { close(file); };
  return fsync(file) == 0 ? absl::OkStatus() : FileError(absl::StatusCode::kInternal, folder, "fsync");
}

absl::Status WriteDurably(const fs::path& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return FileError(absl::StatusCode::kInternal, path, "cannot be made");
  const absl::Cleanup close_file = [file] { close(file); };
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return FileError(absl::StatusCode::kInternal, path, "cannot be written");
    done += static_cast<size_t>(wrote);
  }
  return fsync(file) == 0 ? absl::OkStatus() : FileError(absl::StatusCode::kInternal, path, "fsync");
}

Json BodyOf(const IndexManifest& manifest) {
  Json fields = Json::array(), files = Json::array();
  for (const IndexedField& field : manifest.fields.fields) {
    fields.push_back({{"name", field.name}, {"weight", field.weight}, {"title", field.title}});
    if (field.analysis) fields.back()["analysis"] = AnalysisName(*field.analysis);
  }
  for (const IndexedFile& file : manifest.files) {
    files.push_back({{"name", file.name}, {"size", file.size}, {"xxh3", Hex(file.hash)}});
  }
  return {{"format", kIndexFormat},
          {"segments_file", manifest.segments_file},
          {"epoch", manifest.epoch},
          {"position", manifest.position},
          {"analysis", manifest.analysis},
          {"fields", fields},
          {"known_fields", manifest.fields.known},
          {"declared", manifest.fields.declared},
          {"files", files}};
}

// Throws what nlohmann throws.
IndexManifest ManifestOf(const Json& body) {
  IndexManifest manifest;
  manifest.segments_file = body.at("segments_file").get<std::string>();
  manifest.epoch = body.at("epoch").get<uint64_t>();
  manifest.position = body.at("position").get<LogOffset>();
  manifest.analysis = body.at("analysis").get<std::string>();
  for (const Json& field : body.at("fields")) {
    manifest.fields.fields.push_back({field.at("name").get<std::string>(), field.at("weight").get<double>(),
                                      field.at("title").get<bool>()});
    const auto analysis = field.find("analysis");
    if (analysis == field.end()) continue;
    manifest.fields.fields.back().analysis = AnalysisNamed(analysis->get<std::string>());
    if (manifest.fields.fields.back().analysis) continue;
    throw std::runtime_error(absl::StrCat("its field '", manifest.fields.fields.back().name,
                                          "' was analysed as '", analysis->get<std::string>(),
                                          "', which this program does not do"));
  }
  manifest.fields.known = body.at("known_fields").get<std::vector<std::string>>();
  manifest.fields.declared = body.at("declared").get<bool>();
  for (const Json& file : body.at("files")) {
    manifest.files.push_back({file.at("name").get<std::string>(), file.at("size").get<uint64_t>(),
                              std::stoull(file.at("xxh3").get<std::string>(), nullptr, 16)});
  }
  return manifest;
}

absl::StatusOr<std::string> ReadText(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return FileError(errno == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kDataLoss, path,
                     "cannot be opened");
  }
  const absl::Cleanup close_file = [file] { close(file); };
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (ssize_t got; (got = read(file, buffer.data(), buffer.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(absl::StatusCode::kDataLoss, path, "cannot be read");
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kLargestManifest) return absl::DataLossError(path.string() + ": longer than 64 MiB");
  }
  return text;
}

absl::StatusOr<IndexManifest> ParseManifest(const fs::path& path, const std::string& text) {
  try {
    const Json whole = Json::parse(text);
    const Json& body = whole.at("body");
    const int format = body.at("format").get<int>();
    if (format > kIndexFormat) {
      return absl::FailedPreconditionError(
          absl::StrCat(path.string(), ": format ", format, " is newer than this program's ", kIndexFormat));
    }
    const std::string compact = Dump(body, -1);
    if (whole.at("xxh3").get<std::string>() != Hex(XXH3_64bits(compact.data(), compact.size()))) {
      return absl::DataLossError(path.string() + ": its hash differs");
    }
    return ManifestOf(body);
  } catch (const std::exception& e) {
    return absl::DataLossError(absl::StrCat(path.string(), ": ", e.what()));
  }
}

}  // namespace

absl::Status FileError(absl::StatusCode code, const fs::path& path, const char* what) {
  return absl::Status(code, absl::StrCat(path.string(), ": ", what, ": ", std::strerror(errno)));
}

absl::StatusOr<std::vector<IndexedFile>> SealFiles(const fs::path& folder,
                                                   const std::vector<std::string>& names,
                                                   const std::vector<IndexedFile>& known) {
  std::vector<IndexedFile> files;
  for (const std::string& name : names) {
    auto old = std::find_if(known.begin(), known.end(), [&](const IndexedFile& f) { return f.name == name; });
    if (old != known.end() && name != "segments.gen") {
      files.push_back(*old);
      continue;
    }
    absl::StatusOr<IndexedFile> file = ReadFile(folder, name, true);
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  return files;
}

absl::Status WriteManifest(const fs::path& folder, const IndexManifest& manifest) {
  const Json body = BodyOf(manifest);
  const std::string compact = Dump(body, -1);
  const Json whole = {{"body", body}, {"xxh3", Hex(XXH3_64bits(compact.data(), compact.size()))}};
  const fs::path fresh = folder / absl::StrCat(kManifestName, ".new");
  if (absl::Status status = WriteDurably(fresh, Dump(whole, 1)); !status.ok()) return status;
  if (std::rename(fresh.c_str(), (folder / kManifestName).c_str()) != 0) {
    return FileError(absl::StatusCode::kInternal, fresh, "cannot be renamed");
  }
  return SyncFolder(folder);
}

absl::StatusOr<IndexManifest> ReadManifest(const fs::path& folder) {
  const fs::path path = folder / kManifestName;
  absl::StatusOr<std::string> text = ReadText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<IndexManifest> manifest = ParseManifest(path, *text);
  if (!manifest.ok()) return manifest;
  for (const IndexedFile& expected : manifest->files) {
    absl::StatusOr<IndexedFile> found = ReadFile(folder, expected.name, false);
    if (!found.ok()) return found.status();
    if (*found != expected) {
      return absl::DataLossError(absl::StrCat((folder / expected.name).string(), ": size ", found->size,
                                              " and XXH3 ", Hex(found->hash), ", the manifest says ",
                                              expected.size, " and ", Hex(expected.hash)));
    }
  }
  return manifest;
}

}  // namespace waymark
