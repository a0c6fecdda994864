#include "store/rocks_folder_impl.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>
#include <rocksdb/wal_filter.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "store/log_scan_impl.h"

namespace waymark {
namespace {

constexpr size_t kWriteBufferBytes = 32 << 20;
constexpr size_t kAllWriteBuffersBytes = 128 << 20;
// A start after a crash reads so much of it, and writes it into files: 0.5 s.
constexpr uint64_t kWalBytes = 64 << 20;
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
    // Said at every check of the files, which are then opened by their names alone: nothing is wrong.
    if (std::strstr(text, "opened without unique ID") != nullptr) return;
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

}  // namespace

class RocksFolder::ErrorListener : public rocksdb::EventListener {
 public:
  explicit ErrorListener(std::atomic<bool>& stopped) : stopped_(stopped) {}
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status* /*status*/) override {
    stopped_ = true;
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*status*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

 private:
  std::atomic<bool>& stopped_;
};

// A write that failed may lie in the log all the same, whole, when it was the syncing that failed.
class RocksFolder::KeptWrites : public rocksdb::WalFilter {
 public:
  explicit KeptWrites(uint64_t last) : last_(last) {}
  const char* Name() const override { return "waymark.kept_writes"; }
  WalProcessingOption LogRecordFound(unsigned long long /*log*/, const std::string& /*file*/,
                                     const rocksdb::WriteBatch& batch, rocksdb::WriteBatch* /*changed*/,
                                     bool* /*is_changed*/) override {
    uint64_t first = 0;  // the batch begins with its sequence number, little-endian
    std::memcpy(&first, batch.Data().data(), sizeof first);
    return first > last_ ? WalProcessingOption::kIgnoreCurrentRecord
                         : WalProcessingOption::kContinueProcessing;
  }

 private:
  const uint64_t last_;
};

RocksFolder::RocksFolder() = default;

rocksdb::Status RocksFolder::Open(const std::filesystem::path& path, const DatabaseOptions& given,
                                  uint64_t last_sequence, std::shared_ptr<RocksFolder>& opened) {
  using rocksdb::WALRecoveryMode;
  const rocksdb::Status status =
      OpenOnce(path, given, last_sequence, WALRecoveryMode::kTolerateCorruptedTailRecords, opened);
  if (!status.IsCorruption()) return status;
  const auto behind = CountWritesBehindDamage(path);
  if (!behind.ok()) return status;
  if (*behind > 0) {
    if (!given.give_up_damaged_writes) {
      return rocksdb::Status::Corruption("the log is damaged, and " + std::to_string(*behind) +
                                         " writes that were answered lie behind the damage");
    }
    spdlog::error("log_damaged folder={} writes_given_up={} reason=\"{}\"", path.string(), *behind,
                  status.ToString());
  }
  return OpenOnce(path, given, last_sequence, WALRecoveryMode::kPointInTimeRecovery, opened);
}

rocksdb::Status RocksFolder::OpenOnce(const std::filesystem::path& path, const DatabaseOptions& given,
                                      uint64_t last_sequence, rocksdb::WALRecoveryMode mode,
                                      std::shared_ptr<RocksFolder>& opened) {
  std::shared_ptr<RocksFolder> folder(new RocksFolder);
  const auto cache = rocksdb::NewLRUCache(given.cache_bytes);
  const rocksdb::ColumnFamilyOptions family = FamilyOptions(cache);
  rocksdb::DBOptions options = FolderOptions(given, cache);
  options.listeners.push_back(std::make_shared<ErrorListener>(folder->stopped_));
  folder->kept_ = std::make_unique<KeptWrites>(last_sequence);
  options.wal_filter = folder->kept_.get();
  options.wal_recovery_mode = mode;
  folder->read_only_ = given.read_only;

  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  std::vector<std::string> existing;
  const bool listed = rocksdb::DB::ListColumnFamilies(options, path.string(), &existing).ok();
  size_t made = given.families.size();
  // A folder of before has not the newest families, and reading alone does not make them.
  while (given.read_only && listed && made > 1 &&
         std::find(existing.begin(), existing.end(), given.families[made - 1]) == existing.end()) {
    --made;
  }
  for (std::string_view name : given.families.first(made)) families.emplace_back(std::string(name), family);
  // Families of a newer format are opened too, so that its number can be read and named.
  if (listed) {
    for (const std::string& name : existing) {
      if (std::find(given.families.begin(), given.families.end(), name) == given.families.end()) {
        families.emplace_back(name, family);
      }
    }
  }
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      given.read_only ? rocksdb::DB::OpenForReadOnly(options, path.string(), families, &folder->handles_, &db)
                      : rocksdb::DB::Open(options, path.string(), families, &folder->handles_, &db);
  if (!status.ok()) return status;
  folder->db_.reset(db);
  // They read as empty: the first family has no key that begins with a scope.
  auto& handles = folder->handles_;
  for (; made < given.families.size(); ++made) {
    handles.insert(handles.begin() + static_cast<ptrdiff_t>(made), handles[0]);
  }
  opened = std::move(folder);
  return status;
}

RocksFolder::~RocksFolder() {
  if (db_ == nullptr) return;
  std::sort(handles_.begin(), handles_.end());
  handles_.erase(std::unique(handles_.begin(), handles_.end()), handles_.end());
  for (rocksdb::ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
  db_->Close();
}

}  // namespace waymark
