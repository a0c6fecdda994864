#include "training/distributed/job_setup.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "training/shards/examples_index.h"

namespace waymark {
namespace {

constexpr int kUsualParts = 4;
constexpr double kUsualBatchTokens = 1024;
constexpr char kSettingsVersion[] = "waymark-train 1";

const char* NameOfRule(EvictionRule rule) {
  return rule == EvictionRule::kLeastRecent ? "recent" : "frequent";
}

template <typename T, typename U>
void Take(const std::optional<T>& from, U* to) {
  if (from) *to = static_cast<U>(*from);
}

}  // namespace

absl::StatusOr<RetrieverOptions> OptionsOfJob(const storage::ExamplesIndex& index,
                                              const JobOverrides& given) {
  RetrieverOptions options;
  std::map<std::string, int*> whole = {
      {"network.width", &options.shape.width},
      {"network.heads", &options.shape.heads},
      {"network.blocks", &options.shape.blocks},
      {"network.hidden", &options.shape.hidden},
      {"network.history_limit", &options.shape.history_limit},
      {"network.time_buckets", &options.shape.time_buckets},
      {"network.content_buckets", &options.shape.content_buckets},
      {"network.content_width", &options.shape.content_width},
      {"negatives", &options.negatives},
  };
  std::map<std::string, double*> real = {{"network.temperature", &options.shape.temperature},
                                         {"learning_rate", &options.learning_rate},
                                         {"dropout", &options.dropout}};
  for (const auto& [name, value] : index.options()) {
    if (whole.contains(name)) {
      *whole[name] = static_cast<int>(value);
    } else if (real.contains(name)) {
      *real[name] = value;
    } else {
      return absl::FailedPreconditionError(
          absl::StrCat("the shards' index has an option '", name, "' that this program does not know"));
    }
  }
  if (given.batch_lists) {
    return absl::InvalidArgumentError(
        "--batch-lists is for shards of ranking lists; these are histories, whose batches --batch-tokens "
        "measures");
  }
  options.held_out = static_cast<size_t>(index.held_out());
  options.seed = given.seed;
  Take(given.epochs, &options.epochs);
  Take(given.patience, &options.patience);
  Take(given.batch_tokens, &options.batch_tokens);
  Take(given.negatives, &options.negatives);
  Take(given.warmup_steps, &options.warmup_steps);
  Take(given.heads, &options.shape.heads);
  Take(given.blocks, &options.shape.blocks);
  Take(given.history, &options.shape.history_limit);
  Take(given.learning_rate, &options.learning_rate);
  Take(given.dropout, &options.dropout);
  Take(given.clip, &options.clip);
  Take(given.validation_users, &options.validation_users);
  if (given.width) {
    options.shape.width = *given.width;
    options.shape.hidden = 2 * *given.width;
  }
  const double larger = options.batch_tokens / kUsualBatchTokens;
  if (given.scaling == RateScaling::kLinear) options.learning_rate *= larger;
  if (given.scaling == RateScaling::kSquareRoot) options.learning_rate *= std::sqrt(larger);
  if (absl::Status checked = options.Check(); !checked.ok()) return checked;
  return options;
}

absl::StatusOr<VocabularyPolicy> VocabularyOfJob(const JobOverrides& given, int64_t items) {
  VocabularyPolicy policy;
  for (const auto& [name, from, to] : {std::tuple{"--admit-after", given.admit_after, &policy.admit_after},
                                       {"--max-rows", given.max_rows, &policy.max_rows}}) {
    if (from && *from < 1) {
      return absl::InvalidArgumentError(absl::StrCat(name, " is ", *from, "; it takes 1 or more"));
    }
    Take(from, to);
  }
  if (given.evict && !given.max_rows) {
    return absl::InvalidArgumentError(
        "--evict says which item leaves a table that is full, and without --max-rows each item that is "
        "admitted has a row; give --max-rows, or leave --evict out");
  }
  Take(given.evict, &policy.evict);
  if (policy.Limits(items) && items > DynamicVocabulary::kMostItems) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--admit-after and --max-rows are for at most ", DynamicVocabulary::kMostItems,
        " items, and the shards have ", items, "; leave them out, and spread the table with --share-rows"));
  }
  return policy;
}

std::string VocabularySetting(const VocabularyPolicy& policy, int64_t items) {
  if (!policy.Limits(items)) return "";
  const bool evicts = policy.RowsFor(items) < items;
  return absl::StrCat("\nadmit-after ", policy.admit_after, "\nmax-rows ", policy.RowsFor(items), "\nevict ",
                      evicts ? NameOfRule(policy.evict) : "nothing");
}

absl::StatusOr<int> PartsOfJob(const storage::ExamplesIndex& index, int asked, int ranks) {
  return PartsOfFiles(index.files_size(), asked, ranks);
}

absl::StatusOr<int> PartsOfFiles(int files, int asked, int ranks) {
  const int parts = asked > 0 ? asked : std::max(kUsualParts, ranks);
  if (parts < ranks) {
    return absl::InvalidArgumentError(absl::StrCat("--parts is ", parts, ", and there are ", ranks,
                                                   " ranks; a batch needs a part for each"));
  }
  if (files < parts) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the shards are ", files, " files for the ", parts, " parts of a batch; export again with --files ",
        parts, " or more, or say --parts ", files >= ranks ? absl::StrCat(files) : "with fewer ranks"));
  }
  return parts;
}

std::string SettingsText(const storage::ExamplesIndex& index, const RetrieverOptions& o,
                         const JobOptions& job, int parts) {
  google::protobuf::Map<std::string, double> network;
  o.shape.ToNetwork(&network);
  std::map<std::string, std::string> lines = {
      {"program", kSettingsVersion},
      {"shards", ExamplesFingerprint(index)},
      {"epochs", absl::StrCat(o.epochs)},
      {"patience", absl::StrCat(o.patience)},
      {"batch-tokens", absl::StrCat(o.batch_tokens)},
      {"negatives", absl::StrCat(o.negatives)},
      {"warmup-steps", absl::StrCat(o.warmup_steps)},
      {"learning-rate", absl::StrCat(o.learning_rate)},
      {"dropout", absl::StrCat(o.dropout)},
      {"id dropout", absl::StrCat(o.id_dropout)},
      {"clip", absl::StrCat(o.clip)},
      {"held out", absl::StrCat(o.held_out)},
      {"validation-users", absl::StrCat(o.validation_users)},
      {"seed", absl::StrCat(o.seed)},
      {"parts", absl::StrCat(parts)},
      {"init-from", job.init_from.empty() ? "nothing" : job.init_from.filename().string()},
  };
  for (const auto& [name, value] : network) lines[absl::StrCat("network ", name)] = absl::StrCat(value);
  return absl::StrJoin(lines, "\n", absl::PairFormatter(" "));
}

absl::StatusOr<std::optional<ShardKeys>> KeysOfJob(const JobOptions& job, bool sealed,
                                                   const std::string& fingerprint) {
  if (!sealed) {
    if (job.keys.empty()) return std::optional<ShardKeys>();
    return absl::InvalidArgumentError(absl::StrCat("--keys opens sealed shards, and ", job.shards.string(),
                                                   " is not sealed; leave it out"));
  }
  if (job.keys.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        job.shards.string(), " is sealed under its users' keys: say --keys FILE, which `waymark export keys ",
        job.shards.string(), " FILE --data DIR` writes where the data is"));
  }
  auto keys = ShardKeys::Read(job.keys, {job.shards, fingerprint, absl::Now()});
  if (!keys.ok()) return keys.status();
  return std::optional<ShardKeys>(*std::move(keys));
}

std::string ErasedSetting(const std::optional<ShardKeys>& keys) {
  if (!keys) return "";
  return absl::StrCat("\nerased users ", keys->erased_users() == 0 ? "none" : keys->ErasedText());
}

absl::Status NobodyLeft(const std::filesystem::path& shards) {
  return absl::FailedPreconditionError(
      absl::StrCat("all users of ", shards.string(), " were erased since; export again"));
}

std::string ProgramText(const JobOptions& job) {
  return absl::StrCat("program version ", job.program_version);
}

std::string RunText(const JobOptions& job, const std::optional<ShardKeys>& keys) {
  return absl::StrCat(
      "share-rows ", job.share_rows ? "yes" : "no", "\nmesh ", job.mesh.empty() ? "data" : job.mesh,
      "\nshard-optimizer ", job.shard_optimizer ? "yes" : "no", "\ncheckpoint-activations ",
      job.checkpoint_activations ? "yes" : "no", "\ncheckpoints ", job.checkpoints.empty() ? "no" : "yes",
      "\nkeep-checkpoints ", job.keep_checkpoints, "\nmax-steps ", job.max_steps, "\naccumulate ",
      job.accumulate, "\nprecision ", PrecisionText(job.precision), "\nkeys ", keys ? keys->Sha256() : "none",
      "\nadmit-after ", job.overrides.admit_after.value_or(1), "\nmax-rows ",
      job.overrides.max_rows ? absl::StrCat(*job.overrides.max_rows) : "all", "\nevict ",
      NameOfRule(job.overrides.evict.value_or(EvictionRule::kLeastFrequent)));
}

absl::Status CheckSameSettings(const std::vector<std::string>& said) {
  for (size_t r = 0; r < said.size(); ++r) {
    if (absl::StartsWith(said[r], "error: ")) {
      return absl::FailedPreconditionError(absl::StrCat("rank ", r, ": ", said[r].substr(7)));
    }
  }
  const std::vector<std::string> first = absl::StrSplit(said[0], '\n');
  for (size_t r = 1; r < said.size(); ++r) {
    if (said[r] == said[0]) continue;
    const std::vector<std::string> other = absl::StrSplit(said[r], '\n');
    for (size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
      const std::string a = i < first.size() ? first[i] : "nothing",
                        b = i < other.size() ? other[i] : "nothing";
      if (a == b) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("the ranks are not set up alike: rank 0 has «", a, "», rank ", r, " «", b,
                       "»; start all of them with the same options and shards"));
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
