// run.json of a training run's work folder: what is trained on which part of the log, so that a stopped run
// goes on with exactly that.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "store/ids.h"

namespace waymark {

struct RunFile {
  std::string what;     // retriever, ranker, all
  std::string version;  // of the packages
  uint64_t seed = 0, log_epoch = 0;
  LogOffset up_to = 0;
  double ranker_share = 0, validation_share = 0;
  uint64_t max_lists = 0;
  std::string serving_retriever_sha256;
  std::string arms;  // whose decisions teach the ranker; empty: everybody's
};

// None: there is no run in the folder. DATA_LOSS: the file is damaged.
absl::StatusOr<std::optional<RunFile>> ReadRunFile(const std::filesystem::path& folder);
// Atomic.
absl::Status WriteRunFile(const std::filesystem::path& folder, const RunFile& run);
void RemoveRunFile(const std::filesystem::path& folder);

}  // namespace waymark
