// One data folder, open: its store and its collections. What the server and the command line both stand on.
//
//   auto engine = Engine::Open("data", {});
//   auto shop = (*engine)->OpenCollection({}, /*create=*/true);
//   (*shop)->Write({PutItem{"m1", fields}});
//   auto answer = (*shop)->Run({.kind = RequestKind::kSearch, .query = "star wars"}, Deadline::Never());
//
// Thread-safe throughout.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/deadline.h"
#include "catalog/catalog.h"
#include "curation/live_curation.h"
#include "pipeline/checkpointer.h"
#include "pipeline/data_check.h"
#include "pipeline/query_report.h"
#include "pipeline/request.h"
#include "store/store.h"
#include "suggest/suggestion.h"

namespace waymark {

struct EngineOptions {
  const Clock* clock = Clock::Real();
  bool create = true;
  bool read_only = false;
  absl::Duration index_refresh_interval = absl::Seconds(1);
  // When derived structures are checkpointed.
  CheckpointPolicy checkpoint;
  // Whether the closed-form model of small catalogues is made anew in the background; off for a single
  // command.
  bool keep_ease_fresh = true;
  // Whether suggestions are made ready and kept up at once; off for a single command, which makes them when
  // it asks for some.
  bool keep_suggestions = true;
  // Users who must have asked a query before it is suggested to others.
  int past_query_min_users = 3;
  // Share of requests whose candidates and features are kept in their ServeRecord.
  double served_sample_rate = 0.01;
  size_t model_memory_limit_bytes = size_t{8} << 30;
  // So many releases that served before stay loaded where they fit the limit, so that a roll-back loads
  // nothing.
  size_t ready_releases = 3;
};

// What one part of a collection takes, and whether it was made anew.
struct PartSize {
  std::string name;  // "catalog", "catalog/genres", "index", ...
  int64_t memory_bytes = 0, disk_bytes = 0;
  std::string rebuild_reason;  // at this start or since; empty: it was not
};

struct CollectionStatus {
  std::string tenant, collection;
  StoreCounts counts;
  LogOffset log_end = 0, catalog_position = 0, index_position = 0, behaviour_position = 0;
  int64_t changes_to_keep = 0;  // that no checkpoint has: a start after a crash would replay them
  int64_t indexed_items = 0, index_segments = 0, index_bytes = 0, vectors = 0;
  SuggestionStatus suggestions;
  bool suggesting = false;  // whether they are kept up; else the rest of their status is empty
  std::string release, retriever, ranker;
  std::string unloaded_release, unloaded_reason;  // as UnloadedRelease
  std::vector<PartSize> parts;
};

// The release that should serve and could not be loaded, and why; no id: there is none.
struct UnloadedRelease {
  std::string id, reason;
};

// One thing that was looked at before a release serves everybody.
struct ReleaseCheck {
  std::string name;    // packages, features, warm_up, offline_metrics
  bool holds = true;   // nothing speaks against it
  bool fatal = false;  // it cannot serve, whoever says so
  std::string detail;
};

// A collection with everything derived from it.
class Collection {
 public:
  virtual ~Collection() = default;
  virtual const CollectionName& name() const = 0;
  virtual Scope scope() const = 0;
  virtual Catalog& catalog() = 0;
  virtual LiveCuration& curation() = 0;

  // Checks items and users against their schemas (which grow with them unless declared), then writes. When it
  // answers, the catalogue and the users' states have taken the write in.
  virtual absl::StatusOr<WriteReceipt> Write(std::vector<Mutation> mutations) = 0;
  // MergeSchema with what is there, then Catalog::DeclareSchema; writes are held off meanwhile.
  virtual absl::Status DeclareSchema(const storage::SchemaRecord& record) = 0;
  // The same for the attributes of users.
  virtual std::shared_ptr<const Schema> user_schema() const = 0;
  virtual absl::Status DeclareUserSchema(const storage::SchemaRecord& record) = 0;
  // Stages 2 to 8 on one immutable snapshot.
  virtual absl::StatusOr<PipelineResponse> Run(const PipelineRequest& request, Deadline deadline) = 0;
  // Completes what is being typed. INVALID_ARGUMENT names the field.
  virtual absl::StatusOr<SuggestAnswer> Suggest(const SuggestRequest& request, Deadline deadline) = 0;
  // Waits until all that is written is suggested.
  virtual absl::Status CatchUpSuggestions(Deadline deadline) = 0;
  // Reads the log of what was served. INVALID_ARGUMENT names the field.
  virtual absl::StatusOr<QueryReport> ReportQueries(const QueryReportRequest& request, Deadline deadline) = 0;
  // Waits until catalogue, index and counts have taken in what the token covers. INVALID_ARGUMENT: no token
  // of this folder; DEADLINE_EXCEEDED.
  virtual absl::Status WaitFor(const std::string& consistency_token, Deadline deadline) = 0;
  // Makes all that is written searchable and counted.
  virtual absl::Status CatchUp(Deadline deadline) = 0;

  // Checks the package at `folder`, copies it into DATA/models and registers it. ALREADY_EXISTS: another
  // package has this kind and version.
  virtual absl::StatusOr<storage::ModelRecord> ImportModel(const std::filesystem::path& folder) = 0;
  // What differs, file by file; empty: intact.
  virtual absl::StatusOr<std::vector<std::string>> VerifyModel(const std::string& kind,
                                                               const std::string& version) = 0;
  // FAILED_PRECONDITION: a ranker of another retriever. Fills empty ids and plans.
  virtual absl::StatusOr<storage::ReleaseRecord> CreateRelease(storage::ReleaseRecord release) = 0;
  // Loads it beside the active one, then swaps; a release that does not load changes nothing.
  virtual absl::Status ActivateRelease(const std::string& id, const std::string& reason) = 0;
  // The id that is active then ("": none). FAILED_PRECONDITION: nothing to go back to.
  virtual absl::StatusOr<std::string> RollbackRelease(const std::string& reason) = 0;
  // Looks at a release before it serves: packages, features, a warm-up, offline metrics. NOT_FOUND: there is
  // none.
  virtual absl::StatusOr<std::vector<ReleaseCheck>> CheckRelease(const std::string& id,
                                                                 double max_metric_drop) = 0;
  virtual std::string active_release() const = 0;  // "": none
  virtual UnloadedRelease unloaded_release() const = 0;
  // Holds these releases ready beside the active one, through activations, until the next call names others.
  // What does not load, with the reason: the others are held all the same.
  virtual std::map<std::string, absl::Status> KeepReleases(const std::set<std::string>& ids) = 0;
  virtual CollectionStatus status() = 0;
  // Compares everything that is derived with the store, file by file and item by item, also beside writes;
  // what differs is in the parts' findings. Reads all of the collection: a minute for a million items. The
  // error: it could not be looked at (DEADLINE_EXCEEDED).
  virtual absl::StatusOr<std::vector<PartCheck>> Check(const DataCheckOptions& options,
                                                       Deadline deadline) = 0;
};

class Engine {
 public:
  static absl::StatusOr<std::unique_ptr<Engine>> Open(const std::filesystem::path& data,
                                                      const EngineOptions& options);
  virtual ~Engine() = default;
  virtual Store& store() = 0;
  // NOT_FOUND when it does not exist and `create` is false. Aliases are resolved. Lives as long as the
  // engine.
  virtual absl::StatusOr<Collection*> OpenCollection(const CollectionName& name, bool create) = 0;
  virtual std::vector<Collection*> Collections() = 0;
  virtual int64_t served_records_dropped() const = 0;
  // The files of the log of what was served.
  virtual void CheckServed(PartCheck* check) const = 0;
  // What an answer's attribution token names. INVALID_ARGUMENT: this folder's key did not sign it.
  virtual absl::StatusOr<storage::Attribution> ReadAttributionToken(std::string_view token) const = 0;
  virtual std::string MakeAttributionToken(const storage::Attribution& attribution) const = 0;
  // Checkpoints everything derived; called by the destructor too.
  virtual absl::Status Checkpoint() = 0;
};

}  // namespace waymark
