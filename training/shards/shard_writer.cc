#include "training/shards/shard_writer.h"

#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"
#include "store/package/package_files.h"
#include "training/shards/examples_index.h"
#include "training/shards/record_frames.h"

namespace waymark {

bool ShardWriter::Kept(const std::string& name, storage::ExamplesIndex::File* file) const {
  std::error_code error;
  if (!std::filesystem::exists(NoteOf(name), error)) return false;
  if (!ReadJsonMessage(NoteOf(name), file).ok()) return false;
  const auto hash = Sha256HexOfFile(folder_ / name);
  if (hash.ok() && *hash == file->sha256()) return true;
  file->Clear();
  return false;
}

absl::Status ShardWriter::Write(const std::string& name, const std::string& raw,
                                storage::ExamplesIndex::File* file) const {
  auto packed = Pack(packing_, raw);
  if (!packed.ok()) return packed.status();
  file->set_name(name);
  file->set_bytes(static_cast<int64_t>(packed->size()));
  file->set_sha256(Sha256Hex(*packed));
  file->set_raw_bytes(static_cast<int64_t>(raw.size()));
  const std::filesystem::path path = folder_ / name, fresh = path.string() + ".new";
  const std::string_view part = *packed;
  if (absl::Status written = WriteSyncedFile(fresh, {&part, 1}); !written.ok()) return written;
  std::error_code error;
  std::filesystem::rename(fresh, path, error);
  if (error)
    return absl::UnavailableError(absl::StrCat("cannot rename ", fresh.string(), ": ", error.message()));
  return WriteJsonMessage(NoteOf(name), *file);
}

void ShardWriter::Forget(const std::string& name) const {
  std::error_code ignored;
  std::filesystem::remove(NoteOf(name), ignored);
}

absl::Status AppendUserRecord(const SealedKind& kind, const ShardKeys* keys, uint64_t user,
                              const std::string& record, std::string* raw) {
  if (keys == nullptr) {
    AppendRecord(record, raw);
    return absl::OkStatus();
  }
  auto key = keys->Find(user);
  if (!key.ok()) return key.status();
  auto sealed = SealRecord(kind, *key, user, record);
  if (!sealed.ok()) return sealed.status();
  AppendRecord(*sealed, raw);
  return absl::OkStatus();
}

absl::Status RunSideBySide(int count, int threads, const std::function<void(int, int)>& progress,
                           const std::stop_token& stop, const std::function<absl::Status(int)>& work) {
  std::vector<absl::Status> results(threads);
  std::atomic<int> next{0}, done{0};
  std::mutex mutex;
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        for (int i = next++; i < count; i = next++) {
          if (stop.stop_requested()) {
            results[t] = absl::CancelledError("the export was stopped; the same command goes on with it");
            return;
          }
          results[t] = work(i);
          if (!results[t].ok()) {
            next = count;
            return;
          }
          std::lock_guard lock(mutex);
          ++done;
          if (progress) progress(done, count);
        }
      });
    }
  }
  for (const absl::Status& result : results) {
    if (!result.ok()) return result;
  }
  return absl::OkStatus();
}

}  // namespace waymark
