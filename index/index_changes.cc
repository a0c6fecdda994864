// How items and changes of the log become documents.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <unordered_map>

#include "index/index_maintainer.h"
#include "index/item_terms.h"

namespace waymark {
namespace {
// Changes that are held in memory at once.
constexpr size_t kBatch = 1000;
}  // namespace

absl::StatusOr<bool> IndexMaintainer::FollowSchema() {
  const std::shared_ptr<const Schema> schema = catalog_->schema();
  absl::StatusOr<AnalysisSettings> analysis = AnalysisOf(schema->record());
  if (!analysis.ok()) return analysis.status();
  IndexedFields fields = IndexedFieldsOf(*schema);
  if (documents_ > 0 && (*analysis != analysis_ || !CanExtend(fields_, fields))) return false;
  if (*analysis == analysis_ && fields == fields_) return true;
  uncommitted_ = publish_wanted_ = true;
  analysis_ = *analysis;
  fields_ = std::move(fields);
  analyzers_ = FieldAnalyzers(analysis_, fields_);
  return true;
}

absl::StatusOr<bool> IndexMaintainer::FillFromStore(const std::atomic<bool>& stop) {
  // Everything up to here is seen by the walk; what comes later is taken from the log (again, where the walk
  // has seen it, which changes nothing).
  const LogOffset end = store_->End();
  absl::StatusOr<bool> serves = true;
  std::vector<ChangedItem> batch;
  const auto flush = [&] {
    // The schema is read after the items: it grows before an item with a new field is written.
    serves = FollowSchema();
    if (!serves.ok() || !*serves) return false;
    if (absl::Status status = Index(batch); !status.ok()) serves = status;
    batch.clear();
    return serves.ok() && !stop;
  };
  absl::Status walked =
      store_->ForEachItem(scope_, 0, [&](ItemOrdinal item, const storage::ItemRecord& record) {
        batch.push_back({item, record, /*all=*/true, {}});
        return batch.size() < kBatch || flush();
      });
  if (!walked.ok()) return walked;
  if (serves.ok() && *serves && !stop) flush();
  if (!serves.ok() || !*serves || stop) return serves;
  position_ = end;
  filled_ = true;
  return true;
}

absl::StatusOr<bool> IndexMaintainer::ReadLog() {
  std::vector<ChangedItem> items;
  std::unordered_map<ItemOrdinal, size_t> places;
  absl::StatusOr<LogOffset> reached = store_->Read(scope_, position_, kBatch, [&](const Change& change) {
    if (!change.entry.has_item()) return absl::OkStatus();
    const storage::ItemChange& item = change.entry.item();
    auto [place, fresh] = places.emplace(item.ordinal(), items.size());
    if (fresh) items.push_back({item.ordinal()});
    ChangedItem& changed = items[place->second];
    changed.record = item.record();
    changed.all = changed.all || item.all();
    changed.changed_fields.insert(changed.changed_fields.end(), item.changed_fields().begin(),
                                  item.changed_fields().end());
    return absl::OkStatus();
  });
  if (!reached.ok()) return reached.status();
  // The schema is read after the items: it grows before an item with a new field is written.
  absl::StatusOr<bool> serves = FollowSchema();
  if (!serves.ok() || !*serves) return serves;
  if (absl::Status status = Index(items); !status.ok()) return status;
  if (*reached > position_) uncommitted_ = true;
  position_ = *reached;
  return true;
}

absl::Status IndexMaintainer::Index(const std::vector<ChangedItem>& items) {
  for (const ChangedItem& item : items) {
    absl::Status status;
    if (item.record.deleted()) {
      if (!HasDocument(item.item)) continue;
      status = lucene_->Delete(item.item);
    } else {
      // A change of fields that are not searched must never touch the segments.
      const bool searched = item.all || AnySearched(fields_, item.changed_fields);
      if (!searched && HasDocument(item.item)) continue;
      status = IndexItem(item);
    }
    if (!status.ok()) return status;
    SetDocument(item.item, !item.record.deleted());
    ++unpublished_;
    uncommitted_ = true;
  }
  return absl::OkStatus();
}

absl::Status IndexMaintainer::IndexItem(const ChangedItem& item) {
  const auto terms = TermsOfItem(analyzers_, fields_, item.record.fields(), &scratch_);
  return lucene_->Put(item.item, terms, HasDocument(item.item));
}

void IndexMaintainer::SetDocument(ItemOrdinal item, bool has) {
  if (item >= indexed_.size()) indexed_.resize(std::max<size_t>(item + 1, indexed_.size() * 3 / 2));
  documents_ += static_cast<int>(has) - static_cast<int>(indexed_[item]);
  indexed_[item] = has;
}

}  // namespace waymark
