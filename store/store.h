// The durable truth: items, users, events, the log with its positions, id maps, the registry.
//
// One RocksDB in `DATA/store`. A write is validated, given ordinals and log offsets, committed as one batch
// with an fsync (concurrent writers share one: group commit), handed to listeners, and only then answered.
//
//   auto store = Store::Open("data", {});
//   auto scope = (*store)->CreateCollection({});
//   auto receipt = (*store)->Write(*scope, {PutItem{"m1", fields}});
//
// Thread-safe throughout. Reads see every answered write.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "store/change.h"
#include "store/clock.h"
#include "store/curation_write.h"
#include "store/event_types.h"
#include "store/history.h"
#include "store/ids.h"
#include "store/log_position.h"
#include "store/mutation.h"
#include "waymark/storage/experiments.pb.h"
#include "waymark/storage/models.pb.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

struct StoreOptions {
  bool create = true;      // make the folder when it is missing
  bool read_only = false;  // a checkpoint, or a folder that nobody has open
  const Clock* clock = Clock::Real();
  size_t cache_bytes = 256 << 20;
};

struct StoreCounts {
  int64_t items = 0, users = 0, events = 0;
};

class Store : public ChangeFeed {
 public:
  // FAILED_PRECONDITION: another process has the folder open (names its pid where server.json tells it), or
  // its format is newer than this program's. DATA_LOSS: damage that RocksDB reports.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::filesystem::path& data,
                                                     const StoreOptions& options);
  ~Store() override;
  Store(const Store&) = delete;

  const std::filesystem::path& data_folder() const;
  uint64_t epoch() const;  // made with the folder
  // 32 random bytes, made with the folder: tokens of pages and attributions are signed with them.
  const std::string& signing_key() const;

  // --- collections
  // ------------------------------------------------------------------------------------------- Resolves
  // aliases; NOT_FOUND when it does not exist.
  absl::StatusOr<Scope> FindCollection(const CollectionName& name) const;
  // Finds or makes it. INVALID_ARGUMENT: names are 1 to 64 of [a-z0-9_-].
  absl::StatusOr<Scope> CreateCollection(const CollectionName& name);
  std::vector<storage::CollectionRecord> Collections() const;
  absl::StatusOr<storage::CollectionRecord> GetCollection(Scope scope) const;
  // Durable; replaces schema and event types. Numbers and names stay.
  absl::Status PutCollection(Scope scope, const storage::CollectionRecord& record);
  EventTypes GetEventTypes(Scope scope) const;
  absl::Status PutAlias(const std::string& tenant, const std::string& alias, const std::string& collection);
  absl::Status DeleteAlias(const std::string& tenant, const std::string& alias);
  std::vector<storage::AliasRecord> Aliases() const;

  // --- writes
  // ------------------------------------------------------------------------------------------------ A result
  // for each mutation; valid ones are written together, invalid ones are left out. The outer status is an
  // error only when nothing was written for a reason that is not one mutation's: a full disk
  // (RESOURCE_EXHAUSTED), a read-only store, shutdown.
  absl::StatusOr<WriteReceipt> Write(Scope scope, std::vector<Mutation> mutations);
  // Must be called before writes begin; lives as long as the store.
  void AddListener(ChangeListener listener);

  // --- the log
  // -----------------------------------------------------------------------------------------------
  absl::StatusOr<LogOffset> Read(Scope scope, LogOffset after, size_t limit,
                                 const std::function<absl::Status(const Change&)>& visit,
                                 const ChangeKinds& kinds = {}) const override;
  LogOffset End() const override;
  LogPosition EndPosition() const;

  // --- items
  // ------------------------------------------------------------------------------------------------- The
  // ordinal that stands for the id, also when only events have named it so far.
  std::optional<ItemOrdinal> FindItem(Scope scope, std::string_view id) const;
  // The id; empty for an ordinal that was never given out.
  std::string ItemId(Scope scope, ItemOrdinal item) const;
  std::vector<std::string> ItemIds(Scope scope, absl::Span<const ItemOrdinal> items) const;
  // NOT_FOUND: no such item, deleted, or named by events only.
  absl::StatusOr<storage::ItemRecord> GetItem(Scope scope, ItemOrdinal item) const;
  // One per entry, in order; none where GetItem would say NOT_FOUND. One read of the store for all.
  std::vector<std::optional<storage::ItemRecord>> GetItems(Scope scope,
                                                           absl::Span<const ItemOrdinal> items) const;
  // Live items with an ordinal >= first, in order of ordinals, until `visit` answers false.
  absl::Status ForEachItem(Scope scope, ItemOrdinal first,
                           const std::function<bool(ItemOrdinal, const storage::ItemRecord&)>& visit) const;
  // One more than the largest ordinal given out.
  ItemOrdinal ItemEnd(Scope scope) const;

  // --- users
  // -------------------------------------------------------------------------------------------------
  std::optional<UserNumber> FindUser(Scope scope, std::string_view user_id) const;
  std::optional<UserNumber> FindVisitor(Scope scope, std::string_view visitor_id) const;
  absl::StatusOr<storage::UserRecord> GetUser(Scope scope, UserNumber user) const;
  // 32 random bytes that are this user's alone, from which keys of what is sealed outside the store are
  // derived; gone with the user. NOT_FOUND: there is no such user (any more), or the folder is of an older
  // format and was not opened for writing since.
  absl::StatusOr<std::string> UserSecret(Scope scope, UserNumber user) const;
  // Users and visitors with a number >= first, until `visit` answers false.
  absl::Status ForEachUser(Scope scope, UserNumber first,
                           const std::function<bool(UserNumber, const storage::UserRecord&)>& visit) const;
  // The user's newest events that name items, newest first by (event time, offset), with those of joined
  // visitors. Of a joined visitor: its user's. A session is looked for in the newest 10,000 lines.
  std::vector<HistoryEvent> ReadHistory(Scope scope, UserNumber user, const HistoryOptions& options) const;
  // Every history of the collection, oldest first by (event time, offset); visitors under their user's
  // number. `up_to`: only events with a log offset of at most this.
  absl::Status ForEachHistory(
      Scope scope, LogOffset up_to,
      const std::function<bool(UserNumber, absl::Span<const HistoryEvent>)>& visit) const;
  // One event; NOT_FOUND when there is none at this offset.
  absl::StatusOr<storage::EventRecord> GetEvent(Scope scope, LogOffset offset) const;

  StoreCounts Counts(Scope scope) const;

  // --- registry of models and releases (packages themselves lie in DATA/models)
  // --------------------------------
  absl::Status PutModel(Scope scope, const storage::ModelRecord& model);  // ALREADY_EXISTS unless equal
  absl::StatusOr<storage::ModelRecord> GetModel(Scope scope, const std::string& kind,
                                                const std::string& version) const;
  std::vector<storage::ModelRecord> Models(Scope scope) const;
  absl::Status PutRelease(Scope scope, const storage::ReleaseRecord& release);  // ALREADY_EXISTS
  absl::StatusOr<storage::ReleaseRecord> GetRelease(Scope scope, const std::string& id) const;
  std::vector<storage::ReleaseRecord> Releases(Scope scope) const;
  storage::ActivationRecord Activations(Scope scope) const;
  // Appends when the newest activation is still `expected_current` (empty: none yet); ABORTED otherwise.
  absl::Status Activate(Scope scope, const std::string& expected_current,
                        const storage::ActivationRecord::Activation& next);

  // --- experiments: their records and decisions, and who is enrolled in them
  // ------------------------------------------------ Writes `record` with the next revision when the one that
  // is there has `expected_revision` (0: there is none), and appends `decision`, in one batch. ABORTED:
  // another revision is there; ALREADY_EXISTS. The record as it was written.
  absl::StatusOr<storage::ExperimentRecord> PutExperiment(Scope scope, storage::ExperimentRecord record,
                                                          int64_t expected_revision,
                                                          const storage::DecisionRecord* decision);
  absl::StatusOr<storage::ExperimentRecord> GetExperiment(Scope scope, const std::string& id) const;
  std::vector<storage::ExperimentRecord> Experiments(Scope scope) const;
  // Those with an id after `after` (empty: all), in the order of ids, until `visit` answers false.
  absl::Status ForEachExperiment(Scope scope, const std::string& after,
                                 const std::function<bool(const storage::ExperimentRecord&)>& visit) const;
  // Removes the record and its exposures; `decision` and all before it stay. ABORTED as PutExperiment.
  absl::Status DeleteExperiment(Scope scope, const std::string& id, int64_t expected_revision,
                                const storage::DecisionRecord& decision);
  // Oldest first.
  std::vector<storage::DecisionRecord> Decisions(Scope scope, const std::string& experiment) const;
  absl::Status PutLayer(Scope scope, const storage::LayerRecord& layer);
  absl::Status DeleteLayer(Scope scope, const std::string& id);  // NOT_FOUND
  std::vector<storage::LayerRecord> Layers(Scope scope) const;
  // Not synced where none of them is planned: a power cut may lose the newest.
  absl::Status PutLooks(Scope scope, const storage::LooksRecord& looks);
  storage::LooksRecord Looks(Scope scope, const std::string& experiment) const;  // empty: none
  absl::Status PutServedSums(Scope scope, absl::Span<const storage::ServedSumsRecord> sums);
  std::vector<storage::ServedSumsRecord> ServedSums(Scope scope) const;
  // One record for an (experiment, unit): a later one replaces it. In the log of the disk when it answers,
  // but not synced: a killed process loses none; a power cut may lose the newest, which the next request of
  // the unit writes again, since its arm does not change.
  absl::Status PutExposures(Scope scope, absl::Span<const storage::ExposureRecord> exposures);
  absl::StatusOr<storage::ExposureRecord> GetExposure(Scope scope, const std::string& experiment,
                                                      const std::string& unit) const;
  absl::Status DeleteExposure(Scope scope, const std::string& experiment, const std::string& unit);
  absl::Status ForEachExposure(Scope scope, const std::string& experiment,
                               const std::function<bool(const storage::ExposureRecord&)>& visit) const;

  // --- synonyms, rules of queries, content slots
  // --------------------------------------------------------------------------------------- All of them in
  // one batch, durable when it answers; each is told what it came to, and those that are refused (a wrong id,
  // another revision) are left out. The outer status: nothing was written.
  absl::StatusOr<std::vector<CurationWritten>> WriteCuration(Scope scope, std::vector<CurationWrite> writes);
  absl::StatusOr<storage::CurationRecord> GetCuration(Scope scope, CurationKind kind,
                                                      const std::string& id) const;
  // Those with an id after `after` (empty: all), in the order of ids, until `visit` answers false.
  absl::Status ForEachCuration(Scope scope, CurationKind kind, const std::string& after,
                               const std::function<bool(const storage::CurationRecord&)>& visit) const;

  // --- upkeep
  // ------------------------------------------------------------------------------------------------ A copy
  // by hard links that Open(..., read_only) takes, under DATA/checkpoints; the caller removes it. It holds
  // the registry too; model packages stay where they are.
  absl::StatusOr<std::filesystem::path> CreateCheckpoint();
  int64_t DiskBytes() const;
  absl::Status Flush();
  // Reads every block of the store's files against its checksum. DATA_LOSS names the file.
  absl::Status VerifyChecksums() const;

 private:
  class Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
