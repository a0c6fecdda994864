// What a coordinator knows after a round, on disk: the plan, the model with the optimiser's moments, how many
// rounds are done. A coordinator that starts on the folder again goes on with the next round.
//
//   DIR/state.json             CoordinatorState; names the model file and its SHA-256
//   DIR/model-7.safetensors    after round 7
//   DIR/rounds.jsonl           a RoundReport a line, for people and tools
//
// state.json is replaced last and atomically, so that a crash leaves the state of before or of after a round.
#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "training/federated/model/server_optimizer.h"
#include "waymark/federated/plan.pb.h"

namespace waymark {

struct KeptState {
  federated::CoordinatorState state;
  std::vector<float> model;
  ServerMoments moments;
};

// None: the folder holds no federation. DATA_LOSS: damaged, with the file.
absl::StatusOr<std::optional<KeptState>> LoadCoordinatorState(const std::filesystem::path& folder);
// Fills the state's model_file and model_sha256; the model of before is removed.
absl::Status SaveCoordinatorState(const std::filesystem::path& folder, KeptState* kept);
// Appends the report of the state's last round to rounds.jsonl, unless it stands there.
absl::Status AppendReport(const std::filesystem::path& folder, const federated::RoundReport& report);

// One line of JSON.
std::string ReportAsJson(const federated::RoundReport& report);

}  // namespace waymark
