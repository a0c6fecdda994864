// What a job is set up from: the options that the shards and the command line give together, and the check
// that all ranks have the same.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "training/distributed/train_job.h"
#include "training/shards/key_bundle.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

// INVALID_ARGUMENT names the option.
absl::StatusOr<RetrieverOptions> OptionsOfJob(const storage::ExamplesIndex& index,
                                              const JobOverrides& overrides);
// INVALID_ARGUMENT: a number below 1, --evict where the table is never full, or more items than a
// DynamicVocabulary numbers.
absl::StatusOr<VocabularyPolicy> VocabularyOfJob(const JobOverrides& overrides, int64_t items);
// What a checkpoint pins beside the settings, where not every item has a row; else nothing.
std::string VocabularySetting(const VocabularyPolicy& policy, int64_t items);
// Parts of a batch; INVALID_ARGUMENT: fewer than ranks, or fewer files than parts.
absl::StatusOr<int> PartsOfJob(const storage::ExamplesIndex& index, int asked, int ranks);
absl::StatusOr<int> PartsOfFiles(int files, int asked, int ranks);
// The keys of sealed shards; none of plain ones. INVALID_ARGUMENT: --keys is missing, or given for plain
// shards. Else as ShardKeys::Read.
absl::StatusOr<std::optional<ShardKeys>> KeysOfJob(const JobOptions& job, bool sealed,
                                                   const std::string& fingerprint);
// A line of the settings of sealed shards: who was erased. The result depends on it; on which bundle said so
// it does not.
std::string ErasedSetting(const std::optional<ShardKeys>& keys);
absl::Status NobodyLeft(const std::filesystem::path& shards);
// All that the result depends on, one `name value` a line.
std::string SettingsText(const storage::ExamplesIndex& index, const RetrieverOptions& options,
                         const JobOptions& job, int parts);
// The program that a rank runs, in the same form; stands first, since other programs may have other settings.
std::string ProgramText(const JobOptions& job);
// What all ranks must do alike beside that, in the same form.
std::string RunText(const JobOptions& job, const std::optional<ShardKeys>& keys);
// said: of each rank its settings, or «error: ...» where it could not make them. The first error, or the
// first line that differs, with the ranks that have it.
absl::Status CheckSameSettings(const std::vector<std::string>& said);

}  // namespace waymark
