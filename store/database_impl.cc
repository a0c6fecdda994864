#include "store/database_impl.h"

#include <google/protobuf/io/coded_stream.h>
#include <rocksdb/convenience.h>
#include <rocksdb/utilities/checkpoint.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "store/keys.h"

namespace waymark {
namespace {

// RocksDB gets as much at the least to write its buffers into files when it is opened again.
constexpr uint64_t kReopenBytes = 16 << 20;
constexpr std::chrono::seconds kReadersWait(1), kReopenEvery(1);

bool IsLockClash(const rocksdb::Status& status) {
  return status.IsIOError() && status.ToString().find("lock") != std::string::npos;
}

// RocksDB lets one thread write what others have put together. Not inlined, so that the thread sanitizer sees
// Database::Write above it, which is what it is told to pass over.
[[gnu::noinline]] rocksdb::Status WriteGrouped(rocksdb::DB& database, const rocksdb::WriteOptions& options,
                                               rocksdb::WriteBatch& batch) {
  return database.Write(options, &batch);
}

}  // namespace

std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice ToSlice(std::string_view view) { return {view.data(), view.size()}; }

absl::Status FromRocks(const rocksdb::Status& status, const std::filesystem::path& where) {
  if (status.ok()) return absl::OkStatus();
  const std::string text = absl::StrCat(where.string(), ": ", status.ToString());
  if (status.IsNoSpace()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the disk that holds ", where.string(),
                     " is full; nothing of this write was kept: free space there, then write again"));
  }
  if (status.IsNotFound()) return absl::NotFoundError(text);
  if (status.IsCorruption()) {
    return absl::DataLossError(
        absl::StrCat(text, " (the folder is damaged: restore it from a backup, or import again)"));
  }
  if (status.IsShutdownInProgress()) return absl::CancelledError(text);
  if (status.IsBusy() || status.IsTimedOut() || status.IsTryAgain()) return absl::UnavailableError(text);
  if (status.IsInvalidArgument() || status.IsNotSupported()) return absl::FailedPreconditionError(text);
  return absl::InternalError(text);
}

absl::Status ParseRecord(std::string_view bytes, std::string_view what,
                         google::protobuf::MessageLite& record) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  input.SetRecursionLimit(200);
  if (record.ParseFromCodedStream(&input) && input.ConsumedEntireMessage()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("a record of the store cannot be read: ", std::string(what)));
}

View::View(std::shared_ptr<RocksFolder> folder) : folder_(std::move(folder)) {
  if (folder_ != nullptr) snapshot_ = folder_->db()->GetSnapshot();
}

View::~View() {
  if (folder_ != nullptr) folder_->db()->ReleaseSnapshot(snapshot_);
}

KeyRange::KeyRange(std::shared_ptr<RocksFolder> folder, Family family, std::string begin, std::string end,
                   const rocksdb::Snapshot* snapshot, bool scan)
    : folder_(std::move(folder)),
      begin_(std::move(begin)),
      end_(std::move(end)),
      lower_(begin_),
      upper_(end_) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  options.iterate_lower_bound = &lower_;
  if (!end_.empty()) options.iterate_upper_bound = &upper_;
  options.fill_cache = !scan;
  options.total_order_seek = true;
  iterator_.reset(folder_->db()->NewIterator(options, folder_->handle(family)));
  iterator_->Seek(lower_);
}

KeyRange::KeyRange(const rocksdb::Status& error) : iterator_(rocksdb::NewErrorIterator(error)) {}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& folder,
                                                         const DatabaseOptions& options) {
  std::unique_ptr<Database> database(new Database(folder, options));
  absl::Status status = database->Open();
  if (!status.ok()) return status;
  return database;
}

absl::Status Database::Open() {
  const rocksdb::Status status = RocksFolder::Open(folder_, options_, kEverySequence, open_);
  if (IsLockClash(status)) {
    return absl::FailedPreconditionError(absl::StrCat(folder_.string(), " is open in another process"));
  }
  if (status.IsNoSpace()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the disk that holds ", folder_.string(), " is full, and opening the folder takes some room: free ",
        options_.disk_reserve_bytes >> 20, " MB there, then try again; nothing that is stored is lost"));
  }
  if (status.IsCorruption() && status.ToString().find("lie behind the damage") != std::string::npos) {
    return absl::DataLossError(absl::StrCat(folder_.string(), ": ", status.getState(),
                                            ". Nothing was changed. Restore a snapshot, or go on without "
                                            "them: waymark check --give-up-damaged-writes"));
  }
  if (!status.ok()) return Check(status);
  std::error_code error;
  const std::filesystem::space_info disk = std::filesystem::space(folder_, error);
  reserve_bytes_ =
      error ? 0 : std::min<uint64_t>(options_.disk_reserve_bytes, static_cast<uint64_t>(disk.capacity) / 20);
  return absl::OkStatus();
}

std::shared_ptr<RocksFolder> Database::Use() const {
  std::lock_guard<std::mutex> lock(open_mutex_);
  return open_;
}

rocksdb::Status Database::Closed() const {
  return rocksdb::Status::Aborted("closed after an error, and could not be opened again: see the log");
}

absl::StatusOr<std::optional<std::string>> Database::Get(Family family, std::string_view key) const {
  const std::shared_ptr<RocksFolder> open = Use();
  if (open == nullptr) return Check(Closed());
  std::string value;
  const rocksdb::Status status = open->db()->Get({}, open->handle(family), ToSlice(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return Check(status);
  return std::optional<std::string>(std::move(value));
}

absl::Status Database::GetRecord(Family family, std::string_view key, std::string_view what,
                                 google::protobuf::MessageLite& record) const {
  const std::shared_ptr<RocksFolder> open = Use();
  if (open == nullptr) return Check(Closed());
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = open->db()->Get({}, open->handle(family), ToSlice(key), &value);
  if (status.IsNotFound()) return absl::NotFoundError(absl::StrCat("there is no ", std::string(what)));
  if (!status.ok()) return Check(status);
  return ParseRecord(ToView(value), what, record);
}

void Database::MultiGet(Family family, absl::Span<const rocksdb::Slice> keys, rocksdb::PinnableSlice* values,
                        rocksdb::Status* statuses) const {
  const std::shared_ptr<RocksFolder> open = Use();
  if (open == nullptr) {
    std::fill(statuses, statuses + keys.size(), Closed());
    return;
  }
  open->db()->MultiGet({}, open->handle(family), keys.size(), keys.data(), values, statuses);
}

std::unique_ptr<KeyRange> Database::Walk(Family family, std::string begin, std::string end, bool scan,
                                         const View* view) const {
  std::shared_ptr<RocksFolder> open = view == nullptr ? Use() : view->folder_;
  return std::unique_ptr<KeyRange>(
      open == nullptr ? new KeyRange(Closed())
                      : new KeyRange(std::move(open), family, std::move(begin), std::move(end),
                                     view == nullptr ? nullptr : view->snapshot_, scan));
}

std::unique_ptr<KeyRange> Database::Walk(Family family, std::string prefix, bool scan,
                                         const View* view) const {
  std::string end = PrefixEnd(prefix);
  return Walk(family, std::move(prefix), std::move(end), scan, view);
}

// Adding to a batch in memory fails only beyond 4 GB, which the commit queue's limits rule out.
void Database::Put(Batch& batch, Family family, std::string_view key, std::string_view value) const {
  const std::shared_ptr<RocksFolder> open = Use();
  if (open == nullptr) {
    batch.incomplete_ = true;
    return;
  }
  batch.writes_.Put(open->handle(family), ToSlice(key), ToSlice(value)).PermitUncheckedError();
}

void Database::Put(Batch& batch, Family family, std::string_view key,
                   const google::protobuf::MessageLite& record) const {
  Put(batch, family, key, record.SerializeAsString());
}

void Database::Delete(Batch& batch, Family family, std::string_view key) const {
  const std::shared_ptr<RocksFolder> open = Use();
  if (open == nullptr) {
    batch.incomplete_ = true;
    return;
  }
  batch.writes_.Delete(open->handle(family), ToSlice(key)).PermitUncheckedError();
}

absl::Status Database::Write(Batch& batch, bool sync) {
  if (absl::Status status = CheckRoom(batch.bytes(), reserve_bytes_); !status.ok()) return status;
  std::shared_ptr<RocksFolder> open = Use();
  if (open == nullptr || open->stopped()) {
    open.reset();
    if (absl::Status status = Reopen(); !status.ok()) return status;
    open = Use();
  }
  if (open == nullptr || batch.incomplete_) return Check(Closed());
  rocksdb::WriteOptions options;
  options.sync = sync;
  const rocksdb::Status status = WriteGrouped(*open->db(), options, batch.writes_);
  if (!status.ok()) open->Stop();
  return Check(status);
}

absl::Status Database::CheckRoom(uint64_t bytes, uint64_t reserve) const {
  std::error_code error;
  const std::filesystem::space_info disk = std::filesystem::space(folder_, error);
  if (error || reserve == 0 || disk.available >= reserve + bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the disk that holds ", folder_.string(), " is full: ", disk.available >> 20, " MB are left, and ",
      reserve >> 20,
      " MB are kept for upkeep; nothing of this write was kept: free space there, then write again"));
}

// RocksDB's own way back, Resume, is not taken: in 7.8 a flush that was scheduled when the error came is
// never run again, and Resume, or a later write, waits for it without end.
absl::Status Database::Reopen() {
  std::lock_guard<std::mutex> lock(reopen_mutex_);
  if (const auto open = Use(); open != nullptr && !open->stopped()) return absl::OkStatus();
  if (options_.read_only)
    return absl::FailedPreconditionError(absl::StrCat(folder_.string(), " is read only"));
  if (absl::Status status = CheckRoom(0, kReopenBytes); !status.ok()) return status;
  const Time now = std::chrono::steady_clock::now();
  if (failed_.has_value() && now - *failed_ < kReopenEvery) return failure_;
  for (;;) {
    std::unique_lock<std::mutex> use(open_mutex_);
    if (open_ == nullptr || open_.use_count() == 1) {
      // Letting go of the last reference acquires what readers did before they let go of theirs.
      failure_ = ReopenAlone();
      break;
    }
    use.unlock();
    if (std::chrono::steady_clock::now() - now > kReadersWait) {
      return absl::UnavailableError(
          absl::StrCat(folder_.string(),
                       " is opened again after an error when what reads it now is done: write again then"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  failed_.reset();
  if (!failure_.ok()) failed_ = std::chrono::steady_clock::now();
  return failure_;
}

// Without a way to write, for reading alone.
absl::Status Database::ReopenAlone() {
  if (open_ != nullptr && !open_->read_only()) last_sequence_ = open_->db()->GetLatestSequenceNumber();
  open_.reset();
  DatabaseOptions options = options_;
  options.create = false;
  const rocksdb::Status status = RocksFolder::Open(folder_, options, last_sequence_, open_);
  if (status.ok()) {
    spdlog::info("{} takes writes again", folder_.string());
    return absl::OkStatus();
  }
  options.read_only = true;
  const rocksdb::Status reading = RocksFolder::Open(folder_, options, last_sequence_, open_);
  if (!reading.ok()) spdlog::error("not even to be read: {}", Check(reading).ToString());
  return Check(status);
}

absl::Status Database::Flush() {
  const std::shared_ptr<RocksFolder> open = Use();
  if (open == nullptr) return Check(Closed());
  std::vector<rocksdb::ColumnFamilyHandle*> all;
  for (size_t i = 0; i < options_.families.size(); ++i) all.push_back(open->handle(static_cast<Family>(i)));
  return Check(open->db()->Flush({}, all));
}

absl::Status Database::VerifyChecksums() const {
  const std::shared_ptr<RocksFolder> open = Use();
  if (open == nullptr) return Check(Closed());
  return Check(open->db()->VerifyChecksum());
}

absl::Status Database::Checkpoint(const std::filesystem::path& path) const {
  const std::shared_ptr<RocksFolder> open = Use();
  if (open == nullptr) return Check(Closed());
  rocksdb::Checkpoint* made = nullptr;
  const rocksdb::Status status = rocksdb::Checkpoint::Create(open->db(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  return Check(status.ok() ? checkpoint->CreateCheckpoint(path.string()) : status);
}

absl::Status Database::DeleteFiles(Family family, std::string_view begin, std::string_view end) {
  const std::shared_ptr<RocksFolder> open = Use();
  if (open == nullptr) return Check(Closed());
  const rocksdb::Slice from = ToSlice(begin), to = ToSlice(end);
  return Check(rocksdb::DeleteFilesInRange(open->db(), open->handle(family), &from, &to, false));
}

}  // namespace waymark
