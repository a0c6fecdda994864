// The synonyms, rules and content slots of one collection as they serve: read from the store at start, and
// anew with each write.
//
//   auto curation = LiveCuration::Open(store, scope, catalog);
//   (*curation)->Write({{CurationKind::kSynonym, "shoes", record, {}}});   // counts from the next request on
//   std::shared_ptr<const CurationSnapshot> now = (*curation)->snapshot();
//
// Thread-safe.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "curation/rule_set.h"
#include "curation/slot_table.h"
#include "index/analyzer.h"
#include "index/synonym_table.h"
#include "store/store.h"

namespace waymark {

// Immutable: one request sees one from beginning to end.
struct CurationSnapshot {
  struct Size {
    int64_t entries = 0, bytes = 0;
  };
  Analyzer analyzer{AnalysisSettings{}};  // that words of synonyms and rules were analysed with
  SynonymTable synonyms;
  RuleSet rules;
  SlotTable slots;
  Size synonym_size, rule_size, variant_size, slot_size;
};

class LiveCuration {
 public:
  // All live longer.
  static absl::StatusOr<std::unique_ptr<LiveCuration>> Open(Store* store, Scope scope,
                                                            const Catalog* catalog);

  // Checks each write, and makes those that are good durable in one batch; when it answers, they count for
  // every request that begins. One entry for each: INVALID_ARGUMENT names the field, RESOURCE_EXHAUSTED the
  // limit; else as Store::WriteCuration.
  absl::StatusOr<std::vector<CurationWritten>> Write(std::vector<CurationWrite> writes);

  // A slot shows `variant` from the next request on. NOT_FOUND: no such variant. Else as Write.
  struct SlotChange {
    std::string slot, variant, by, reason;     // `variant`: of an activation
    std::optional<int64_t> expected_revision;  // of the slot
  };
  absl::StatusOr<storage::CurationRecord> ActivateVariant(const SlotChange& change);
  // Back to what the slot showed before. FAILED_PRECONDITION: nothing is active.
  absl::StatusOr<storage::CurationRecord> RollbackSlot(const SlotChange& change);

  // Compiles all anew where the schema has come to another analysis.
  std::shared_ptr<const CurationSnapshot> snapshot();

 private:
  LiveCuration(Store* store, Scope scope, const Catalog* catalog)
      : store_(store), scope_(scope), catalog_(catalog) {}
  // Rules of the batch so far, by their words.
  using SameWords = std::map<std::vector<std::string>, size_t>;
  absl::Status CheckWrite(const CurationWrite& write, const CurationSnapshot& now, SameWords* batch) const;
  // With what is written so far, `write` goes beyond a limit. Adds what it takes.
  absl::Status CheckRoom(const CurationWrite& write, CurationSnapshot::Size* size) const;
  absl::Status CheckVariant(const CurationWrite& write, const CurationSnapshot& now) const;
  // As it is in the store now.
  absl::StatusOr<std::shared_ptr<const CompiledSlot>> ReadSlot(const std::string& slot) const;
  absl::StatusOr<storage::CurationRecord> ChangeSlot(
      const SlotChange& change,
      const std::function<absl::StatusOr<std::string>(const storage::SlotRecord&)>& next, bool rollback);
  absl::StatusOr<std::shared_ptr<const CurationSnapshot>> ReadAll(const AnalysisSettings& settings) const;
  // Null: it was compiled under another analysis than this schema has.
  std::shared_ptr<const CurationSnapshot> SnapshotFor(const std::shared_ptr<const Schema>& schema);
  void Publish(std::shared_ptr<const CurationSnapshot> next);

  Store* const store_;
  const Scope scope_;
  const Catalog* const catalog_;
  std::mutex writing_;         // one writer, or one who compiles anew, at a time
  std::mutex snapshot_mutex_;  // of the two below; held to copy them only
  std::shared_ptr<const CurationSnapshot> snapshot_;
  std::shared_ptr<const Schema> compiled_for_;  // that the snapshot was last found to fit
};

}  // namespace waymark
