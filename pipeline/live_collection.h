// A collection as it serves: the store's scope with everything derived from it, kept up with the log.
//
// The catalogue takes changes in on the committing thread, before a writer is answered; the keyword index and
// the behaviour parts follow on threads of their own. User state is read from the store.
#pragma once
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "candidates/item_directory.h"
#include "pipeline/checkpointer.h"
#include "pipeline/engine.h"
#include "pipeline/item_admission.h"
#include "pipeline/model_registry.h"
#include "pipeline/pipeline.h"
#include "pipeline/release_loader.h"
#include "pipeline/signed_token.h"
#include "pipeline/user_admission.h"
#include "recommend/field_vectors.h"
#include "recommend/live_behaviour.h"
#include "suggest/live_suggestions.h"

namespace waymark {

class LiveCollection : public Collection {
 public:
  static absl::StatusOr<std::unique_ptr<LiveCollection>> Open(Store* store, Scope scope,
                                                              const CollectionName& name,
                                                              const EngineOptions& options,
                                                              const SigningKey* key,
                                                              std::unique_ptr<ServedSink> served);
  ~LiveCollection() override;

  // The store's listener, for this scope.
  void OnCommitted(absl::Span<const Change> changes);
  // Writes checkpoints of everything derived.
  absl::Status Checkpoint();

  const CollectionName& name() const override { return name_; }
  Scope scope() const override { return scope_; }
  Catalog& catalog() override { return *catalog_; }
  LiveCuration& curation() override { return *curation_; }
  absl::StatusOr<WriteReceipt> Write(std::vector<Mutation> mutations) override;
  absl::Status DeclareSchema(const storage::SchemaRecord& record) override;
  std::shared_ptr<const Schema> user_schema() const override { return user_admission_->schema(); }
  absl::Status DeclareUserSchema(const storage::SchemaRecord& record) override;
  absl::StatusOr<PipelineResponse> Run(const PipelineRequest& request, Deadline deadline) override;
  absl::StatusOr<SuggestAnswer> Suggest(const SuggestRequest& request, Deadline deadline) override;
  absl::Status CatchUpSuggestions(Deadline deadline) override;
  absl::StatusOr<QueryReport> ReportQueries(const QueryReportRequest& request, Deadline deadline) override;
  absl::Status WaitFor(const std::string& consistency_token, Deadline deadline) override;
  absl::Status CatchUp(Deadline deadline) override;
  absl::StatusOr<storage::ModelRecord> ImportModel(const std::filesystem::path& folder) override;
  absl::StatusOr<std::vector<std::string>> VerifyModel(const std::string& kind,
                                                       const std::string& version) override;
  absl::StatusOr<storage::ReleaseRecord> CreateRelease(storage::ReleaseRecord release) override;
  absl::Status ActivateRelease(const std::string& id, const std::string& reason) override;
  absl::StatusOr<std::string> RollbackRelease(const std::string& reason) override;
  absl::StatusOr<std::vector<ReleaseCheck>> CheckRelease(const std::string& id,
                                                         double max_metric_drop) override;
  std::string active_release() const override;
  UnloadedRelease unloaded_release() const override;
  std::map<std::string, absl::Status> KeepReleases(const std::set<std::string>& ids) override;
  CollectionStatus status() override;
  absl::StatusOr<std::vector<PartCheck>> Check(const DataCheckOptions& options, Deadline deadline) override;

 private:
  LiveCollection(Store* store, Scope scope, const CollectionName& name, const EngineOptions& options);
  absl::Status Start(const SigningKey* key);
  // Numbers of the users that `mutations` erase, with their visitors.
  std::vector<UserNumber> ErasedBy(const std::vector<Mutation>& mutations) const;
  void OpenSuggestions();
  absl::Status EraseFromSuggestions(const LogPosition& position);
  // INVALID_ARGUMENT: not a token of this folder, or of a write to come.
  absl::StatusOr<LogOffset> TokenOffset(const std::string& consistency_token) const;
  absl::Status LoadActive();
  absl::Status WaitForOffset(LogOffset offset, Deadline deadline);
  // One pass of the follower: takes in what the log has beyond position; answers whether there was anything.
  absl::StatusOr<bool> FollowOnce();
  void Follow();
  // Makes the closed-form model anew when enough has happened, and serves it from then on.
  absl::Status RefreshEase();
  void KeepEaseFresh();
  // live_check.cc
  void CheckItemVectors(PartCheck* check) const;
  void CheckModels(PartCheck* check) const;
  absl::Status Repair(PartCheck* part);
  std::vector<PartSize> PartSizes() const;
  std::shared_ptr<const Snapshot> snapshot() const;
  // Makes `release` the active one of a new snapshot, in the place of `unloaded` where that has an id.
  void Publish(std::shared_ptr<const LoadedRelease> release, bool active, UnloadedRelease unloaded = {});
  absl::Status SwitchTo(const std::string& id, const std::string& reason);
  // Under `releasing_`. What is loaded is taken; what is ready gives way where there is no room.
  absl::StatusOr<std::shared_ptr<const LoadedRelease>> Ready(const std::string& id);
  absl::StatusOr<std::shared_ptr<const LoadedRelease>> Load(const std::string& id);
  void LetReadyGo();
  // Answers a few feeds with it, and logs nothing.
  ReleaseCheck WarmUp(const std::shared_ptr<const LoadedRelease>& release);
  // Under `releasing_`. `anew`: those that are loaded are loaded again.
  std::map<std::string, absl::Status> Keep(const std::set<std::string>& ids, bool anew);

  Store* store_;
  const Scope scope_;
  const CollectionName name_;
  const EngineOptions options_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<CatalogDirectory> items_;
  std::unique_ptr<KeywordIndex> index_;
  std::unique_ptr<LiveCuration> curation_;
  std::unique_ptr<LiveBehaviour> behaviour_;
  std::unique_ptr<FieldVectors> field_vectors_;
  std::mutex growing_;  // of the schemas in the collection's record
  std::unique_ptr<ItemAdmission> admission_;
  std::unique_ptr<UserAdmission> user_admission_;
  std::unique_ptr<ModelRegistry> registry_;
  std::unique_ptr<ReleaseLoader> loader_;
  std::unique_ptr<ServedSink> served_;  // null: nothing is logged
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<LiveSuggestions> suggestions_;  // after all that it reads

  // Shared by writes, from the check against the schema to the commit; held alone while one is declared, so
  // that no item can slip in that it refuses, and no growth can undo it.
  absl::Mutex schema_mutex_;
  std::mutex releasing_;  // one activation at a time
  mutable std::mutex snapshot_mutex_;
  std::shared_ptr<const Snapshot> snapshot_;
  // Under snapshot_mutex_; changed by who holds `releasing_` too.
  std::map<std::string, std::shared_ptr<const LoadedRelease>> kept_;
  std::vector<std::shared_ptr<const LoadedRelease>> ready_;  // served before, newest first
  UnloadedRelease unloaded_;                                 // under snapshot_mutex_

  std::mutex follow_mutex_;
  std::condition_variable follow_wake_, stopping_;
  bool follow_pending_ = false, stop_ = false;
  std::thread follower_, ease_keeper_;
  std::unique_ptr<Checkpointer> checkpointer_;  // after all that it keeps; null: nothing is written
};

}  // namespace waymark
