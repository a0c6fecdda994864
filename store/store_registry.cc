// Models, releases, activations: small, read from the disk each time.
#include <google/protobuf/util/message_differencer.h>

#include "absl/strings/str_cat.h"
#include "store/registry_records_impl.h"
#include "store/store_impl.h"
#include "store/text_check.h"

namespace waymark {
namespace {

// What RollbackRelease can go back along.
constexpr int kMaxActivations = 1000;

std::string ModelKey(Scope scope, const std::string& kind, const std::string& version) {
  return absl::StrCat(ScopeKey(scope), "m", kind, absl::string_view("\0", 1), version);
}
std::string ReleaseKey(Scope scope, const std::string& id) { return absl::StrCat(ScopeKey(scope), "r", id); }
std::string ActivationsKey(Scope scope) { return ScopeKey(scope) + "a"; }

absl::Status PutEntry(Database& database, const std::string& key,
                      const google::protobuf::MessageLite& record) {
  Batch batch;
  database.Put(batch, Family::kRegistry, key, record);
  return database.Write(batch, true);
}

}  // namespace

absl::Status Store::PutModel(Scope scope, const storage::ModelRecord& model) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  if (absl::Status status = CheckId("model.kind", model.kind()); !status.ok()) return status;
  if (absl::Status status = CheckId("model.version", model.version()); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(impl_->registry_mutex);
  auto before = GetModel(scope, model.kind(), model.version());
  if (before.ok()) {
    if (google::protobuf::util::MessageDifferencer::Equals(*before, model)) return absl::OkStatus();
    return absl::AlreadyExistsError(absl::StrCat("there is another ", model.kind(), " of version '",
                                                 Shortened(model.version()), "', with content ",
                                                 before->content_sha256()));
  }
  if (!absl::IsNotFound(before.status())) return before.status();
  return PutEntry(*impl_->database, ModelKey(scope, model.kind(), model.version()), model);
}

absl::StatusOr<storage::ModelRecord> Store::GetModel(Scope scope, const std::string& kind,
                                                     const std::string& version) const {
  storage::ModelRecord model;
  absl::Status status =
      impl_->database->GetRecord(Family::kRegistry, ModelKey(scope, kind, version),
                                 absl::StrCat(Shortened(kind), " '", Shortened(version), "'"), model);
  if (!status.ok()) return status;
  return model;
}

std::vector<storage::ModelRecord> Store::Models(Scope scope) const {
  return ReadRegistry<storage::ModelRecord>(*impl_->database, ScopeKey(scope) + "m");
}

absl::Status Store::PutRelease(Scope scope, const storage::ReleaseRecord& release) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  if (absl::Status status = CheckId("release.id", release.id()); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(impl_->registry_mutex);
  auto before = GetRelease(scope, release.id());
  if (before.ok()) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is a release '", Shortened(release.id()), "' already"));
  }
  if (!absl::IsNotFound(before.status())) return before.status();
  return PutEntry(*impl_->database, ReleaseKey(scope, release.id()), release);
}

absl::StatusOr<storage::ReleaseRecord> Store::GetRelease(Scope scope, const std::string& id) const {
  storage::ReleaseRecord release;
  absl::Status status = impl_->database->GetRecord(Family::kRegistry, ReleaseKey(scope, id),
                                                   absl::StrCat("release '", Shortened(id), "'"), release);
  if (!status.ok()) return status;
  return release;
}

std::vector<storage::ReleaseRecord> Store::Releases(Scope scope) const {
  return ReadRegistry<storage::ReleaseRecord>(*impl_->database, ScopeKey(scope) + "r");
}

storage::ActivationRecord Store::Activations(Scope scope) const {
  storage::ActivationRecord record;
  impl_->database->GetRecord(Family::kRegistry, ActivationsKey(scope), "activations", record).IgnoreError();
  return record;
}

absl::Status Store::Activate(Scope scope, const std::string& expected_current,
                             const storage::ActivationRecord::Activation& next) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(impl_->registry_mutex);
  if (!next.release_id().empty()) {
    auto release = GetRelease(scope, next.release_id());
    if (!release.ok()) return release.status();
  }
  storage::ActivationRecord record = Activations(scope);
  const std::string current = record.activations().empty() ? "" : record.activations().rbegin()->release_id();
  if (current != expected_current) {
    return absl::AbortedError(absl::StrCat("the active release is '", Shortened(current), "', no longer '",
                                           Shortened(expected_current), "': look again"));
  }
  *record.add_activations() = next;
  auto& all = *record.mutable_activations();
  if (all.size() > kMaxActivations) all.DeleteSubrange(0, all.size() - kMaxActivations);
  return PutEntry(*impl_->database, ActivationsKey(scope), record);
}

}  // namespace waymark
