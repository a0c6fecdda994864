// `waymark evaluate recommend`: trains on a past view and asks for what came next. The whole catalogue is
// ranked; ties get the middle rank.
//
// leave-one-out (strict): each user's newest event is the test, the one before it validates; weights and
// counts have seen neither, the input history holds the validation item. time-split: everything before a
// moment is known; the events after it are asked in order, each with the history as it stood.
#pragma once
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "training/evaluation/recommend_metrics.h"
#include "training/recipe/train_models.h"
#include "training/train.h"

namespace waymark {

enum class EvaluationProtocol { kLeaveOneOut, kTimeSplit };

struct RecommendEvaluationOptions {
  EvaluationProtocol protocol = EvaluationProtocol::kLeaveOneOut;
  Repeats repeats = Repeats::kMask;
  size_t k = 10;
  double test_share = 0.1;       // of kTimeSplit: the newest share of the log
  size_t max_decisions = 50000;  // asked, evenly spaced
  std::filesystem::path work_folder;
  uint64_t seed = 1;
  int threads = 2;
  const Clock* clock = Clock::Real();
};

// One row of the table: a source alone, the merged sources, the weighted sum, the whole pipeline.
struct RecommendRow {
  std::string name;
  RecommendMetrics metrics;
};
struct RecommendEvaluation {
  std::vector<RecommendRow> rows;
  size_t decisions = 0, catalogue = 0;
  TrainedModels models;
};

absl::StatusOr<RecommendEvaluation> EvaluateRecommend(
    const TrainInput& input, const RecommendEvaluationOptions& options,
    const std::function<void(const TrainProgress&)>& progress, std::stop_token stop);

}  // namespace waymark
