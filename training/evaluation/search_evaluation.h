// `waymark evaluate search`: judged queries through the same pipeline that answers searches, page by page.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "pipeline/engine.h"
#include "training/evaluation/search_metrics.h"

namespace waymark {

// One result of the run, in the order of the lists.
struct RunLine {
  std::string query_id, item_id;
  int rank = 0;
  double score = 0;
};

struct SearchEvaluationOptions {
  Gain gain = Gain::kLinear;
  size_t depth = 500;  // results looked at for each query; the pipeline pages no deeper
  bool match_all = false;
  std::string release;  // empty: the active one
  // Queries done; false stops with CANCELLED.
  std::function<bool(size_t done, size_t all)> progress;
};

struct SearchEvaluation {
  SearchMetrics metrics;
  std::vector<RunLine> run;
  size_t queries_without_judgements = 0;  // of the query file: not asked
  size_t judged_without_query = 0;        // counted as having found nothing
  absl::Duration median_time;             // of the first page
};

// `queries`: id and text.
absl::StatusOr<SearchEvaluation> EvaluateSearchOn(
    Collection* collection, const std::vector<std::pair<std::string, std::string>>& queries,
    const Judgements& judgements, const SearchEvaluationOptions& options);

}  // namespace waymark
