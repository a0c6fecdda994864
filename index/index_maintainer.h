// Keeps one collection's index in step with the store: opens or sets aside what lies on disk, takes in
// changes, rebuilds when the schema asks for it, commits. All of Lucene++ happens here, on the thread that
// calls.
//
//   IndexMaintainer maintainer(store, scope, folder, bm25, publish);
//   maintainer.Open();
//   maintainer.Use(&catalog);
//   maintainer.Advance(stop);   // up to the log's end
//   maintainer.Commit();
//
// Not thread-safe: one thread at a time.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "index/bulk_indexer.h"
#include "index/field_analyzers.h"
#include "index/index_manifest.h"
#include "index/index_snapshot.h"
#include "index/lucene_segments.h"
#include "store/store.h"

namespace waymark {

// When changes are taken in as a bulk load (index/bulk_indexer.h), on threads of its own.
struct BulkOptions {
  int threads = 0;          // 0: one a core, at most 8
  int64_t changes = 5'000;  // from so many that are to be taken in on
};

class IndexMaintainer {
 public:
  using Publish = std::function<void(std::shared_ptr<const IndexSnapshot>)>;
  // `publish` gets every new snapshot; their positions never go back. `folder`: IndexFolder(), or where a
  // rebuild is made.
  IndexMaintainer(const Store* store, Scope scope, std::filesystem::path folder, const Bm25Options& bm25,
                  Publish publish, const BulkOptions& bulk = {});
  ~IndexMaintainer();

  // Goes on from the last commit, or from nothing when there is none, it is damaged, or it is of another
  // schema or store. An error only when the folder cannot be used at all.
  absl::Status Open();
  // Before Advance() and RebuildAside().
  void Use(const Catalog* catalog) { catalog_ = catalog; }
  // Makes all that is committed in the store at the time of the call searchable; stops between batches when
  // `stop` becomes true. After an error the next call goes on from the last commit.
  absl::Status Advance(const std::atomic<bool>& stop);
  // Sets the index aside and makes it anew from the store, while the one before serves.
  absl::Status RebuildAside(const std::string& reason, const std::atomic<bool>& stop);
  // Makes durable what Advance() has taken in.
  absl::Status Commit();
  bool has_uncommitted() const { return uncommitted_ && filled_; }
  // Why an index was last set aside or rebuilt; empty: never.
  const std::string& rebuild_reason() const { return rebuild_reason_; }
  // Why a segment was last compiled again; empty: never.
  const std::string& recompile_reason() const { return recompile_reason_; }

 private:
  // What one batch of the log says of an item.
  struct ChangedItem {
    ItemOrdinal item = kNoItem;
    storage::ItemRecord record;  // as it is at the end of the batch
    bool all = false;
    std::vector<std::string> changed_fields;
  };

  // index_maintainer.cc
  absl::Status Reopen(const std::vector<LiveSegment>& compiled);
  absl::Status UseManifest(const IndexManifest& manifest, const std::vector<LiveSegment>& compiled);
  absl::Status StartAfresh();
  // What fails here costs the next start time, nothing else.
  void KeepCompiledFiles(const IndexManifest& manifest);
  enum class OldIndex { kRemove, kSetAside };
  absl::Status Rebuild(const std::string& reason, OldIndex old, const std::atomic<bool>& stop);
  absl::Status AdvanceUnguarded(const std::atomic<bool>& stop);
  absl::Status PublishSnapshot();

  // index_changes.cc
  // From here on documents go to several threads, if so many changes are worth it.
  absl::Status BeginBulk(int64_t changes);
  // What they have made becomes part of the index.
  absl::Status EndBulk();
  // Lets go of it, and of what was done beside it: the next Advance() goes on from the last commit.
  void AbandonBulk();
  // Whether the segments can go on under the catalogue's schema; takes on what does not need a rebuild.
  absl::StatusOr<bool> FollowSchema();
  // Takes in every live item. False: the schema changed so that what was taken in is of no use.
  absl::StatusOr<bool> FillFromStore(const std::atomic<bool>& stop);
  // Takes in at most one batch of the log after position_.
  absl::StatusOr<bool> ReadLog();
  absl::Status Index(std::vector<ChangedItem> items);
  absl::Status IndexItem(ChangedItem item);
  absl::Status DeleteItem(ItemOrdinal item);
  bool HasDocument(ItemOrdinal item) const { return item < indexed_.size() && indexed_[item]; }
  void SetDocument(ItemOrdinal item, bool has);

  const Store* store_;
  const Scope scope_;
  const Catalog* catalog_ = nullptr;
  const std::filesystem::path folder_;
  const Bm25Options bm25_;
  const Publish publish_;
  const BulkOptions bulk_options_;

  std::unique_ptr<LuceneSegments> lucene_;             // null: after an error, until it is opened again
  std::unique_ptr<BulkIndexer> bulk_;                  // null: documents go to lucene_ at once
  std::shared_ptr<const ItemAnalysis> bulk_analysis_;  // of fields_ and analyzers_; null: not made yet
  std::vector<LiveSegment> segments_;
  std::vector<IndexedFile> files_;  // of the last manifest
  AnalysisSettings analysis_;
  IndexedFields fields_;
  FieldAnalyzers analyzers_;  // of both
  LogOffset position_ = 0;
  bool filled_ = false;        // every item that the store had at the start is in
  std::vector<bool> indexed_;  // [ordinal]: it has a document
  int64_t documents_ = 0;
  std::shared_ptr<const IndexSnapshot> published_;
  size_t unpublished_ = 0;      // documents written or deleted since the last snapshot
  bool publish_wanted_ = true;  // something else changed since then
  bool uncommitted_ = false;
  std::string rebuild_reason_, recompile_reason_;
  std::vector<FieldTerms> scratch_;
};

}  // namespace waymark
