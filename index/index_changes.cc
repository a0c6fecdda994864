// How items and changes of the log become documents.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>
#include <unordered_map>
#include <utility>

#include "index/index_folder.h"
#include "index/index_maintainer.h"
#include "index/item_terms.h"

namespace waymark {
namespace {
// Changes that are held in memory at once.
constexpr size_t kBatch = 1000;
constexpr int kMostBulkThreads = 8;
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
  bulk_analysis_ = nullptr;
  return true;
}

absl::Status IndexMaintainer::BeginBulk(int64_t changes) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int threads = bulk_options_.threads > 0 ? bulk_options_.threads : std::min(cores, kMostBulkThreads);
  if (bulk_ || changes < bulk_options_.changes) return absl::OkStatus();
  const auto first_segment = lucene_->BeginParts();
  if (!first_segment.ok()) return first_segment.status();
  std::vector<std::filesystem::path> folders;
  for (int i = 0; i < threads; ++i) folders.push_back(PartFolder(folder_, static_cast<size_t>(i)));
  auto bulk = BulkIndexer::Start(folders, *first_segment);
  if (!bulk.ok()) return bulk.status();
  bulk_ = *std::move(bulk);
  return absl::OkStatus();
}

absl::Status IndexMaintainer::EndBulk() {
  if (!bulk_) return absl::OkStatus();
  auto made = bulk_->Finish();
  if (!made.ok()) return made.status();
  if (absl::Status status = lucene_->Adopt(*made); !status.ok()) return status;
  for (BulkSegment& segment : *made) segments_.push_back({std::move(segment.compiled), nullptr});
  bulk_.reset();
  if (absl::Status status = PublishSnapshot(); !status.ok()) return status;
  // By a manifest of its own, so that only the newest commits must be kept.
  return Commit();
}

void IndexMaintainer::AbandonBulk() {
  if (!bulk_) return;
  bulk_.reset();
  lucene_.reset();  // documents are missing that it was told of
}

absl::StatusOr<bool> IndexMaintainer::FillFromStore(const std::atomic<bool>& stop) {
  if (absl::Status status = BeginBulk(catalog_->live_count()); !status.ok()) return status;
  // Everything up to here is seen by the walk; what comes later is taken from the log (again, where the walk
  // has seen it, which changes nothing).
  const LogOffset end = store_->End();
  absl::StatusOr<bool> serves = true;
  std::vector<ChangedItem> batch;
  const auto flush = [&] {
    // The schema is read after the items: it grows before an item with a new field is written.
    serves = FollowSchema();
    if (!serves.ok() || !*serves) return false;
    if (absl::Status status = Index(std::exchange(batch, {})); !status.ok()) serves = status;
    return serves.ok() && !stop;
  };
  absl::Status walked =
      store_->ForEachItem(scope_, 0, [&](ItemOrdinal item, const storage::ItemRecord& record) {
        batch.push_back({item, record, /*all=*/true, {}});
        return batch.size() < kBatch || flush();
      });
  if (!walked.ok()) return walked;
  if (serves.ok() && *serves && !stop) flush();
  if (!serves.ok() || !*serves || stop) {
    AbandonBulk();
    return serves;
  }
  position_ = end;
  filled_ = true;
  if (absl::Status status = EndBulk(); !status.ok()) return status;
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
  if (absl::Status status = Index(std::move(items)); !status.ok()) return status;
  if (*reached > position_) uncommitted_ = true;
  position_ = *reached;
  return true;
}

absl::Status IndexMaintainer::Index(std::vector<ChangedItem> items) {
  for (ChangedItem& changed : items) {
    const ItemOrdinal item = changed.item;
    const bool deleted = changed.record.deleted();
    if (deleted) {
      if (!HasDocument(item)) continue;
      if (absl::Status status = DeleteItem(item); !status.ok()) return status;
    } else {
      // A change of fields that are not searched must never touch the segments.
      const bool searched = changed.all || AnySearched(fields_, changed.changed_fields);
      if (!searched && HasDocument(item)) continue;
      if (absl::Status status = IndexItem(std::move(changed)); !status.ok()) return status;
    }
    SetDocument(item, !deleted);
    ++unpublished_;
    uncommitted_ = true;
  }
  return absl::OkStatus();
}

absl::Status IndexMaintainer::DeleteItem(ItemOrdinal item) {
  return bulk_ && bulk_->Holds(item) ? bulk_->Delete(item) : lucene_->Delete(item);
}

absl::Status IndexMaintainer::IndexItem(ChangedItem item) {
  if (!bulk_) {
    const auto terms = TermsOfItem(analyzers_, fields_, item.record.fields(), &scratch_);
    return lucene_->Put(item.item, terms, HasDocument(item.item));
  }
  if (HasDocument(item.item) && !bulk_->Holds(item.item)) {
    if (absl::Status status = lucene_->Delete(item.item); !status.ok()) return status;
  }
  if (!bulk_analysis_)
    bulk_analysis_ = std::make_shared<const ItemAnalysis>(ItemAnalysis{fields_, analyzers_});
  return bulk_->Put(item.item, std::move(item.record), bulk_analysis_);
}

void IndexMaintainer::SetDocument(ItemOrdinal item, bool has) {
  if (item >= indexed_.size()) indexed_.resize(std::max<size_t>(item + 1, indexed_.size() * 3 / 2));
  documents_ += static_cast<int>(has) - static_cast<int>(indexed_[item]);
  indexed_[item] = has;
}

}  // namespace waymark
