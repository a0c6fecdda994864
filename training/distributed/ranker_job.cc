#include "training/distributed/ranker_job.h"

#include <cmath>
#include <map>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rank/feature_table.h"
#include "store/package/model_package.h"
#include "training/distributed/job_setup.h"
#include "training/distributed/ranker_rank_trainer.h"
#include "training/shards/lists_index.h"

namespace waymark {
namespace {

constexpr char kRankerSettingsVersion[] = "waymark-train ranker 1";

absl::Status CheckRetriever(const storage::ListsIndex& index, const std::filesystem::path& folder) {
  if (folder.empty()) return absl::OkStatus();
  auto package = OpenModelPackage(folder);
  if (!package.ok()) return package.status();
  if (package->content_sha256 == index.retriever_sha256()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the lists belong to the retriever ", index.retriever_version(), " (sha256 ", index.retriever_sha256(),
      "), and --retriever ", folder.string(), " is ", package->manifest.version(), " (",
      package->content_sha256, "); a ranker serves with no other than its own: export lists for this one"));
}

std::string RankerSettingsText(const storage::ListsIndex& index, const RankerTrainerOptions& o, int parts) {
  const std::map<std::string, std::string> lines = {
      {"program", kRankerSettingsVersion},
      {"shards", ListsFingerprint(index)},
      {"retriever", index.retriever_sha256()},
      {"features", index.features_sha256()},
      {"epochs", absl::StrCat(o.max_epochs)},
      {"patience", absl::StrCat(o.patience)},
      {"batch-lists", absl::StrCat(o.lists_per_batch)},
      {"learning-rate", absl::StrCat(o.learning_rate)},
      {"last learning rate", absl::StrCat(o.final_learning_rate_share)},
      {"weight decay", absl::StrCat(o.weight_decay)},
      {"dropout", absl::StrCat(o.dropout)},
      {"id dropout", absl::StrCat(o.id_dropout)},
      {"least lists of an item", absl::StrCat(o.min_item_count)},
      {"width", absl::StrCat(o.width)},
      {"hidden", absl::StrCat(o.hidden1, " ", o.hidden2)},
      {"heads", absl::StrCat(o.attention_heads)},
      {"content buckets", absl::StrCat(o.content_buckets)},
      {"query buckets", absl::StrCat(o.query_buckets)},
      {"seed", absl::StrCat(o.seed)},
      {"parts", absl::StrCat(parts)},
  };
  return absl::StrJoin(lines, "\n", absl::PairFormatter(" "));
}

}  // namespace

absl::StatusOr<RankerTrainerOptions> RankerOptionsOfJob(const JobOptions& job) {
  const JobOverrides& given = job.overrides;
  for (const auto& [name, is_given] : {std::pair{"--batch-tokens", given.batch_tokens.has_value()},
                                       {"--negatives", given.negatives.has_value()},
                                       {"--warmup-steps", given.warmup_steps.has_value()},
                                       {"--clip", given.clip.has_value()},
                                       {"--blocks", given.blocks.has_value()},
                                       {"--history", given.history.has_value()},
                                       {"--validation-users", given.validation_users.has_value()},
                                       {"--admit-after", given.admit_after.has_value()},
                                       {"--max-rows", given.max_rows.has_value()},
                                       {"--evict", given.evict.has_value()},
                                       {"--accumulate", job.accumulate > 1},
                                       {"--mesh", !job.mesh.empty()},
                                       {"--shard-optimizer", job.shard_optimizer},
                                       {"--checkpoint-activations", job.checkpoint_activations},
                                       {"--memory-limit", job.memory_limit > 0},
                                       {"--init-from", !job.init_from.empty()}}) {
    if (!is_given) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is for the training of a retriever; ", job.shards.string(),
                     " holds ranking lists, and a ranker's training has no such option"));
  }
  RankerTrainerOptions options;
  options.seed = given.seed;
  if (given.epochs) options.max_epochs = *given.epochs;
  if (given.patience) options.patience = *given.patience;
  if (given.learning_rate) options.learning_rate = *given.learning_rate;
  if (given.dropout) options.dropout = *given.dropout;
  if (given.width) options.width = *given.width;
  if (given.heads) options.attention_heads = *given.heads;
  const double usual = options.lists_per_batch;
  if (given.batch_lists) options.lists_per_batch = *given.batch_lists;
  const double larger = options.lists_per_batch / usual;
  if (given.scaling == RateScaling::kLinear) options.learning_rate *= larger;
  if (given.scaling == RateScaling::kSquareRoot) options.learning_rate *= std::sqrt(larger);
  options.threads = job.threads;
  if (absl::Status checked = CheckRankerOptions(options); !checked.ok()) return checked;
  return options;
}

absl::StatusOr<RankerSetup> SetUpRanker(const LaunchPlace& place, const JobOptions& job) {
  const FeatureTable& table = FeatureTable::Current();
  auto index = ReadListsIndex(job.shards, {table.Names(), table.sha256()});
  if (!index.ok()) return index.status();
  if (absl::Status checked = CheckRetriever(*index, job.retriever); !checked.ok()) return checked;
  auto options = RankerOptionsOfJob(job);
  if (!options.ok()) return options.status();
  auto parts = PartsOfFiles(index->files_size(), job.parts, place.world_size);
  if (!parts.ok()) return parts.status();
  RankerSetup setup;
  auto keys = KeysOfJob(job, index->has_sealing(), ListsFingerprint(*index));
  if (!keys.ok()) return keys.status();
  setup.keys = *std::move(keys);
  setup.settings = absl::StrCat(RankerSettingsText(*index, *options, *parts), ErasedSetting(setup.keys));
  if (setup.keys) {
    index->set_lists(index->lists() - setup.keys->TakeErased(index->mutable_files()));
    index->set_validation_lists(index->validation_lists() -
                                setup.keys->TakeErased(index->mutable_validation()));
    if (index->lists() <= 0) return NobodyLeft(job.shards);
  }
  setup.index = *std::move(index);
  setup.options = *options;
  setup.parts = *parts;
  return setup;
}

absl::StatusOr<JobResult> TrainRankerOver(const LaunchPlace& place, const JobOptions& job,
                                          const RankerSetup& setup, RankGroup* group, std::stop_token stop) {
  try {
    const ListReader reader(job.shards, &setup.index, setup.keys ? &*setup.keys : nullptr);
    auto items = reader.ReadItems();
    if (!items.ok()) return items.status();
    RankerRankTrainer trainer(
        {group, &setup.index, &reader, &job, setup.options, setup.parts, Sha256Hex(setup.settings)}, *items);
    items->clear();
    items->shrink_to_fit();
    if (absl::Status prepared = trainer.Prepare(); !prepared.ok()) return prepared;
    if (absl::Status trained = trainer.Train(std::move(stop)); !trained.ok()) return trained;
    JobResult result;
    result.launcher = place.launcher;
    if (absl::Status written = trainer.Write(&result); !written.ok()) return written;
    trainer.Report(&result);
    return result;
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "rank ", place.rank, " has not enough memory for ", setup.index.item_count(), " items of width ",
        setup.options.width, " and the lists of its ",
        (setup.parts + place.world_size - 1) / place.world_size, " parts, of ", setup.index.features_size(),
        " features; --share-rows spreads the tables over the ranks; more ranks, a smaller --width or smaller "
        "files ",
        "(export with more --files) take less"));
  }
}

}  // namespace waymark
