#include "training/shards/export_lists.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "pipeline/blending_plan.h"
#include "rank/feature_table.h"
#include "recommend/network/counter_random.h"
#include "store/package/package_files.h"
#include "training/past/list_maker.h"
#include "training/shards/examples_index.h"
#include "training/shards/export_keys.h"
#include "training/shards/list_reader.h"
#include "training/shards/lists_index.h"
#include "training/shards/lists_survey.h"
#include "training/shards/record_frames.h"
#include "training/shards/shard_writer.h"

namespace waymark {
namespace {

constexpr char kListsExportName[] = "export.json", kListsDataName[] = "export.data", kWorkName[] = "work";
constexpr size_t kDecisionsAtOnce = 256, kListItemsAtOnce = 4096;

std::string TimeText(int64_t us) {
  return absl::FormatTime(absl::RFC3339_full, absl::FromUnixMicros(us), absl::UTCTimeZone());
}

std::string TextOfArms(const std::vector<ArmWeight>& arms) {
  std::string text;
  for (const ArmWeight& arm : arms) absl::StrAppend(&text, text.empty() ? "" : " ", arm.Text());
  return text;
}

template <typename T>
std::string HashOf(const std::vector<T>& numbers) {
  return Sha256Hex({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)});
}

// The first difference between an export that was stopped and the one that is asked for; empty: none.
std::string ListsDifference(const storage::ListsExport& was, const storage::ListsExport& is) {
  using std::string_literals::operator""s;
  const auto differs = [](const char* name, const auto& a, const auto& b) {
    return a == b ? std::string() : absl::StrCat(name, " ", a, ", asked now is ", b);
  };
  for (const std::string& difference :
       {differs("the kind", was.kind(), is.kind()),
        differs("the collection", was.collection(), is.collection()),
        differs("the log epoch", was.log_epoch(), is.log_epoch()),
        differs("--files", was.files(), is.files()),
        differs("--compress", was.compression(), is.compression()),
        differs("sealing", was.sealed() ? "on"s : "off"s, is.sealed() ? "on"s : "off"s),
        differs("--seed", was.seed(), is.seed()),
        differs("--ranker-share", was.ranker_share(), is.ranker_share()),
        differs("--validation-share", was.validation_share(), is.validation_share()),
        differs("--max-lists", was.max_lists(), is.max_lists()), differs("--arm", was.arms(), is.arms()),
        differs("the retriever", was.retriever_sha256(), is.retriever_sha256()),
        differs("the features", was.features_sha256(), is.features_sha256())}) {
    if (!difference.empty()) return difference;
  }
  return "";
}

class ListExporter {
 public:
  ListExporter(const TrainInput& input, const ExportListsOptions& options,
               const std::function<void(const TrainProgress&)>& progress, std::stop_token stop)
      : input_(input),
        options_(options),
        progress_(progress),
        stop_(std::move(stop)),
        directory_(input.store, input.scope, input.catalog),
        writer_(options.folder, options.packing) {}

  absl::StatusOr<ExportedLists> Run() {
    absl::Status status = Prepare();
    if (status.ok()) status = ReadLog();
    if (status.ok()) status = AgreeOnData();
    if (status.ok() && !options_.plain) status = TakeKeys();
    if (status.ok()) status = MakeView();
    if (status.ok()) status = WriteFiles();
    if (status.ok()) status = DescribeFiles();
    if (status.ok()) status = Finish();
    if (absl::IsCancelled(status)) {
      return absl::CancelledError("the export was stopped; the same command goes on with it");
    }
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
    run_.set_kind(kLists);
    run_.set_log_epoch(input_.store->epoch());
    run_.set_up_to(input_.store->End());
    run_.set_files(options_.files);
    run_.set_compression(NameOf(options_.packing));
    run_.set_collection(options_.collection);
    run_.set_seed(options_.seed);
    run_.set_ranker_share(options_.recipe.ranker_share);
    run_.set_validation_share(options_.recipe.validation_share);
    run_.set_max_lists(options_.recipe.max_lists);
    run_.set_arms(TextOfArms(options_.arms));
    run_.set_sealed(!options_.plain);
    run_.set_retriever_sha256(options_.retriever.content_sha256);
    run_.set_features_sha256(FeatureTable::Current().sha256());
    const std::filesystem::path file = options_.folder / kListsExportName;
    if (!std::filesystem::exists(file, error)) return WriteJsonMessage(file, run_);
    storage::ListsExport stopped;
    if (absl::Status read = ReadJsonMessage(file, &stopped); !read.ok()) return read;
    const std::string difference = ListsDifference(stopped, run_);
    if (!difference.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("a stopped export lies in ", options_.folder.string(), " with ", difference,
                       "; give the options of that export to go on, or remove the folder"));
    }
    run_ = stopped;  // the same part of the log
    return absl::OkStatus();
  }

  absl::Status ReadLog() {
    auto log = TrainingLog::Read(*input_.store, input_.scope, run_.up_to());
    if (!log.ok()) return log.status();
    log_ = *std::move(log);
    RecipeOptions recipe_options = options_.recipe;
    std::optional<ArmFilter> arms;
    if (!options_.arms.empty()) {
      auto read = ArmFilter::Read(*input_.store, input_.scope, options_.arms);
      if (!read.ok()) return read.status();
      arms = *std::move(read);
      recipe_options.arms = &*arms;
    }
    auto recipe = ServingRecipe(log_, recipe_options);
    if (!recipe.ok()) return recipe.status();
    recipe_ = *std::move(recipe);
    decisions_of_.resize(2 * static_cast<size_t>(options_.files));
    for (const ListPlan* plan : {&recipe_.train, &recipe_.validation}) {
      const size_t first = plan == &recipe_.train ? 0 : static_cast<size_t>(options_.files);
      for (const Decision& decision : plan->decisions) {
        const uint64_t user = log_.users[decision.user];
        decisions_of_[first + MixBits(user) % static_cast<uint64_t>(options_.files)].push_back(decision);
      }
    }
    return absl::OkStatus();
  }

  // What a stopped export has left is of use only while the same part of the log says the same: where a user
  // was erased since, every list was looked at through counts that knew that user.
  absl::Status AgreeOnData() {
    const Interactions all = log_.Known({});
    std::string hashes;
    for (const std::string& hash : {HashOf(all.users), HashOf(all.starts), HashOf(all.items),
                                    HashOf(all.times_us), HashOf(all.offsets)}) {
      absl::StrAppend(&hashes, hash, "\n");
    }
    salt_ = SaltOfShards({input_.store, input_.scope}, kLists, hashes);
    const std::filesystem::path file = options_.folder / kListsDataName;
    std::error_code error;
    if (std::filesystem::exists(file, error)) {
      const auto was = ReadWholeFile(file, 4 * hashes.size());
      if (was.ok() && *was == hashes) return absl::OkStatus();
    }
    for (int f = 0; f < 2 * options_.files; ++f) writer_.Forget(FileName(f));
    std::filesystem::remove_all(options_.folder / kWorkName, error);
    if (absl::Status synced = SyncFolder(options_.folder); !synced.ok()) return synced;
    const std::string_view part = hashes;
    return WriteSyncedFile(file, {&part, 1});
  }

  absl::Status TakeKeys() {
    auto keys = KeysOfUsers({input_.store, input_.scope}, log_.users, salt_);
    if (!keys.ok()) return keys.status();
    keys_.emplace(*std::move(keys));
    return absl::OkStatus();
  }

  // The past as it stood before the decisions: the first retriever, which is trained here, and counts.
  absl::Status MakeView() {
    TrainEnvironment environment;
    environment.scope = input_.scope;
    environment.log_epoch = run_.log_epoch();
    environment.view = {&directory_, input_.catalog, input_.index};
    environment.clock = options_.clock;
    TrainModelsOptions models;
    models.work_folder = options_.folder / kWorkName;
    models.version = "first";
    models.seed = options_.seed;
    models.threads = options_.threads;
    auto first = TrainFirstRetriever(log_, recipe_, environment, models, progress_, stop_);
    if (!first.ok()) return first.status();
    signals_sha256_ = first->content_sha256;
    auto retriever = Retriever::Load(*first, &directory_);
    if (!retriever.ok()) return retriever.status();
    auto view = PastView::Make(log_.Known(recipe_.train.view), *std::move(retriever), environment.view);
    if (!view.ok()) return view.status();
    view_ = *std::move(view);
    return absl::OkStatus();
  }

  // Files below `files` are trained on, those after them validate.
  std::string FileName(int file) const {
    const bool trained = file < options_.files;
    return absl::StrFormat("%s-%05d-of-%05d%s", trained ? "lists" : "validation",
                           trained ? file : file - options_.files, options_.files,
                           EndingOf(options_.packing));
  }
  std::string ItemsName() const { return absl::StrCat("items", EndingOf(options_.packing)); }

  absl::Status WriteLists(int number, storage::ExamplesIndex::File* file) {
    const std::string name = FileName(number);
    if (writer_.Kept(name, file)) {
      ++kept_;
      return absl::OkStatus();
    }
    const std::vector<Decision>& decisions = decisions_of_[static_cast<size_t>(number)];
    RankingLists lists(FeatureTable::Current().size(), {});
    std::string raw;
    for (size_t first = 0; first < decisions.size(); first += kDecisionsAtOnce) {
      const size_t end = std::min(decisions.size(), first + kDecisionsAtOnce);
      const std::vector<Decision> some(decisions.begin() + static_cast<int64_t>(first),
                                       decisions.begin() + static_cast<int64_t>(end));
      lists.Clear();
      absl::Status made =
          MakeRankingLists(log_, input_.scope, some, *view_, DefaultBlendingPlan(),
                           {.as_known = recipe_.as_known, .threads = 1}, nullptr, stop_, &lists);
      if (!made.ok()) return made;
      for (size_t i = 0; i < lists.size(); ++i) {
        const RankingList list = lists[i];
        const absl::Status added = AppendUserRecord({kLists, options_.packing}, keys_ ? &*keys_ : nullptr,
                                                    list.user, PrintList(list), &raw);
        if (!added.ok()) return added;
        const bool is_first = file->examples() == 0;
        file->set_examples(file->examples() + 1);
        file->set_events(file->events() + static_cast<int64_t>(list.candidates.size()));
        file->set_targets(file->targets() + std::count_if(list.gains.begin(), list.gains.end(),
                                                          [](float gain) { return gain > 0; }));
        file->set_first_time_us(is_first ? list.time_us : std::min(file->first_time_us(), list.time_us));
        file->set_last_time_us(is_first ? list.time_us : std::max(file->last_time_us(), list.time_us));
      }
    }
    return writer_.Write(name, raw, file);
  }

  absl::Status WriteFiles() {
    const int all = 2 * options_.files;
    std::vector<storage::ExamplesIndex::File> files(static_cast<size_t>(all));
    const absl::Time start = absl::Now();
    const auto told = [&](int done, int of) {
      if (!progress_) return;
      TrainProgress p{.stage = "lists", .done = static_cast<double>(done) / of, .stage_done = done == of};
      p.detail = absl::StrCat(done, "/", of, " files");
      p.time_left = (absl::Now() - start) / done * (of - done);
      progress_(p);
    };
    const absl::Status written = RunSideBySide(all, options_.threads, told, stop_, [&](int f) {
      return WriteLists(f, &files[static_cast<size_t>(f)]);
    });
    if (!written.ok()) return written;
    for (int f = 0; f < all; ++f) {
      *(f < options_.files ? out_.index.add_files() : out_.index.add_validation()) =
          std::move(files[static_cast<size_t>(f)]);
    }
    return absl::OkStatus();
  }

  absl::Status WriteItems(const ListsSurvey& survey) {
    std::string raw;
    std::vector<std::vector<uint64_t>> content;
    const absl::Span<const ItemOrdinal> all = survey.items;
    for (size_t first = 0; first < all.size(); first += kListItemsAtOnce) {
      const auto some = all.subspan(first, kListItemsAtOnce);
      const std::vector<std::string> ids = directory_.Ids(some);
      content.clear();
      directory_.Content(some, &content);
      content.resize(some.size());
      for (size_t i = 0; i < some.size(); ++i) {
        AppendRecord(PrintListItem({some[i], ids[i], survey.counts[first + i], content[i]}), &raw);
      }
    }
    storage::ExamplesIndex::File* file = out_.index.mutable_items();
    file->set_examples(static_cast<int64_t>(all.size()));
    out_.index.set_item_count(file->examples());
    return writer_.Write(ItemsName(), raw, file);
  }

  absl::Status DescribeFiles() {
    storage::ListsIndex& index = out_.index;
    index.set_kind(kLists);
    index.set_compression(NameOf(options_.packing));
    const FeatureTable& table = FeatureTable::Current();
    for (const std::string& name : table.Names()) index.add_features(name);
    index.set_features_sha256(table.sha256());
    index.set_record_sha256(ListRecordSha256());
    index.set_item_end(log_.item_end);
    if (keys_) *index.mutable_sealing() = SealingOf({input_.store, input_.scope}, salt_);
    const ListReader reader(options_.folder, &index, keys_ ? &*keys_ : nullptr);
    auto survey = SurveyLists(reader, index, options_.threads, stop_);
    if (!survey.ok()) return survey.status();
    const auto decisions = static_cast<int64_t>(recipe_.train.decisions.size());
    index.set_lists(survey->lists);
    index.set_validation_lists(survey->validation_lists);
    index.set_lists_with_query(survey->with_query);
    index.set_without_target(decisions - survey->lists);
    if (survey->lists == 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("there are no lists to train on: of ", decisions,
                       " decisions none has its answer among the candidates"));
    }
    for (size_t c = 0; c < survey->moments.mean.size(); ++c) {
      index.add_feature_mean(survey->moments.mean[c]);
      index.add_feature_scale(survey->moments.Scale(c));
    }
    *index.mutable_first() = EmbeddedPosition(run_.log_epoch(), survey->first);
    *index.mutable_last() = EmbeddedPosition(run_.log_epoch(), survey->last);
    index.set_first_time(TimeText(survey->first_time_us));
    index.set_last_time(TimeText(survey->last_time_us));
    return WriteItems(*survey);
  }

  absl::Status Finish() {
    storage::ListsIndex& index = out_.index;
    index.set_create_time(absl::FormatTime(absl::RFC3339_sec, options_.clock->Now(), absl::UTCTimeZone()));
    index.set_retriever_version(options_.retriever.manifest.version());
    index.set_retriever_sha256(options_.retriever.content_sha256);
    index.set_signals_retriever_sha256(signals_sha256_);
    index.set_log_events(static_cast<int64_t>(log_.events.size()));
    index.set_log_users(static_cast<int64_t>(log_.users.size()));
    absl::Status written = WriteListsIndex(options_.folder, index);
    if (!written.ok()) return written;
    out_.kept = kept_;
    std::error_code ignored;
    for (const char* name : {kListsExportName, kListsDataName, kWorkName}) {
      std::filesystem::remove_all(options_.folder / name, ignored);
    }
    for (int f = 0; f < 2 * options_.files; ++f) writer_.Forget(FileName(f));
    writer_.Forget(ItemsName());
    return absl::OkStatus();
  }

  const TrainInput& input_;
  const ExportListsOptions& options_;
  const std::function<void(const TrainProgress&)>& progress_;
  std::stop_token stop_;
  CatalogDirectory directory_;
  ShardWriter writer_;
  storage::ListsExport run_;
  TrainingLog log_;
  Recipe recipe_;
  std::vector<std::vector<Decision>> decisions_of_;  // [files that are trained on, then those that validate]
  std::unique_ptr<PastView> view_;
  std::string signals_sha256_, salt_;
  std::optional<ShardKeys> keys_;  // of lists that are sealed
  std::atomic<int> kept_{0};
  ExportedLists out_;
};

}  // namespace

absl::StatusOr<ExportedLists> ExportLists(const TrainInput& input, const ExportListsOptions& options,
                                          const std::function<void(const TrainProgress&)>& progress,
                                          std::stop_token stop) {
  if (options.files < 1 || options.files > 99999) {
    return absl::InvalidArgumentError(absl::StrCat("--files is ", options.files, "; it takes 1 to 99,999"));
  }
  return ListExporter(input, options, progress, std::move(stop)).Run();
}

}  // namespace waymark
