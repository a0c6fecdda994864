#include "training/shards/export_examples.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "candidates/item_directory.h"
#include "recommend/network/counter_random.h"
#include "store/package/model_package.h"
#include "store/package/package_files.h"
#include "training/past/training_log.h"
#include "training/retriever/retriever_options.h"
#include "training/retriever/retriever_rows.h"
#include "training/shards/examples_index.h"
#include "training/shards/export_keys.h"
#include "training/shards/history_example.h"
#include "training/shards/record_frames.h"
#include "training/shards/shard_writer.h"

namespace waymark {
namespace {

constexpr char kExportName[] = "export.json", kDataName[] = "export.data";
constexpr size_t kItemsAtOnce = 4096;

std::string Rfc3339Micros(int64_t us) {
  return absl::FormatTime(absl::RFC3339_full, absl::FromUnixMicros(us), absl::UTCTimeZone());
}

template <typename T>
std::string_view BytesOf(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

std::string Switch(bool on) { return on ? "on" : "off"; }

// The first difference between an export that was stopped and the one that is asked for; empty: none.
std::string ExportDifference(const storage::ExamplesExport& was, const storage::ExamplesExport& is) {
  const auto differs = [](const char* name, const auto& a, const auto& b) {
    return a == b ? std::string() : absl::StrCat(name, " ", a, ", asked now is ", b);
  };
  for (const std::string& difference : {differs("the collection", was.collection(), is.collection()),
                                        differs("the log epoch", was.log_epoch(), is.log_epoch()),
                                        differs("--files", was.files(), is.files()),
                                        differs("--compress", was.compression(), is.compression()),
                                        differs("sealing", Switch(was.sealed()), Switch(is.sealed())),
                                        differs("--held-out", was.held_out(), is.held_out()),
                                        differs("--leave-out", was.left_out(), is.left_out())}) {
    if (!difference.empty()) return difference;
  }
  return "";
}

class Exporter {
 public:
  Exporter(const ExportExamplesInput& input, const ExportExamplesOptions& options,
           const std::function<void(int, int)>& progress, std::stop_token stop)
      : input_(input),
        options_(options),
        progress_(progress),
        stop_(std::move(stop)),
        directory_(input.store, input.scope, input.catalog),
        writer_(options.folder, options.packing) {}

  absl::StatusOr<ExportedExamples> Run() {
    absl::Status status = Prepare();
    if (status.ok()) status = Read();
    if (status.ok()) status = WriteFiles();
    if (status.ok()) status = Finish();
    if (!status.ok()) return status;
    return std::move(out_);
  }

 private:
  absl::Status Prepare() {
    std::error_code error;
    std::filesystem::create_directories(options_.folder, error);
    if (error) {
      return absl::UnavailableError(
          absl::StrCat("cannot make ", options_.folder.string(), ": ", error.message()));
    }
    if (std::filesystem::exists(options_.folder / "index.json", error)) {
      return absl::AlreadyExistsError(
          absl::StrCat(options_.folder.string(),
                       " holds training shards already; name another folder, or remove that one"));
    }
    run_.set_kind(kHistories);
    run_.set_log_epoch(input_.store->epoch());
    run_.set_up_to(input_.store->End());
    run_.set_files(options_.files);
    run_.set_compression(NameOf(options_.packing));
    run_.set_held_out(options_.held_out);
    run_.set_left_out(options_.left_out);
    run_.set_collection(input_.collection);
    run_.set_sealed(!options_.plain);
    const std::filesystem::path file = options_.folder / kExportName;
    if (!std::filesystem::exists(file, error)) return WriteJsonMessage(file, run_);
    storage::ExamplesExport stopped;
    if (absl::Status read = ReadJsonMessage(file, &stopped); !read.ok()) return read;
    const std::string difference = ExportDifference(stopped, run_);
    if (!difference.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("a stopped export lies in ", options_.folder.string(), " with ", difference,
                       "; give the options of that export to go on, or remove the folder"));
    }
    run_ = stopped;  // the same part of the log
    return absl::OkStatus();
  }

  absl::Status Read() {
    auto log = TrainingLog::Read(*input_.store, input_.scope, run_.up_to());
    if (!log.ok()) return log.status();
    known_ = log->Known({.newest_of_each_user = static_cast<size_t>(options_.left_out)});
    auto rows = MakeRetrieverRows(known_, options_.held_out);
    if (!rows.ok()) return rows.status();
    rows_ = *std::move(rows);
    users_of_.resize(options_.files);
    for (size_t u = 0; u < known_.user_count(); ++u) {
      if (rows_.ends[u] > known_.starts[u]) users_of_[MixBits(known_.users[u]) % options_.files].push_back(u);
    }
    if (absl::Status agreed = AgreeOnData(); !agreed.ok() || options_.plain) return agreed;
    auto keys = KeysOfUsers(keys_input(), known_.users, salt_);
    if (!keys.ok()) return keys.status();
    keys_.emplace(*std::move(keys));
    return absl::OkStatus();
  }
  KeysInput keys_input() const { return {input_.store, input_.scope}; }

  // What a stopped export has left is of use only while the same part of the log says the same: where a user
  // was erased since, the files hold one user too many, and rows of items have other numbers.
  absl::Status AgreeOnData() {
    std::string hashes;
    for (std::string_view bytes : {BytesOf(known_.users), BytesOf(known_.starts), BytesOf(known_.times_us),
                                   BytesOf(rows_.ends), BytesOf(rows_.rows), BytesOf(rows_.ordinals)}) {
      absl::StrAppend(&hashes, Sha256Hex(bytes), "\n");
    }
    salt_ = SaltOfShards(keys_input(), kHistories, hashes);
    const std::filesystem::path file = options_.folder / kDataName;
    std::error_code error;
    if (std::filesystem::exists(file, error)) {
      const auto was = ReadWholeFile(file, 4 * hashes.size());
      if (was.ok() && *was == hashes) return absl::OkStatus();
    }
    for (int f = 0; f < options_.files; ++f) writer_.Forget(FileName(f));
    writer_.Forget(ItemsName());
    if (absl::Status synced = SyncFolder(options_.folder); !synced.ok()) return synced;
    const std::string_view part = hashes;
    return WriteSyncedFile(file, {&part, 1});
  }

  std::string FileName(int file) const {
    return absl::StrFormat("examples-%05d-of-%05d%s", file, options_.files, EndingOf(options_.packing));
  }
  std::string ItemsName() const { return absl::StrCat("items", EndingOf(options_.packing)); }

  absl::Status WriteHistories(int number, storage::ExamplesIndex::File* file) {
    const std::string name = FileName(number);
    if (writer_.Kept(name, file)) {
      ++kept_;
      return absl::OkStatus();
    }
    std::string raw;
    HistoryExample example;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t u : users_of_[number]) {
      const uint64_t start = known_.starts[u], end = known_.starts[u + 1], trained = rows_.ends[u];
      example.user = known_.users[u];
      example.rows.assign(rows_.rows.begin() + start, rows_.rows.begin() + end);
      example.times_us.assign(known_.times_us.begin() + start, known_.times_us.begin() + end);
      example.held_out = end - trained;
      const absl::Status added = AppendUserRecord({kHistories, options_.packing}, keys_ ? &*keys_ : nullptr,
                                                  example.user, PrintHistory(example), &raw);
      if (!added.ok()) return added;
      file->set_examples(file->examples() + 1);
      file->set_events(file->events() + static_cast<int64_t>(trained - start));
      file->set_targets(file->targets() + static_cast<int64_t>(trained - start - 1));
      for (uint64_t e = start; e < trained; ++e) {
        first = std::min(first, known_.times_us[e]);
        last = std::max(last, known_.times_us[e]);
      }
    }
    if (file->examples() > 0) {
      file->set_first_time_us(first);
      file->set_last_time_us(last);
    }
    return writer_.Write(name, raw, file);
  }

  absl::Status WriteItems(storage::ExamplesIndex::File* file) {
    const std::string name = ItemsName();
    if (writer_.Kept(name, file)) {
      ++kept_;
      return absl::OkStatus();
    }
    std::string raw;
    std::vector<std::vector<uint64_t>> content;
    const absl::Span<const ItemOrdinal> all = rows_.ordinals;
    for (size_t first = 0; first < all.size(); first += kItemsAtOnce) {
      const auto some = all.subspan(first, kItemsAtOnce);
      const std::vector<std::string> ids = directory_.Ids(some);
      content.clear();
      directory_.Content(some, &content);
      content.resize(some.size());
      for (size_t i = 0; i < some.size(); ++i) AppendRecord(PrintItem({ids[i], content[i]}), &raw);
    }
    file->set_examples(static_cast<int64_t>(all.size()));
    return writer_.Write(name, raw, file);
  }

  // File number `files` is that of the items.
  absl::Status WriteFiles() {
    std::vector<storage::ExamplesIndex::File> files(options_.files + 1);
    const absl::Status written = RunSideBySide(
        static_cast<int>(files.size()), options_.threads, progress_, stop_,
        [&](int f) { return f < options_.files ? WriteHistories(f, &files[f]) : WriteItems(&files[f]); });
    if (!written.ok()) return written;
    *out_.index.mutable_items() = std::move(files.back());
    for (int f = 0; f < options_.files; ++f) *out_.index.add_files() = std::move(files[f]);
    return absl::OkStatus();
  }

  void DescribeData() {
    storage::ExamplesIndex& index = out_.index;
    int64_t first_us = INT64_MAX, last_us = INT64_MIN;
    LogOffset first = UINT64_MAX, last = 0;
    for (size_t u = 0; u < known_.user_count(); ++u) {
      for (uint64_t e = known_.starts[u]; e < rows_.ends[u]; ++e) {
        first_us = std::min(first_us, known_.times_us[e]);
        last_us = std::max(last_us, known_.times_us[e]);
        first = std::min(first, known_.offsets[e]);
        last = std::max(last, known_.offsets[e]);
      }
    }
    *index.mutable_first() = EmbeddedPosition(run_.log_epoch(), first);
    *index.mutable_last() = EmbeddedPosition(run_.log_epoch(), last);
    index.set_first_time(Rfc3339Micros(first_us));
    index.set_last_time(Rfc3339Micros(last_us));
    for (const auto& file : index.files()) {
      index.set_examples(index.examples() + file.examples());
      index.set_events(index.events() + file.events());
      index.set_targets(index.targets() + file.targets());
    }
    index.set_item_count(static_cast<int64_t>(rows_.ordinals.size()));
  }

  absl::Status Finish() {
    storage::ExamplesIndex& index = out_.index;
    index.set_kind(kHistories);
    index.set_create_time(absl::FormatTime(absl::RFC3339_sec, options_.clock->Now(), absl::UTCTimeZone()));
    index.set_compression(NameOf(options_.packing));
    for (const std::string& name : HistoryFeatures()) index.add_features(name);
    index.set_features_sha256(HistoryFeaturesSha256());
    index.set_held_out(options_.held_out);
    if (keys_) *index.mutable_sealing() = SealingOf(keys_input(), salt_);
    DescribeData();
    const RetrieverOptions fit = RetrieverOptionsFor(known_);
    google::protobuf::Map<std::string, double> network;
    fit.shape.ToNetwork(&network);
    auto& suited = *index.mutable_options();
    for (const auto& [name, value] : network) suited["network." + name] = value;
    suited["negatives"] = fit.negatives;
    suited["learning_rate"] = fit.learning_rate;
    suited["dropout"] = fit.dropout;
    absl::Status written = WriteExamplesIndex(options_.folder, index);
    if (!written.ok()) return written;
    out_.kept = kept_;
    std::error_code ignored;
    for (const char* name : {kExportName, kDataName})
      std::filesystem::remove(options_.folder / name, ignored);
    for (const auto& file : index.files()) writer_.Forget(file.name());
    writer_.Forget(index.items().name());
    return absl::OkStatus();
  }

  const ExportExamplesInput& input_;
  const ExportExamplesOptions& options_;
  const std::function<void(int, int)>& progress_;
  std::stop_token stop_;
  CatalogDirectory directory_;
  ShardWriter writer_;
  storage::ExamplesExport run_;
  Interactions known_;
  RetrieverRows rows_;
  std::vector<std::vector<size_t>> users_of_;  // [files]
  std::string salt_;
  std::optional<ShardKeys> keys_;  // of histories that are sealed
  std::atomic<int> kept_{0};
  ExportedExamples out_;
};

}  // namespace

absl::StatusOr<ExportedExamples> ExportExamples(const ExportExamplesInput& input,
                                                const ExportExamplesOptions& options,
                                                const std::function<void(int, int)>& progress,
                                                std::stop_token stop) {
  if (options.files < 1 || options.files > 99999) {
    return absl::InvalidArgumentError(absl::StrCat("--files is ", options.files, "; it takes 1 to 99,999"));
  }
  return Exporter(input, options, progress, std::move(stop)).Run();
}

}  // namespace waymark
