#include "recommend/live_vectors.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "recommend/checked_file.h"

namespace waymark {
namespace {

constexpr size_t kEmbedBatch = 1024;
constexpr size_t kVectorReplayBatch = 4096;

}  // namespace

LiveVectors::LiveVectors(const Store* store, Scope scope, std::shared_ptr<const Retriever> retriever,
                         const ItemDirectory* items)
    : store_(store),
      scope_(scope),
      retriever_(std::move(retriever)),
      items_(items),
      folder_(store->data_folder() / "vectors" / absl::StrCat(scope.tenant, "-", scope.collection) /
              retriever_->content_sha256().substr(0, 16)) {}

absl::StatusOr<std::unique_ptr<LiveVectors>> LiveVectors::Open(const Store* store, Scope scope,
                                                               std::shared_ptr<const Retriever> retriever,
                                                               const ItemDirectory* items,
                                                               VectorIndexOptions options) {
  options.width = retriever->width();
  std::unique_ptr<LiveVectors> vectors(new LiveVectors(store, scope, std::move(retriever), items));
  if (absl::Status s = vectors->OpenIndex(options); !s.ok()) return s;
  if (absl::Status s = vectors->Replay(); !s.ok()) return s;
  vectors->upkeep_ = std::thread([v = vectors.get()] { v->Upkeep(); });
  return vectors;
}

LiveVectors::~LiveVectors() {
  {
    std::lock_guard lock(upkeep_mutex_);
    stop_ = true;
  }
  upkeep_wake_.notify_all();
  if (upkeep_.joinable()) upkeep_.join();
}

absl::Status LiveVectors::OpenIndex(const VectorIndexOptions& options) {
  auto opened = VectorIndex::Open(folder_, retriever_->content_sha256(), options);
  if (opened.ok() && (*opened)->saved_position() <= store_->End()) {
    index_ = *std::move(opened);
    reach_.Set(index_->saved_position());
    return absl::OkStatus();
  }
  if (absl::IsResourceExhausted(opened.status())) return opened.status();
  if (!opened.ok() && !absl::IsNotFound(opened.status()))
    rebuild_reason_ = std::string(opened.status().message());
  if (!rebuild_reason_.empty()) {
    const bool damaged = absl::IsDataLoss(opened.status());
    spdlog::warn("item_vectors_rebuilt reason=\"{}\" set_aside={}", rebuild_reason_,
                 damaged ? SetAsideDamaged(folder_) : "nothing");
  }
  auto created = VectorIndex::Create(options);
  if (!created.ok()) return created.status();
  index_ = *std::move(created);
  return EmbedAll();
}

absl::Status LiveVectors::EmbedAll() {
  // Items that come meanwhile are in the log after this position, and are embedded again.
  const LogOffset end = store_->End();
  std::vector<ItemOrdinal> batch;
  std::lock_guard lock(apply_mutex_);
  for (ItemOrdinal item = 0; item < items_->End(); ++item) {
    if (items_->Live(item)) batch.push_back(item);
    if (batch.size() == kEmbedBatch || item + 1 == items_->End()) {
      if (absl::Status s = Embed(batch); !s.ok()) return s;
      batch.clear();
    }
  }
  reach_.Set(end);
  return absl::OkStatus();
}

absl::Status LiveVectors::Rebuild() {
  std::vector<ItemOrdinal> gone;
  for (ItemOrdinal item = 0; item < items_->End(); ++item) {
    if (!items_->Live(item)) gone.push_back(item);
  }
  index_->Remove(gone);
  if (absl::Status s = EmbedAll(); !s.ok()) return s;
  return Checkpoint();
}

absl::Status LiveVectors::Replay() {
  std::vector<Change> changes;
  while (position() < store_->End()) {
    changes.clear();
    const auto collect = [&](const Change& change) {
      changes.push_back(change);
      return absl::OkStatus();
    };
    const LogOffset before = position();
    auto read = store_->Read(scope_, before, kVectorReplayBatch, collect, kItemChanges);
    if (!read.ok()) return read.status();
    if (*read <= before) break;
    if (absl::Status s = Apply(changes, *read); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LiveVectors::Embed(absl::Span<const ItemOrdinal> items) {
  const size_t width = static_cast<size_t>(retriever_->width());
  for (size_t begin = 0; begin < items.size(); begin += kEmbedBatch) {
    const auto batch = items.subspan(begin, kEmbedBatch);
    std::vector<float> fresh(batch.size() * width), known(batch.size() * width);
    if (absl::Status s = retriever_->EmbedItems(batch, absl::MakeSpan(fresh)); !s.ok()) return s;
    index_->ReadVectors(batch, absl::MakeSpan(known));
    // A change of price or stock leaves the vector as it was: the index is not burdened with it.
    std::vector<ItemOrdinal> changed;
    std::vector<float> vectors;
    for (size_t i = 0; i < batch.size(); ++i) {
      const float* vector = &fresh[i * width];
      if (std::memcmp(vector, &known[i * width], width * sizeof(float)) == 0) continue;
      changed.push_back(batch[i]);
      vectors.insert(vectors.end(), vector, vector + width);
    }
    if (changed.empty()) continue;
    if (absl::Status s = index_->Add(changed, vectors); !s.ok()) return s;
    WakeUpkeep();
  }
  return absl::OkStatus();
}

absl::Status LiveVectors::Apply(absl::Span<const Change> changes, LogOffset up_to) {
  std::lock_guard lock(apply_mutex_);
  LogOffset reached = position();
  std::vector<ItemOrdinal> touched;
  for (const Change& change : changes) {
    if (change.offset <= reached) continue;
    reached = change.offset;
    if (change.entry.has_item()) touched.push_back(change.entry.item().ordinal());
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  // The catalogue is at or ahead of the log's readers: what lives now is what counts.
  const auto gone = std::stable_partition(touched.begin(), touched.end(),
                                          [this](ItemOrdinal item) { return items_->Live(item); });
  const absl::Span<const ItemOrdinal> all = touched;
  const size_t live = static_cast<size_t>(gone - touched.begin());
  if (absl::Status s = Embed(all.first(live)); !s.ok()) return s;
  if (live < all.size()) {
    index_->Remove(all.subspan(live));
    WakeUpkeep();
  }
  reach_.Set(std::max(reached, up_to));
  return absl::OkStatus();
}

absl::Status LiveVectors::Checkpoint() {
  std::lock_guard lock(apply_mutex_);
  return index_->Save(folder_, retriever_->content_sha256(), position());
}

void LiveVectors::WakeUpkeep() {
  {
    std::lock_guard lock(upkeep_mutex_);
    changed_ = true;
  }
  upkeep_wake_.notify_all();
}

void LiveVectors::Upkeep() {
  const auto stopped = [this] {
    std::lock_guard lock(upkeep_mutex_);
    return stop_;
  };
  while (true) {
    {
      std::unique_lock lock(upkeep_mutex_);
      upkeep_wake_.wait(lock, [this] { return stop_ || changed_; });
      if (stop_) return;
      changed_ = false;
    }
    const absl::Status status = index_->Maintain(stopped);
    if (!status.ok() && !absl::IsCancelled(status))
      spdlog::warn("the upkeep of item vectors failed and is tried again with the next change: {}",
                   status.ToString());
  }
}

}  // namespace waymark
