#include "pipeline/model_registry.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "pipeline/blending_plan.h"
#include "rank/attention_ranker.h"
#include "recommend/retriever.h"

namespace waymark {
namespace {

absl::Status SyncPath(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return absl::UnavailableError(absl::StrCat("cannot open ", path.string(), ": ", std::strerror(errno)));
  const int failed = fsync(fd);
  const int error = errno;
  close(fd);
  if (failed != 0) {
    return absl::UnavailableError(absl::StrCat("cannot write ", path.string(), ": ", std::strerror(error)));
  }
  return absl::OkStatus();
}

absl::Status CopyPackage(const ModelPackage& package, const std::filesystem::path& target) {
  std::error_code error;
  const std::filesystem::path part = target.string() + ".part";
  std::filesystem::remove_all(part, error);
  std::filesystem::create_directories(part, error);
  const auto failed = [&](const std::string& file) {
    const std::string why = error.message();
    std::filesystem::remove_all(part, error);
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot copy ", file, " to ", target.parent_path().string(), ": ", why, "; make room and try again"));
  };
  if (error) return failed("the package");
  std::vector<std::string> names = {"manifest.json"};
  for (const auto& file : package.manifest.files()) names.push_back(file.name());
  for (const std::string& name : names) {
    std::filesystem::copy_file(package.folder / name, part / name, error);
    if (error) return failed(name);
    if (auto status = SyncPath(part / name); !status.ok()) return status;
  }
  if (auto status = SyncPath(part); !status.ok()) return status;
  std::filesystem::remove_all(target, error);  // an earlier import that was not registered
  std::filesystem::rename(part, target, error);
  if (error) return failed("the package");
  return SyncPath(target.parent_path());
}

// Hashes say that the files are as they were written, not that network and weights fit.
absl::Status CheckLoads(const ModelPackage& package, const ItemDirectory* items) {
  if (package.manifest.kind() == "retriever") return Retriever::Load(package, items).status();
  return LoadAttentionRanker(package, items, package.manifest.retriever_sha256()).status();
}

}  // namespace

bool IsVersionName(std::string_view name) {
  if (name.empty() || name.size() > 64 || name[0] == '.') return false;
  for (const char c : name) {
    if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_')) return false;
  }
  return true;
}

absl::StatusOr<storage::ModelRecord> ModelRegistry::Import(const std::filesystem::path& folder) {
  auto package = OpenModelPackage(folder);
  if (!package.ok()) return package.status();
  const storage::ModelManifest& manifest = package->manifest;
  if (manifest.kind() != "retriever" && manifest.kind() != "ranker") {
    return absl::InvalidArgumentError(absl::StrCat("manifest.json: kind '", manifest.kind(),
                                                   "' is not known; it takes 'retriever' or 'ranker'"));
  }
  if (!IsVersionName(manifest.version())) {
    return absl::InvalidArgumentError(absl::StrCat("manifest.json: version '", manifest.version(),
                                                   "' must be 1 to 64 letters, digits, '.', '-' or '_'"));
  }
  auto existing = store_->GetModel(scope_, manifest.kind(), manifest.version());
  if (existing.ok()) {
    if (existing->content_sha256() == package->content_sha256) return *existing;
    return absl::AlreadyExistsError(
        absl::StrCat(manifest.kind(), " version '", manifest.version(),
                     "' is registered with other contents; give this one another version"));
  }
  if (auto status = CheckLoads(*package, items_); !status.ok()) return status;
  auto collection = store_->GetCollection(scope_);
  if (!collection.ok()) return collection.status();
  storage::ModelRecord record;
  record.set_kind(manifest.kind());
  record.set_version(manifest.version());
  record.set_content_sha256(package->content_sha256);
  *record.mutable_manifest() = manifest;
  record.set_import_time_us(absl::ToUnixMicros(clock_->Now()));
  record.set_folder(absl::StrCat("models/", collection->tenant(), "-", collection->collection(), "/",
                                 manifest.kind(), "/", manifest.version()));
  if (auto status = CopyPackage(*package, store_->data_folder() / record.folder()); !status.ok())
    return status;
  if (auto status = store_->PutModel(scope_, record); !status.ok()) return status;
  return record;
}

absl::StatusOr<ModelPackage> ModelRegistry::Open(const std::string& kind, const std::string& version) const {
  auto record = store_->GetModel(scope_, kind, version);
  if (!record.ok()) return record.status();
  auto package = OpenModelPackage(store_->data_folder() / record->folder());
  if (!package.ok()) return package.status();
  if (package->content_sha256 != record->content_sha256()) {
    return absl::DataLossError(
        absl::StrCat("the package of ", kind, " '", version, "' in ", package->folder.string(),
                     " is not the one that was registered (its manifest has changed)"));
  }
  return package;
}

absl::StatusOr<std::vector<std::string>> ModelRegistry::Verify(const std::string& kind,
                                                               const std::string& version) const {
  auto record = store_->GetModel(scope_, kind, version);
  if (!record.ok()) return record.status();
  std::vector<std::string> problems;
  const std::filesystem::path folder = store_->data_folder() / record->folder();
  const auto check = [&](const std::string& name, const std::string& expected) {
    auto hash = Sha256HexOfFile(folder / name);
    if (!hash.ok()) {
      problems.push_back(absl::StrCat(name, ": ", std::string(hash.status().message())));
    } else if (*hash != expected) {
      problems.push_back(
          absl::StrCat(name, ": has changed (its SHA-256 is ", *hash, ", registered is ", expected, ")"));
    }
  };
  check("manifest.json", record->content_sha256());
  for (const auto& file : record->manifest().files()) check(file.name(), file.sha256());
  return problems;
}

absl::StatusOr<storage::ReleaseRecord> ModelRegistry::CreateRelease(storage::ReleaseRecord release) {
  if (release.retriever_version().empty() && release.ranker_version().empty() &&
      release.plan().sources().empty()) {
    return absl::InvalidArgumentError(
        "retriever_version: name a retriever, a ranker, or both; or the sources of a blending plan, which a "
        "weighted sum then ranks");
  }
  if (!release.retriever_version().empty()) {
    auto retriever = store_->GetModel(scope_, "retriever", release.retriever_version());
    if (!retriever.ok()) return retriever.status();
    release.set_retriever_sha256(retriever->content_sha256());
  }
  if (!release.ranker_version().empty()) {
    auto ranker = store_->GetModel(scope_, "ranker", release.ranker_version());
    if (!ranker.ok()) return ranker.status();
    release.set_ranker_sha256(ranker->content_sha256());
    const std::string& wanted = ranker->manifest().retriever_sha256();
    if (wanted != release.retriever_sha256()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "ranker '", release.ranker_version(), "' was trained on the signals of the retriever with SHA-256 ",
          wanted.empty() ? "(none)" : wanted, "; the release names ",
          release.retriever_version().empty()
              ? "no retriever"
              : absl::StrCat("'", release.retriever_version(), "' with ", release.retriever_sha256())));
    }
  }
  if (auto status = CompletePlan(release.mutable_plan()); !status.ok()) return status;
  release.set_plan_sha256(PlanSha256(release.plan()));
  const absl::Time now = clock_->Now();
  release.set_create_time_us(absl::ToUnixMicros(now));
  if (release.id().empty()) {
    const std::string parts = absl::StrCat(release.retriever_sha256(), release.ranker_sha256(),
                                           release.plan_sha256(), absl::ToUnixMicros(now));
    release.set_id(absl::StrCat("r", absl::FormatTime("%Y%m%d-%H%M%S", now, absl::UTCTimeZone()), "-",
                                Sha256Hex(parts).substr(0, 6)));
  } else if (!IsVersionName(release.id())) {
    return absl::InvalidArgumentError(
        absl::StrCat("id: '", release.id(), "' must be 1 to 64 letters, digits, '.', '-' or '_'"));
  }
  if (auto status = store_->PutRelease(scope_, release); !status.ok()) return status;
  return release;
}

}  // namespace waymark
