#include "store/database_impl.h"

#include <google/protobuf/io/coded_stream.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "store/keys.h"

namespace waymark {
namespace {

constexpr size_t kWriteBufferBytes = 32 << 20;
constexpr size_t kAllWriteBuffersBytes = 128 << 20;
constexpr uint64_t kWalBytes = 256 << 20;
// What erasure removed is gone from the files after this at the latest.
constexpr uint64_t kRewriteSeconds = 15 * 24 * 3600;

// What RocksDB has to say goes into the program's log. Its own text file is not written: on a full disk, an
// assertion in Debian's build of 7.8 ends the process at the second line that does not fit.
class ProgramLog : public rocksdb::Logger {
 public:
  ProgramLog() : rocksdb::Logger(rocksdb::WARN_LEVEL) {}
  using rocksdb::Logger::Logv;
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < rocksdb::WARN_LEVEL || level == rocksdb::HEADER_LEVEL) return;
    Logv(format, arguments);
  }
  void Logv(const char* format, va_list arguments) override {
    char text[1024];
    std::vsnprintf(text, sizeof text, format, arguments);
    // Said at every checkpoint that is made while another one or a backup holds the files: nothing is wrong.
    if (std::strstr(text, "File Deletions") != nullptr) return;
    // A folder that another process has open is an answer of Open, in words of our own.
    if (std::strstr(text, "While lock file") != nullptr || std::strstr(text, "lock hold by") != nullptr)
      return;
    spdlog::warn("rocksdb: {}", text);
  }
};

bool Supported(rocksdb::CompressionType type) {
  const auto all = rocksdb::GetSupportedCompressions();
  return std::find(all.begin(), all.end(), type) != all.end();
}

rocksdb::ColumnFamilyOptions FamilyOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = kWriteBufferBytes;
  options.level_compaction_dynamic_level_bytes = true;
  options.periodic_compaction_seconds = kRewriteSeconds;
  using enum rocksdb::CompressionType;
  options.compression = Supported(kLZ4Compression) ? kLZ4Compression : kNoCompression;
  options.bottommost_compression = Supported(kZSTD) ? kZSTD : options.compression;
  return options;
}

rocksdb::DBOptions FolderOptions(const DatabaseOptions& given, const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::DBOptions options;
  options.create_if_missing = given.create;
  options.create_missing_column_families = true;
  options.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(kAllWriteBuffersBytes, cache);
  options.max_total_wal_size = kWalBytes;
  options.max_background_jobs = 2;
  options.max_open_files = 500;
  options.bytes_per_sync = 1 << 20;
  options.info_log = std::make_shared<ProgramLog>();
  options.stats_dump_period_sec = 0;
  options.avoid_flush_during_shutdown = true;  // the log has it all
  return options;
}

bool IsLockClash(const rocksdb::Status& status) {
  return status.IsIOError() && status.ToString().find("lock") != std::string::npos;
}

}  // namespace

// Notes when RocksDB stops taking writes. Its own recovery from a full disk polls every five seconds and
// wants a whole write buffer free; we try at the next write instead. Notes too when the first family's buffer
// begins anew, see Anchor.
class Database::ErrorListener : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status* /*status*/) override {
    stopped = true;
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*status*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }
  void OnMemTableSealed(const rocksdb::MemTableInfo& info) override {
    if (info.cf_name == rocksdb::kDefaultColumnFamilyName) anchored = false;
  }
  std::atomic<bool> stopped = false;
  std::atomic<bool> anchored = false;
};

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

KeyRange::KeyRange(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, std::string begin, std::string end,
                   const rocksdb::Snapshot* snapshot, bool scan)
    : begin_(std::move(begin)), end_(std::move(end)), lower_(begin_), upper_(end_) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  options.iterate_lower_bound = &lower_;
  if (!end_.empty()) options.iterate_upper_bound = &upper_;
  options.fill_cache = !scan;
  options.total_order_seek = true;
  iterator_.reset(db->NewIterator(options, family));
  iterator_->Seek(lower_);
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& folder,
                                                         const DatabaseOptions& options) {
  std::unique_ptr<Database> database(new Database(folder));
  absl::Status status = database->OpenFamilies(options);
  if (!status.ok()) return status;
  return database;
}

absl::Status Database::OpenFamilies(const DatabaseOptions& options) {
  const auto cache = rocksdb::NewLRUCache(options.cache_bytes);
  const rocksdb::ColumnFamilyOptions family = FamilyOptions(cache);
  rocksdb::DBOptions folder = FolderOptions(options, cache);
  errors_ = std::make_shared<ErrorListener>();
  folder.listeners.push_back(errors_);

  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  // Families of a newer format are opened too, so that its number can be read and named.
  std::vector<std::string> existing;
  const bool listed = rocksdb::DB::ListColumnFamilies(folder, folder_.string(), &existing).ok();
  size_t made = options.families.size();
  // A folder of before has not the newest families, and reading alone does not make them.
  while (options.read_only && listed && made > 1 &&
         std::find(existing.begin(), existing.end(), options.families[made - 1]) == existing.end()) {
    --made;
  }
  for (std::string_view name : options.families.first(made)) families.emplace_back(std::string(name), family);
  if (listed) {
    for (const std::string& name : existing) {
      if (std::find(options.families.begin(), options.families.end(), name) == options.families.end()) {
        families.emplace_back(name, family);
      }
    }
  }
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      options.read_only ? rocksdb::DB::OpenForReadOnly(folder, folder_.string(), families, &handles_, &db)
                        : rocksdb::DB::Open(folder, folder_.string(), families, &handles_, &db);
  if (IsLockClash(status)) {
    return absl::FailedPreconditionError(absl::StrCat(folder_.string(), " is open in another process"));
  }
  if (!status.ok()) return Check(status);
  db_.reset(db);
  // They read as empty: the first family has no key that begins with a scope.
  for (; made < options.families.size(); ++made) {
    handles_.insert(handles_.begin() + static_cast<ptrdiff_t>(made), handles_[0]);
  }
  std::error_code error;
  const std::filesystem::space_info disk = std::filesystem::space(folder_, error);
  reserve_bytes_ =
      error ? 0 : std::min<uint64_t>(options.disk_reserve_bytes, static_cast<uint64_t>(disk.capacity) / 20);
  return absl::OkStatus();
}

Database::~Database() {
  if (db_ == nullptr) return;
  std::sort(handles_.begin(), handles_.end());
  handles_.erase(std::unique(handles_.begin(), handles_.end()), handles_.end());
  for (rocksdb::ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
  db_->Close();
}

absl::StatusOr<std::optional<std::string>> Database::Get(Family family, std::string_view key) const {
  std::string value;
  const rocksdb::Status status = db_->Get({}, handle(family), ToSlice(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return Check(status);
  return std::optional<std::string>(std::move(value));
}

absl::Status Database::GetRecord(Family family, std::string_view key, std::string_view what,
                                 google::protobuf::MessageLite& record) const {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = db_->Get({}, handle(family), ToSlice(key), &value);
  if (status.IsNotFound()) return absl::NotFoundError(absl::StrCat("there is no ", std::string(what)));
  if (!status.ok()) return Check(status);
  return ParseRecord(ToView(value), what, record);
}

std::unique_ptr<KeyRange> Database::Walk(Family family, std::string prefix, bool scan,
                                         const rocksdb::Snapshot* snapshot) const {
  std::string end = PrefixEnd(prefix);
  return std::make_unique<KeyRange>(db_.get(), handle(family), std::move(prefix), std::move(end), snapshot,
                                    scan);
}

// Adding to a batch in memory fails only beyond 4 GB, which the commit queue's limits rule out.
void Database::Put(rocksdb::WriteBatch& batch, Family family, std::string_view key,
                   std::string_view value) const {
  batch.Put(handle(family), ToSlice(key), ToSlice(value)).PermitUncheckedError();
}

void Database::Put(rocksdb::WriteBatch& batch, Family family, std::string_view key,
                   const google::protobuf::MessageLite& record) const {
  Put(batch, family, key, record.SerializeAsString());
}

void Database::Delete(rocksdb::WriteBatch& batch, Family family, std::string_view key) const {
  batch.Delete(handle(family), ToSlice(key)).PermitUncheckedError();
}

absl::Status Database::Write(rocksdb::WriteBatch& batch, bool sync) {
  if (absl::Status status = CheckRoom(batch.GetDataSize()); !status.ok()) return status;
  if (errors_->stopped) {
    absl::Status status = Resume();
    if (!status.ok()) return status;
  }
  if (!errors_->anchored) Anchor();
  rocksdb::WriteOptions options;
  options.sync = sync;
  const rocksdb::Status status = db_->Write(options, &batch);
  if (!status.ok()) errors_->stopped = true;
  return Check(status);
}

absl::Status Database::CheckRoom(uint64_t bytes) const {
  std::error_code error;
  const std::filesystem::space_info disk = std::filesystem::space(folder_, error);
  if (error || reserve_bytes_ == 0 || disk.available >= reserve_bytes_ + bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the disk that holds ", folder_.string(), " is full: ", disk.available >> 20, " MB are left, and ",
      reserve_bytes_ >> 20,
      " MB are kept for upkeep; nothing of this write was kept: free space there, then ", "write again"));
}

// A log file that failed in the middle must not be written on. Resume leaves it for a new one only when a
// write buffer holds something (RocksDB 7.8); so one always does, also when the very first record of a log
// file fails: the deletion of a key that never was, which needs no log.
void Database::Anchor() {
  errors_->anchored = true;
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  // Refused, as on a disk that is full: the next write tries again.
  if (!db_->Delete(options, handles_[0], "!anchor").ok()) errors_->anchored = false;
}

absl::Status Database::Resume() {
  std::lock_guard<std::mutex> lock(resume_);
  if (!errors_->stopped) return absl::OkStatus();
  errors_->stopped = false;
  const rocksdb::Status status = db_->Resume();
  if (!status.ok()) errors_->stopped = true;
  return Check(status);
}

}  // namespace waymark
