#include "training/distributed/train_job.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"
#include "training/distributed/epoch_parts.h"
#include "training/distributed/job_setup.h"
#include "training/distributed/list_order.h"
#include "training/distributed/mesh/memory_need.h"
#include "training/distributed/mesh/rank_mesh.h"
#include "training/distributed/rank_trainer.h"
#include "training/distributed/ranker_job.h"
#include "training/shards/examples_index.h"
#include "training/shards/lists_index.h"

namespace waymark {
namespace {

// What a rank can find out before it meets the others.
struct Setup {
  std::optional<RankerSetup> ranker;  // when the shards are ranking lists; else:
  storage::ExamplesIndex index;
  RetrieverOptions options;
  VocabularyPolicy vocabulary;
  MeshShape mesh;
  int parts = 0;
  std::optional<ShardKeys> keys;
  std::string settings;  // of either
  const std::optional<ShardKeys>& shard_keys() const { return ranker ? ranker->keys : keys; }
};

// Known before the training, not after.
absl::Status CheckPackage(const std::filesystem::path& package) {
  std::error_code error;
  if (std::filesystem::exists(package, error)) {
    return absl::AlreadyExistsError(
        absl::StrCat(package.string(), " exists already; name another --package"));
  }
  std::filesystem::path parent = std::filesystem::absolute(package, error).lexically_normal();
  if (!parent.has_filename()) parent = parent.parent_path();  // a slash at its end
  parent = parent.parent_path();
  std::filesystem::create_directories(parent, error);
  if (error || access(parent.c_str(), W_OK) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("--package: cannot write into ", parent.string(), ": ",
                     error ? error.message() : std::string(std::strerror(errno))));
  }
  return absl::OkStatus();
}

// A pipeline wants a part for each of its stages at once.
int PartsAsked(const JobOptions& job, const MeshShape& mesh) {
  return job.parts == 0 && mesh.pipeline > 1 ? std::max(4, mesh.ranks()) : job.parts;
}

absl::StatusOr<Setup> SetUp(const LaunchPlace& place, const JobOptions& job) {
  if (!job.ready.ok()) return job.ready;
  if (place.rank == 0 && job.max_steps == 0) {
    if (absl::Status checked = CheckPackage(job.package); !checked.ok()) return checked;
  }
  Setup setup;
  auto kind = KindOfShards(job.shards);
  if (!kind.ok()) return kind.status();
  if (*kind == kLists) {
    auto ranker = SetUpRanker(place, job);
    if (!ranker.ok()) return ranker.status();
    setup.ranker = *std::move(ranker);
    setup.settings = setup.ranker->settings;
    return setup;
  }
  if (!job.retriever.empty()) {
    return absl::InvalidArgumentError(
        "--retriever says what ranking lists belong to; these shards are histories");
  }
  auto index = ReadExamplesIndex(job.shards);
  if (!index.ok()) return index.status();
  setup.index = *std::move(index);
  auto options = OptionsOfJob(setup.index, job.overrides);
  if (!options.ok()) return options.status();
  setup.options = *options;
  auto vocabulary = VocabularyOfJob(job.overrides, setup.index.item_count());
  if (!vocabulary.ok()) return vocabulary.status();
  setup.vocabulary = *vocabulary;
  auto mesh = MeshOf(job.mesh, place.world_size);
  if (!mesh.ok()) return mesh.status();
  setup.mesh = *mesh;
  if (absl::Status goes = CheckMesh(setup.mesh, setup.options.shape, job); !goes.ok()) return goes;
  auto parts = PartsOfJob(setup.index, PartsAsked(job, setup.mesh), setup.mesh.data);
  if (!parts.ok()) return parts.status();
  setup.parts = *parts;
  auto keys = KeysOfJob(job, setup.index.has_sealing(), ExamplesFingerprint(setup.index));
  if (!keys.ok()) return keys.status();
  setup.keys = *std::move(keys);
  setup.settings =
      absl::StrCat(SettingsText(setup.index, setup.options, job, setup.parts), ErasedSetting(setup.keys));
  if (setup.keys) {
    setup.index.set_examples(setup.index.examples() - setup.keys->TakeErased(setup.index.mutable_files()));
    if (setup.index.examples() <= 0) return NobodyLeft(job.shards);
  }
  return setup;
}

// Whether the run may end, and write its package, in no more steps than --max-steps allows.
bool MayEndBefore(int64_t max_steps, const Setup& setup) {
  int64_t batches = 0, epochs = 0;
  if (setup.ranker) {
    const RankerTrainerOptions& o = setup.ranker->options;
    batches = BatchesOfLists(setup.ranker->index, o.lists_per_batch);
    epochs = std::min(o.max_epochs, o.patience + 1);
  } else {
    batches = BatchesOfShards(setup.index, setup.options);
    epochs = std::min(setup.options.epochs, setup.options.patience + 1);
  }
  return max_steps >= batches * epochs;
}

absl::Status NoMemory(const LaunchPlace& place, const Setup& setup) {
  if (setup.ranker) {
    return absl::ResourceExhaustedError(
        absl::StrCat("rank ", place.rank, " has not enough memory for a ranker of ",
                     setup.ranker->index.item_count(), " items of width ", setup.ranker->options.width,
                     "; --share-rows spreads its tables over the ranks, --width makes them smaller, fewer "
                     "--threads the gradients beside them"));
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("rank ", place.rank, " has not enough memory for ", setup.index.item_count(),
                   " items of width ", setup.options.shape.width,
                   "; --share-rows spreads the item table over the ranks, --max-rows makes it smaller, "
                   "--mesh spreads the ",
                   "encoder, --shard-optimizer the optimizer's state, --width makes all of them smaller"));
}

absl::StatusOr<JobResult> Train(const LaunchPlace& place, const JobOptions& job, const Setup& setup,
                                RankGroup* group, std::unique_ptr<RankMesh>* mesh, std::stop_token stop) {
  if (setup.ranker) return TrainRankerOver(place, job, *setup.ranker, group, std::move(stop));
  auto made = RankMesh::Make(group, setup.mesh);
  if (!made.ok()) return made.status();
  *mesh = *std::move(made);
  const PlacementInput placement = {setup.mesh, setup.options.shape,
                                    setup.vocabulary.RowsFor(setup.index.item_count()), job.share_rows,
                                    job.shard_optimizer};
  if (group->rank() == 0 && job.say && (!job.mesh.empty() || job.shard_optimizer || job.share_rows)) {
    job.say(PlacementTable(placement));
  }
  const ShardReader reader(job.shards, &setup.index, setup.keys ? &*setup.keys : nullptr);
  auto items = reader.ReadItems();
  if (!items.ok()) return items.status();
  if (job.memory_limit > 0) {
    const MemoryInput input = {placement,
                               &setup.index,
                               setup.options,
                               setup.vocabulary,
                               setup.parts,
                               job.threads,
                               job.accumulate,
                               job.checkpoint_activations,
                               !job.checkpoints.empty(),
                               job.max_steps == 0,
                               job.precision};
    const absl::Status held = HoldToLimit(input, group->rank(), job.memory_limit);
    for (const std::string& problem : group->GatherText(held.ok() ? "" : std::string(held.message()))) {
      if (!problem.empty()) return absl::ResourceExhaustedError(problem);
    }
  }
  const std::string pinned =
      absl::StrCat(setup.settings, VocabularySetting(setup.vocabulary, setup.index.item_count()));
  RankTrainer trainer({mesh->get(), &setup.index, &reader, &job, setup.options, setup.vocabulary, setup.parts,
                       Sha256Hex(pinned)},
                      *items);
  items->clear();
  if (absl::Status prepared = trainer.Prepare(); !prepared.ok()) return prepared;
  if (absl::Status trained = trainer.Train(std::move(stop)); !trained.ok()) return trained;
  JobResult result;
  result.launcher = place.launcher;
  if (absl::Status written = trainer.Write(&result); !written.ok()) return written;
  trainer.Report(&result);
  return result;
}

}  // namespace

absl::StatusOr<JobResult> RunTrainJob(const LaunchPlace& place, const JobOptions& job, std::stop_token stop) {
  auto setup = SetUp(place, job);
  if (setup.ok() && place.rank == 0 && job.max_steps > 0 && MayEndBefore(job.max_steps, *setup)) {
    if (absl::Status checked = CheckPackage(job.package); !checked.ok()) setup = checked;
  }
  if (!setup.ok() && place.world_size == 1) return setup.status();
  auto made = RankGroup::Make(place, {job.backend, job.timeout, stop});
  if (!made.ok()) return made.status();
  std::unique_ptr<RankGroup> group = *std::move(made);
  std::unique_ptr<RankMesh> mesh;
  at::set_num_threads(1);  // parallel over the parts of a batch
  absl::StatusOr<JobResult> result = absl::InternalError("not run");
  try {
    const absl::Status same =
        CheckSameSettings(group->GatherText(setup.ok() ? absl::StrCat(ProgramText(job), "\n", setup->settings,
                                                                      "\n", RunText(job, setup->shard_keys()))
                                                       : absl::StrCat("error: ", setup.status().message())));
    if (!same.ok()) {
      result = setup.ok() ? same : setup.status();
    } else {
      const std::optional<ShardKeys>& keys = setup->shard_keys();
      if (keys && group->rank() == 0 && job.say) {
        job.say(absl::StrCat("erased since: ", keys->erased_users(), " users, whose records are skipped"));
      }
      result = Train(place, job, *setup, group.get(), &mesh, std::move(stop));
      if (keys && result.ok()) result->erased_users = keys->erased_users();
    }
  } catch (const ExchangeError& e) {
    result = absl::UnavailableError(e.what());
  } catch (const c10::Error& e) {
    // What it says of memory that it does not get.
    result = absl::StrContains(e.what_without_backtrace(), "can't allocate memory")
                 ? NoMemory(place, *setup)
                 : absl::InternalError(absl::StrCat("LibTorch failed: ", e.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    result = NoMemory(place, *setup);
  } catch (const std::exception& e) {
    result = absl::InternalError(absl::StrCat("rank ", place.rank, " failed: ", e.what()));
  }
  if (result.ok()) return result;
  if (!absl::IsUnavailable(result.status()) && !absl::IsCancelled(result.status())) {
    group->TellFailure(std::string(result.status().message()));
  }
  // A group whose ranks have gone may wait for them when it is taken down; the process ends soon.
  [[maybe_unused]] RankGroup* left = group.release();
  [[maybe_unused]] RankMesh* left_mesh = mesh.release();
  return result;
}

}  // namespace waymark
