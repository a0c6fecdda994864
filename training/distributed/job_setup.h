// What a job is set up from: the options that the shards and the command line give together, and the check
// that all ranks have the same.
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "training/distributed/train_job.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

// INVALID_ARGUMENT names the option.
absl::StatusOr<RetrieverOptions> OptionsOfJob(const storage::ExamplesIndex& index,
                                              const JobOverrides& overrides);
// Parts of a batch; INVALID_ARGUMENT: fewer than ranks, or fewer files than parts.
absl::StatusOr<int> PartsOfJob(const storage::ExamplesIndex& index, int asked, int ranks);
absl::StatusOr<int> PartsOfFiles(int files, int asked, int ranks);
// All that the result depends on, one `name value` a line.
std::string SettingsText(const storage::ExamplesIndex& index, const RetrieverOptions& options,
                         const JobOptions& job, int parts);
// What all ranks must do alike beside that, in the same form.
std::string RunText(const JobOptions& job);
// said: of each rank its settings, or «error: ...» where it could not make them. The first error, or the
// first line that differs, with the ranks that have it.
absl::Status CheckSameSettings(const std::vector<std::string>& said);

}  // namespace waymark
