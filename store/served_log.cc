#include "store/served_log.h"

#include <spdlog/spdlog.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "store/database_impl.h"
#include "store/keys.h"
#include "store/text_check.h"

namespace waymark {
namespace {

// The families of DATA/served.
constexpr std::string_view kFamilyNames[] = {"default", "requests"};
constexpr Family kRecords = static_cast<Family>(0);   // scope + time + hash of the request id -> ServeRecord
constexpr Family kRequests = static_cast<Family>(1);  // scope + request id -> key of the record
constexpr size_t kTrimBatch = 1000;
constexpr size_t kWriteBatchBytes = 1 << 20;

std::string TimeKey(Scope scope, int64_t time_us) {
  std::string key = ScopeKey(scope);
  AppendBigEndian64(key, static_cast<uint64_t>(std::max<int64_t>(time_us, 0)));
  return key;
}

std::string RecordKey(Scope scope, const storage::ServeRecord& record) {
  std::string key = TimeKey(scope, record.time_us());
  AppendBigEndian64(key, XXH3_64bits(record.request_id().data(), record.request_id().size()));
  return key;
}

std::string RequestKey(Scope scope, std::string_view request_id) { return ItemIdKey(scope, request_id); }

}  // namespace

class ServedLog::Impl {
 public:
  Impl(std::unique_ptr<Database> opened, const ServedLogOptions& given)
      : options(given), database(std::move(opened)) {
    if (!options.read_only) writer_ = std::thread([this] { WriteForEver(); });
  }

  ~Impl() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    if (writer_.joinable()) writer_.join();
  }

  bool Append(Scope scope, storage::ServeRecord record) {
    const size_t bytes = record.ByteSizeLong() + 64;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!options.read_only && queued_bytes_ + bytes <= options.queue_bytes) {
        queued_bytes_ += bytes;
        queue_.push_back({scope, bytes, std::move(record)});
        ++appended_;
        wake_.notify_one();
        return true;
      }
    }
    ++dropped;
    return false;
  }

  absl::Status Flush() {
    std::unique_lock<std::mutex> lock(mutex_);
    const uint64_t appended = appended_;
    written_.wait(lock, [&] { return done_ >= appended; });
    return last_status_;
  }

  int64_t OldestKeptUs() const { return absl::ToUnixMicros(options.clock->Now() - options.retention); }

  absl::Status TrimScope(Scope scope, int64_t before_us);
  absl::Status Trim();
  // Removes records among [begin, end) that `matches`.
  absl::Status Remove(Scope scope, const std::string& begin, const std::string& end,
                      const std::function<bool(const storage::ServeRecord&)>& matches);

  const ServedLogOptions options;
  std::unique_ptr<Database> database;
  std::atomic<int64_t> dropped = 0;

 private:
  struct Queued {
    Scope scope;
    size_t bytes = 0;
    storage::ServeRecord record;
  };

  void WriteForEver();
  void WriteSome(const std::vector<Queued>& records);

  std::mutex mutex_;
  std::condition_variable wake_, written_;
  std::deque<Queued> queue_;
  size_t queued_bytes_ = 0;
  uint64_t appended_ = 0, done_ = 0;  // records
  bool stop_ = false;
  absl::Status last_status_;
  std::mutex trim_mutex_;
  std::thread writer_;
};

void ServedLog::Impl::WriteForEver() {
  const auto interval = absl::ToChronoMilliseconds(options.trim_interval);
  auto next_trim = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait_until(lock, next_trim, [&] { return stop_ || !queue_.empty(); });
    if (std::chrono::steady_clock::now() >= next_trim && !stop_) {
      next_trim = std::chrono::steady_clock::now() + interval;
      lock.unlock();
      if (absl::Status status = Trim(); !status.ok()) spdlog::warn("served records: {}", status.ToString());
      lock.lock();
    }
    if (queue_.empty() && stop_) return;
    std::vector<Queued> records;
    for (size_t bytes = 0; !queue_.empty() && bytes < kWriteBatchBytes;) {
      bytes += queue_.front().bytes;
      records.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    if (records.empty()) continue;
    lock.unlock();
    WriteSome(records);
    lock.lock();
    done_ += records.size();
    for (const Queued& record : records) queued_bytes_ -= record.bytes;
    written_.notify_all();
  }
}

void ServedLog::Impl::WriteSome(const std::vector<Queued>& records) {
  Batch batch;
  for (const Queued& queued : records) {
    const std::string key = RecordKey(queued.scope, queued.record);
    database->Put(batch, kRecords, key, queued.record);
    if (!queued.record.request_id().empty()) {
      database->Put(batch, kRequests, RequestKey(queued.scope, queued.record.request_id()), key);
    }
  }
  const absl::Status status = database->Write(batch, false);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!status.ok()) {
    dropped += static_cast<int64_t>(records.size());
    // Once, not for each batch of a disk that stays full.
    if (last_status_.ok()) spdlog::warn("served records are dropped: {}", status.ToString());
  }
  last_status_ = status;
}

absl::Status ServedLog::Impl::Remove(Scope scope, const std::string& begin, const std::string& end,
                                     const std::function<bool(const storage::ServeRecord&)>& matches) {
  const auto walk = database->Walk(kRecords, begin, end, true);
  storage::ServeRecord record;
  while (walk->Valid()) {
    Batch batch;
    for (size_t count = 0; walk->Valid() && count < kTrimBatch; walk->Next()) {
      // One that cannot be read is removed too: it cannot be told whose it was.
      const bool readable = ParseRecord(walk->value(), "served record", record).ok();
      if (readable && !matches(record)) continue;
      database->Delete(batch, kRecords, walk->key());
      ++count;
      if (!readable || record.request_id().empty()) continue;
      const std::string request = RequestKey(scope, record.request_id());
      auto points_at = database->Get(kRequests, request);
      if (!points_at.ok()) return points_at.status();
      if (points_at->has_value() && **points_at == walk->key()) database->Delete(batch, kRequests, request);
    }
    if (batch.Count() == 0) break;
    if (absl::Status status = database->Write(batch, false); !status.ok()) return status;
  }
  return database->Check(walk->status());
}

absl::Status ServedLog::Impl::TrimScope(Scope scope, int64_t before_us) {
  const std::string begin = ScopeKey(scope), end = TimeKey(scope, before_us);
  absl::Status status = Remove(scope, begin, end, [](const auto&) { return true; });
  if (!status.ok()) return status;
  // Whole files of nothing but removed records go at once; what shares a file goes when it is compacted.
  return database->DeleteFiles(kRecords, begin, end);
}

absl::Status ServedLog::Impl::Trim() {
  std::lock_guard<std::mutex> lock(trim_mutex_);
  const int64_t before_us = OldestKeptUs();
  // From scope to scope.
  for (std::string at(kScopeBytes, '\0'); !at.empty();) {
    const auto walk = database->Walk(kRecords, at, "", true);
    if (!walk->Valid()) return database->Check(walk->status());
    const std::string key(walk->key());
    const Scope scope = {ReadBigEndian32(key), ReadBigEndian32(std::string_view(key).substr(4))};
    if (absl::Status status = TrimScope(scope, before_us); !status.ok()) return status;
    at = PrefixEnd(ScopeKey(scope));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ServedLog>> ServedLog::Open(const std::filesystem::path& data,
                                                           const ServedLogOptions& options) {
  const std::filesystem::path folder = data / "served";
  std::error_code error;
  if (options.read_only && !std::filesystem::exists(folder / "CURRENT", error)) {
    return absl::NotFoundError(absl::StrCat(folder.string(), ": nothing was served yet"));
  }
  if (!options.read_only) std::filesystem::create_directories(folder, error);
  if (error) return absl::FailedPreconditionError(absl::StrCat(folder.string(), ": ", error.message()));
  // Lists are written behind their answers, so those behind damage are given up with a line in the log.
  auto database = Database::Open(folder, {.families = kFamilyNames,
                                          .read_only = options.read_only,
                                          .cache_bytes = 8 << 20,
                                          .give_up_damaged_writes = true});
  if (absl::IsDataLoss(database.status()) || absl::IsInternal(database.status()) ||
      absl::IsUnavailable(database.status())) {
    return absl::Status(
        database.status().code(),
        absl::StrCat(std::string(database.status().message()),
                     "; restore it from a snapshot, or move it away to go on without the lists "
                     "that were served so far"));
  }
  if (!database.ok()) return database.status();
  return std::unique_ptr<ServedLog>(new ServedLog(std::make_unique<Impl>(std::move(*database), options)));
}

ServedLog::ServedLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServedLog::~ServedLog() = default;

bool ServedLog::Append(Scope scope, storage::ServeRecord record) {
  return impl_->Append(scope, std::move(record));
}
int64_t ServedLog::dropped() const { return impl_->dropped; }
absl::Status ServedLog::Flush() { return impl_->Flush(); }
absl::Status ServedLog::VerifyChecksums() const { return impl_->database->VerifyChecksums(); }
absl::Status ServedLog::Trim() { return impl_->Trim(); }

absl::StatusOr<storage::ServeRecord> ServedLog::Find(Scope scope, std::string_view request_id) const {
  const absl::Status missing =
      absl::NotFoundError(absl::StrCat("nothing is kept of the request '", Shortened(request_id), "'"));
  auto key = impl_->database->Get(kRequests, RequestKey(scope, request_id));
  if (!key.ok()) return key.status();
  if (!key->has_value()) return missing;
  storage::ServeRecord record;
  absl::Status status = impl_->database->GetRecord(kRecords, **key, "served record", record);
  if (absl::IsNotFound(status)) return missing;
  if (!status.ok()) return status;
  if (record.time_us() < impl_->OldestKeptUs()) return missing;
  return record;
}

absl::Status ServedLog::ForEach(Scope scope, std::optional<absl::Time> not_before,
                                const std::function<bool(const storage::ServeRecord&)>& visit) const {
  int64_t from_us = impl_->OldestKeptUs();
  if (not_before.has_value()) from_us = std::max(from_us, absl::ToUnixMicros(*not_before));
  const auto walk =
      impl_->database->Walk(kRecords, TimeKey(scope, from_us), PrefixEnd(ScopeKey(scope)), true);
  storage::ServeRecord record;
  for (; walk->Valid(); walk->Next()) {
    if (absl::Status status = ParseRecord(walk->value(), "served record", record); !status.ok())
      return status;
    if (!visit(record)) return absl::OkStatus();
  }
  return impl_->database->Check(walk->status());
}

absl::Status ServedLog::RemoveUsers(Scope scope, absl::Span<const UserNumber> users) {
  // What is still queued is theirs too.
  if (absl::Status status = Flush(); !status.ok()) return status;
  return impl_->Remove(scope, ScopeKey(scope), PrefixEnd(ScopeKey(scope)),
                       [&](const storage::ServeRecord& record) {
                         return std::find(users.begin(), users.end(), record.user()) != users.end();
                       });
}

}  // namespace waymark
