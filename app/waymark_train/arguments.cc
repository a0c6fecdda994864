#include "app/waymark_train/arguments.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "app/option_checks.h"

namespace waymark {
namespace {

void AddModel(CLI::App* app, TrainArguments* a) {
  JobOverrides* o = &a->job.overrides;
  const std::string group = "Model and schedule (what is left out suits the shards)";
  const auto number = [&](const char* name, auto* value, const char* description) {
    app->add_option(name, *value, description)->group(group)->check(OverZero())->type_name("N");
  };
  number("--epochs", &o->epochs, "at most");
  number("--patience", &o->patience, "epochs without a better validation before training ends");
  number("--batch-tokens", &o->batch_tokens, "events of a batch, on all ranks together");
  number("--batch-lists", &o->batch_lists, "ranking lists of a batch, on all ranks together (48)");
  number("--negatives", &o->negatives, "items that a batch is contrasted with");
  number("--learning-rate", &o->learning_rate, "of Adam, after the warm-up");
  number("--warmup-steps", &o->warmup_steps, "over which it grows");
  number("--clip", &o->clip, "of the gradient's norm over all ranks");
  number("--width", &o->width, "of vectors; the feed-forward branch is twice as wide");
  number("--heads", &o->heads, "of attention, which --width is a multiple of");
  number("--blocks", &o->blocks, "of attention");
  number("--history", &o->history, "newest events that a prediction sees");
  number("--validation-users", &o->validation_users, "at most about so many");
  number("--admit-after", &o->admit_after,
         "times that an epoch must read an item before it has a row of the item table of its own (1)");
  number("--max-rows", &o->max_rows, "of the item table (one for each item)");
  app->add_option("--evict", a->evict,
                  "of a table of --max-rows that is full: who leaves is the least `frequent` item, or the "
                  "least `recent` one (frequent)")
      ->group(group)
      ->check(CLI::IsMember({"frequent", "recent"}))
      ->type_name("HOW");
  app->add_option("--dropout", o->dropout, "share")->group(group)->check(ZeroOrMore())->type_name("SHARE");
  app->add_option("--seed", o->seed, "the same seed gives the same losses on any number of ranks")
      ->group(group)
      ->capture_default_str()
      ->type_name("N");
  app->add_option("--precision", a->precision,
                  "of products with dense matrices: fp32, or bf16 with weights and sums in fp32")
      ->group(group)
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str()
      ->type_name("NAME");
}

void AddRanks(CLI::App* app, TrainArguments* a) {
  const std::string group = "Ranks";
  app->add_option("--processes", a->processes, "start so many ranks on this machine")
      ->group(group)
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  app->add_option("--launcher", a->launch.launcher,
                  "auto, flags, torchrun, openmpi, slurm, kubernetes or single: who says which rank this is")
      ->group(group)
      ->check(CLI::IsMember({"auto", "flags", "torchrun", "openmpi", "slurm", "kubernetes", "single"}))
      ->capture_default_str()
      ->type_name("NAME");
  app->add_option("--rank", a->launch.rank, "of this process, from 0")->group(group)->type_name("N");
  app->add_option("--world-size", a->launch.world_size, "how many ranks there are")
      ->group(group)
      ->type_name("N");
  app->add_option("--local-rank", a->launch.local_rank, "among those of this machine")
      ->group(group)
      ->type_name("N");
  app->add_option("--rendezvous", a->launch.rendezvous, "where the ranks meet; rank 0 listens there")
      ->group(group)
      ->type_name("HOST:PORT");
  app->add_option("--backend", a->job.backend, "auto, gloo, nccl or mpi")
      ->group(group)
      ->check(CLI::IsMember({"auto", "gloo", "nccl", "mpi"}))
      ->capture_default_str()
      ->type_name("NAME");
  app->add_option("--timeout", a->timeout_s, "seconds after which a rank that does not answer ends the run")
      ->group(group)
      ->check(OverZero())
      ->capture_default_str()
      ->type_name("S");
  app->add_option(
         "--parts", a->job.parts,
         "of a batch; the losses are the same on any number of ranks up to it (4, or as many as ranks)")
      ->group(group)
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app->add_option("--threads", a->job.threads, "of each rank, over its parts")
      ->group(group)
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->type_name("N");
  app->add_option("--accumulate", a->job.accumulate,
                  "micro-batches that each part is cut into, one after the other: memory against time")
      ->group(group)
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->type_name("N");
  app->add_flag("--share-rows", a->job.share_rows,
                "each rank holds its share of the rows of the item and content tables, of a ranker of the "
                "query table too")
      ->group(group);
  app->add_option("--mesh", a->job.mesh,
                  "data=D,tensor=T or data=D,pipeline=P: each copy of the model on T or P neighbouring ranks")
      ->group(group)
      ->type_name("AXES");
  app->add_flag("--shard-optimizer", a->job.shard_optimizer,
                "each data rank holds its share of the optimizer's state")
      ->group(group);
  app->add_flag("--checkpoint-activations", a->job.checkpoint_activations,
                "keep the input of each block alone and compute the rest again: memory against time")
      ->group(group);
  app->add_option("--memory-limit", a->job.memory_limit,
                  "of private memory of each process, as 800MB or 2GB; a model that wants more is refused")
      ->group(group)
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  app->add_option("--scale-rate", a->scaling,
                  "how the learning rate grows with --batch-tokens over 1,024, or --batch-lists over 48")
      ->group(group)
      ->check(CLI::IsMember({"none", "linear", "sqrt"}))
      ->capture_default_str()
      ->type_name("HOW");
}

void AddFiles(CLI::App* app, TrainArguments* a) {
  app->add_option(
         "--shards", a->job.shards,
         "the folder that `waymark export examples` (a retriever is trained) or `waymark export lists` "
         "(a ranker is) wrote")
      ->required()
      ->type_name("DIR");
  app->add_option("--keys", a->job.keys,
                  "of sealed shards: the key bundle that `waymark export keys` wrote for them")
      ->type_name("FILE");
  app->add_option("--package", a->job.package, "the folder that the model package becomes")
      ->required()
      ->type_name("DIR");
  app->add_option("--version", a->job.version, "of the package")->capture_default_str()->type_name("NAME");
  app->add_option(
         "--retriever", a->job.retriever,
         "of a ranker: the retriever's package that it will serve with; lists of another are refused")
      ->type_name("DIR");
  app->add_option("--init-from", a->job.init_from, "a package whose weights are the start")->type_name("DIR");
  app->add_option("--checkpoints", a->job.checkpoints,
                  "a folder that all ranks share; a run goes on from there")
      ->type_name("DIR");
  app->add_option("--checkpoint-interval", a->checkpoint_interval_s, "seconds")
      ->check(ZeroOrMore())
      ->capture_default_str()
      ->type_name("S");
  app->add_option("--keep-checkpoints", a->job.keep_checkpoints, "newest ones")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->type_name("N");
  app->add_option("--report", a->report, "a JSON file of what the run took")->type_name("FILE");
  app->add_option("--events", a->events, "a folder for TensorBoard")->type_name("DIR");
  app->add_option("--losses", a->losses, "a file with every step's loss, one `step loss` a line")
      ->type_name("FILE");
  app->add_option("--price", a->price, "of one process for an hour: the report says what the run cost")
      ->check(OverZero())
      ->type_name("PRICE");
  app->add_option("--max-steps", a->job.max_steps, "end after so many, without a package")
      ->check(OverZero())
      ->type_name("N");
}

}  // namespace

void AddTrainArguments(CLI::App* app, TrainArguments* a) {
  AddFiles(app, a);
  AddModel(app, a);
  AddRanks(app, a);
  app->footer(
      "Example:\n  waymark export examples shards --data DIR\n"
      "  waymark-train --shards shards --package retriever-1 --processes 2\n"
      "  torchrun --no-python --nproc-per-node 2 waymark-train --shards shards --package retriever-1\n"
      "  waymark model import retriever-1 --data DIR\n"
      "  waymark export lists lists --data DIR\n"
      "  waymark-train --shards lists --package ranker-1 --processes 2\n\n"
      "Exit codes: 0 done, 1 failed or stopped, 2 wrong usage.");
}

std::string OtherLauncher(const TrainArguments& a) {
  const LaunchFlags& flags = a.launch;
  for (const auto& [name, given] : {std::pair{"--rank", flags.rank.has_value()},
                                    {"--world-size", flags.world_size.has_value()},
                                    {"--local-rank", flags.local_rank.has_value()},
                                    {"--rendezvous", !flags.rendezvous.empty()},
                                    {"--launcher", flags.launcher != "auto"}}) {
    if (given) return absl::StrCat(name, " is for a rank that was started otherwise");
  }
  const absl::StatusOr<LaunchPlace> place = FindLaunch(ProcessEnvironment(), {});
  if (!place.ok()) return absl::StrCat("the environment is a launcher's: ", place.status().message());
  if (place->world_size > 1) return absl::StrCat("this one was started already as ", Describe(*place));
  return "";
}

void FinishTrainArguments(TrainArguments* a) {
  a->job.checkpoint_interval = absl::Seconds(a->checkpoint_interval_s);
  a->job.timeout = absl::Seconds(a->timeout_s);
  a->job.precision = a->precision == "bf16" ? TrainingPrecision::kBf16 : TrainingPrecision::kFp32;
  if (!a->evict.empty()) {
    a->job.overrides.evict = a->evict == "recent" ? EvictionRule::kLeastRecent : EvictionRule::kLeastFrequent;
  }
  a->job.overrides.scaling = a->scaling == "linear" ? RateScaling::kLinear
                             : a->scaling == "sqrt" ? RateScaling::kSquareRoot
                                                    : RateScaling::kNone;
}

}  // namespace waymark
