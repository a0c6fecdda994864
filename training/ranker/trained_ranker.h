// What training a ranker comes to, and the package that it becomes: the same whether one process trained it
// or many.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rank/network/ranker_config.h"
#include "store/ids.h"
#include "store/package/model_package.h"

namespace waymark {

struct TrainedRanker {
  RankerConfig config;
  TensorMap weights;
  std::vector<std::string> vocabulary;  // ids by row of item_vectors
  // loss, epochs, best_epoch, training_lists, validation_lists, validation_ndcg_at_10 (over the lists whose
  // target is among the candidates), lists_without_target, lists_over_memory_limit
  std::map<std::string, double> metrics;
  int64_t lists = 0, lists_with_query = 0;
  LogOffset first_position = 0, last_position = 0;
  int64_t first_time_us = 0, last_time_us = 0;
  uint64_t seed = 0;
};

// The columns that a ranker was trained on, and the hash of their definitions (FeatureTable::sha256).
struct RankerFeatures {
  std::vector<std::string> names;
  std::string sha256;
};

// `manifest` brings name, version, create_time, retriever_sha256 and, where they are known, data.first and
// last, events, users and items; kind, network, features, metrics and the rest of data are filled here.
absl::StatusOr<ModelPackage> WriteRankerPackage(const std::filesystem::path& folder,
                                                const TrainedRanker& ranker, const RankerFeatures& features,
                                                storage::ModelManifest manifest);

}  // namespace waymark
