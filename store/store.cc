// Opening and closing; the folder's own facts; checkpoints.
#include "store/store.h"

#include <unistd.h>

#include <random>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "store/erasure_impl.h"
#include "store/server_file.h"
#include "store/store_impl.h"
#include "store/user_secrets_impl.h"

namespace waymark {
namespace {

std::string RandomBytes(size_t count) {
  std::random_device device;
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(device());
  return bytes;
}

absl::Status FromErrorCode(const std::error_code& error, const std::filesystem::path& path) {
  if (error == std::errc::no_space_on_device) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the disk that holds ", path.string(), " is full: free space there, then try again"));
  }
  return absl::FailedPreconditionError(absl::StrCat(path.string(), ": ", error.message()));
}

}  // namespace

Store::Impl::Impl(std::filesystem::path folder, const StoreOptions& given)
    : data(std::move(folder)),
      options(given),
      queue({}, [this](absl::Span<CommitQueue::Entry* const> group) { CommitGroup(group); }) {}

absl::Status Store::Impl::Open() {
  const std::filesystem::path folder = data / "store";
  std::error_code error;
  const bool exists = std::filesystem::exists(folder / "CURRENT", error);
  if (!exists && (!options.create || options.read_only)) {
    return absl::NotFoundError(absl::StrCat(data.string(), " holds no data (there is no ", folder.string(),
                                            "): import something, or name another --data folder"));
  }
  if (!exists) {
    std::filesystem::create_directories(folder, error);
    if (error) return FromErrorCode(error, folder);
  }
  auto opened = Database::Open(
      folder, {.create = options.create, .read_only = options.read_only, .cache_bytes = options.cache_bytes});
  if (absl::IsFailedPrecondition(opened.status())) {
    const auto server = ReadServerFile(data);
    if (!server.ok()) return opened.status();
    return absl::FailedPreconditionError(absl::StrCat(
        std::string(opened.status().message()), ": a server has it, pid ", server->pid, ", grpc ",
        server->grpc_address, "; stop it, or work through it with --server ", server->grpc_address));
  }
  if (!opened.ok()) return opened.status();
  database = std::move(*opened);
  event_id_seed = RandomBytes(16);
  if (absl::Status status = ReadFolder(); !status.ok()) return status;
  if (absl::Status status = ReadCollections(); !status.ok()) return status;
  if (options.read_only) return absl::OkStatus();
  // One that a crash or a full disk cut short. It stays noted when there is still no room.
  absl::Status status = FinishErasures(*database);
  if (status.ok() && format < kStoreFormat) status = MakeFormat2();
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

absl::Status Store::Impl::ReadFolder() {
  auto stored = database->Get(Family::kMeta, kFormatKey);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) {
    if (options.read_only) return absl::DataLossError(absl::StrCat(data.string(), " has no format number"));
    return MakeFolder();
  }
  if ((*stored)->size() != 4) return absl::DataLossError(absl::StrCat(data.string(), ": no format number"));
  format = ReadBigEndian32(**stored);
  if (format > kStoreFormat) {
    return absl::FailedPreconditionError(absl::StrCat(data.string(), " has format ", format,
                                                      ", this program reads up to ", kStoreFormat,
                                                      ": use the newer program that wrote it"));
  }
  auto made = database->Get(Family::kMeta, kEpochKey);
  auto key = database->Get(Family::kMeta, kSigningKeyKey);
  auto log_end = database->Get(Family::kMeta, kEndKey);
  for (const absl::Status& status : {made.status(), key.status(), log_end.status()}) {
    if (!status.ok()) return status;
  }
  if (!made->has_value() || (*made)->size() != 8 || !key->has_value()) {
    return absl::DataLossError(absl::StrCat(data.string(), " has no epoch or no signing key"));
  }
  epoch = ReadBigEndian64(**made);
  signing_key = **key;
  if (log_end->has_value() && (*log_end)->size() == 8) end = ReadBigEndian64(**log_end);
  return absl::OkStatus();
}

absl::Status Store::Impl::MakeFolder() {
  const std::string random = RandomBytes(8);
  epoch = ReadBigEndian64(random) | 1;  // never 0
  signing_key = RandomBytes(32);
  std::string number, made;
  AppendBigEndian32(number, kStoreFormat);
  AppendBigEndian64(made, epoch);
  Batch batch;
  database->Put(batch, Family::kMeta, kFormatKey, number);
  database->Put(batch, Family::kMeta, kEpochKey, made);
  database->Put(batch, Family::kMeta, kSigningKeyKey, signing_key);
  return database->Write(batch, true);
}

// The folder keeps its format until every user has a secret.
absl::Status Store::Impl::MakeFormat2() {
  if (absl::Status status = MakeMissingSecrets(*database); !status.ok()) return status;
  std::string number;
  AppendBigEndian32(number, kStoreFormat);
  Batch batch;
  database->Put(batch, Family::kMeta, kFormatKey, number);
  absl::Status written = database->Write(batch, true);
  if (written.ok()) format = kStoreFormat;
  return written;
}

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::filesystem::path& data,
                                                   const StoreOptions& options) {
  auto impl = std::make_unique<Impl>(data, options);
  if (absl::Status status = impl->Open(); !status.ok()) return status;
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

const std::filesystem::path& Store::data_folder() const { return impl_->data; }
uint64_t Store::epoch() const { return impl_->epoch; }
const std::string& Store::signing_key() const { return impl_->signing_key; }

absl::StatusOr<std::filesystem::path> Store::CreateCheckpoint() {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  static std::atomic<uint64_t> made = 0;
  const std::filesystem::path folder =
      impl_->data / "checkpoints" /
      absl::StrCat(absl::ToUnixMicros(impl_->options.clock->Now()), "-", getpid(), "-", made++);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return FromErrorCode(error, folder);
  absl::Status status = impl_->database->Checkpoint(folder / "store");
  if (!status.ok()) {
    std::filesystem::remove_all(folder, error);
    return status;
  }
  return folder;
}

int64_t Store::DiskBytes() const {
  int64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(impl_->data / "store", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;  // RocksDB deletes files while we look
    const auto size = entry->file_size(gone);
    if (!gone) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

absl::Status Store::VerifyChecksums() const { return impl_->database->VerifyChecksums(); }

absl::Status Store::Flush() {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  return impl_->database->Flush();
}

}  // namespace waymark
