#include "index/bulk_indexer.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "index/item_terms.h"

namespace waymark {
namespace {

// Items that go to a thread together, and such batches that wait for it.
constexpr size_t kBulkBatch = 128, kWaitingBatches = 8;

// Nothing in the record: the item is deleted.
struct BulkItem {
  ItemOrdinal item = kNoItem;
  std::optional<storage::ItemRecord> record;
  std::shared_ptr<const ItemAnalysis> analysis;
};

}  // namespace

class BulkIndexer::Worker {
 public:
  explicit Worker(std::unique_ptr<BulkPart> part) : part_(std::move(part)), thread_([this] { Run(); }) {}
  ~Worker() {
    {
      std::lock_guard lock(mutex_);
      dropped_ = true;
    }
    End();
  }

  absl::Status Add(BulkItem item) {
    batch_.push_back(std::move(item));
    return batch_.size() < kBulkBatch ? absl::OkStatus() : Send();
  }
  absl::Status Send() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() < kWaitingBatches; });
    if (!batch_.empty()) waiting_.push_back(std::move(batch_));
    batch_.clear();
    changed_.notify_all();
    return status_;
  }
  // Once all was sent.
  void End() {
    {
      std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }
  // After End().
  absl::Status status() const { return status_; }
  std::vector<BulkSegment>& segments() { return segments_; }

 private:
  void Run() {
    std::vector<BulkItem> batch;
    while (Next(&batch)) {
      for (const BulkItem& item : batch) {
        if (absl::Status status = Index(item); !status.ok()) Fail(status);
      }
    }
    std::unique_lock lock(mutex_);
    if (dropped_ || !status_.ok()) return;
    lock.unlock();
    auto segments = part_->Finish();
    if (segments.ok()) {
      segments_ = *std::move(segments);
    } else {
      Fail(segments.status());
    }
    part_.reset();
  }
  // False: there is nothing more to do.
  bool Next(std::vector<BulkItem>* batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_.empty() || ended_; });
    if (dropped_ || waiting_.empty()) return false;
    *batch = std::move(waiting_.front());
    waiting_.pop_front();
    if (!status_.ok()) batch->clear();  // what comes after an error is passed over
    changed_.notify_all();
    return true;
  }
  absl::Status Index(const BulkItem& item) {
    if (!item.record) {
      part_->Delete(item.item);
      return absl::OkStatus();
    }
    const auto terms =
        TermsOfItem(item.analysis->analyzers, item.analysis->fields, item.record->fields(), &scratch_);
    return part_->Put(item.item, terms);
  }
  void Fail(const absl::Status& status) {
    std::lock_guard lock(mutex_);
    if (status_.ok()) status_ = status;
  }

  std::vector<BulkItem> batch_;  // the caller's, until it is sent
  std::unique_ptr<BulkPart> part_;
  std::vector<FieldTerms> scratch_;
  std::vector<BulkSegment> segments_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<BulkItem>> waiting_;
  bool ended_ = false, dropped_ = false;
  absl::Status status_;  // the first error
  std::thread thread_;   // after all that it uses
};

absl::StatusOr<std::unique_ptr<BulkIndexer>> BulkIndexer::Start(
    const std::vector<std::filesystem::path>& folders, int first_segment, const BulkPartLimits& limits) {
  std::unique_ptr<BulkIndexer> bulk(new BulkIndexer());
  bulk->folders_ = folders;
  for (size_t i = 0; i < folders.size(); ++i) {
    std::error_code error;
    std::filesystem::remove_all(folders[i], error);  // what a crash has left
    std::filesystem::create_directories(folders[i], error);
    if (error) {
      return absl::InternalError(absl::StrCat("cannot make ", folders[i].string(), ": ", error.message()));
    }
    bulk->workers_.push_back(std::make_unique<Worker>(std::make_unique<BulkPart>(
        folders[i], first_segment + static_cast<int>(i) * kSegmentNamesOfPart, limits)));
  }
  return bulk;
}

BulkIndexer::BulkIndexer() = default;

BulkIndexer::~BulkIndexer() {
  workers_.clear();
  for (const std::filesystem::path& folder : folders_) {
    std::error_code error;
    std::filesystem::remove_all(folder, error);  // else the next start removes it
  }
}

absl::Status BulkIndexer::Put(ItemOrdinal item, storage::ItemRecord record,
                              const std::shared_ptr<const ItemAnalysis>& analysis) {
  if (item >= held_.size()) held_.resize(std::max<size_t>(item + 1, held_.size() * 3 / 2));
  held_[item] = true;
  return workers_[item % workers_.size()]->Add({item, std::move(record), analysis});
}

absl::Status BulkIndexer::Delete(ItemOrdinal item) {
  return workers_[item % workers_.size()]->Add({item, std::nullopt, nullptr});
}

absl::StatusOr<std::vector<BulkSegment>> BulkIndexer::Finish() {
  for (auto& worker : workers_) {
    if (absl::Status status = worker->Send(); !status.ok()) return status;
  }
  std::vector<BulkSegment> segments;
  for (auto& worker : workers_) worker->End();
  for (auto& worker : workers_) {
    if (!worker->status().ok()) return worker->status();
    std::move(worker->segments().begin(), worker->segments().end(), std::back_inserter(segments));
  }
  return segments;
}

}  // namespace waymark
