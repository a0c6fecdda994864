#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "training/ranker/trained_ranker.h"

namespace waymark {

absl::StatusOr<ModelPackage> WriteRankerPackage(const std::filesystem::path& folder,
                                                const TrainedRanker& ranker, const RankerFeatures& features,
                                                storage::ModelManifest manifest) {
  if (static_cast<int64_t>(features.names.size()) != ranker.config.features) {
    return absl::InvalidArgumentError(absl::StrCat("the feature table has ", features.names.size(),
                                                   " columns; the ranker was trained on ",
                                                   ranker.config.features));
  }
  manifest.set_kind("ranker");
  manifest.clear_network();
  WriteRankerConfig(ranker.config, &manifest);
  manifest.clear_features();
  for (const std::string& name : features.names) manifest.add_features(name);
  manifest.set_features_sha256(features.sha256);
  for (const auto& [name, value] : ranker.metrics) (*manifest.mutable_metrics())[name] = value;
  storage::ModelManifest::TrainingData& data = *manifest.mutable_data();
  data.set_lists(ranker.lists);
  data.set_lists_with_query(ranker.lists_with_query);
  data.set_seed(ranker.seed);
  auto time = [](int64_t us) {
    return absl::FormatTime(absl::RFC3339_full, absl::FromUnixMicros(us), absl::UTCTimeZone());
  };
  if (data.first_time().empty()) data.set_first_time(time(ranker.first_time_us));
  if (data.last_time().empty()) data.set_last_time(time(ranker.last_time_us));
  return WriteModelPackage(folder, std::move(manifest), ranker.weights, {{"items", ranker.vocabulary}});
}

}  // namespace waymark
