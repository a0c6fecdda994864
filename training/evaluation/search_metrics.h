// How good ranked lists are against judgements, as trec_eval counts it.
//
// A document is relevant when its grade is above 0. Documents that nobody judged count as not relevant. A
// document that a list names twice counts at its first place only. Queries without a relevant document say
// nothing about a ranking: they are left out of the means, and their number is reported.
//
//   SearchMetrics m = EvaluateSearch(judgements, run, {.gain = Gain::kLinear});
//   printf("nDCG@10 %.4f over %lld queries", m.ndcg_at_10, m.queries);
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace waymark {

// What a grade is worth: itself (Jarvelin and Kekalainen 2002, and trec_eval), or 2^grade - 1 (Burges et al.
// 2005). The two agree where grades are 0 and 1. Grades below 0 are worth 0.
enum class Gain { kLinear, kExponential };

using Grades = absl::flat_hash_map<std::string, int>;     // document id -> grade
using Judgements = absl::btree_map<std::string, Grades>;  // query id -> grades
using SearchRun =
    absl::btree_map<std::string, std::vector<std::string>>;  // query id -> documents, best first

// DCG@k / ideal DCG@k, DCG@k = sum over places i = 1..k of gain_i / log2(i + 1); the ideal list has all
// judged documents by falling grade (Jarvelin and Kekalainen, "Cumulated gain-based evaluation of IR
// techniques", TOIS 20(4), 2002; discount of trec_eval's ndcg_cut). 0 without a relevant document.
double NdcgAt(size_t k, absl::Span<const std::string> ranked, const Grades& grades, Gain gain);

// Mean over the relevant documents of the precision at their place, 0 for those not in the list (trec_eval's
// map; Buckley and Voorhees 2000). 0 without a relevant document.
double AveragePrecision(absl::Span<const std::string> ranked, const Grades& grades);

// 1 / place of the first relevant document (Voorhees, TREC-8 question answering, 1999); 0 when there is none.
double ReciprocalRank(absl::Span<const std::string> ranked, const Grades& grades);

// Relevant documents in the first k places / k, also when the list is shorter than k (trec_eval's P_k).
double PrecisionAt(size_t k, absl::Span<const std::string> ranked, const Grades& grades);

// Relevant documents in the first k places / all relevant documents (trec_eval's recall_k). 0 without one.
double RecallAt(size_t k, absl::Span<const std::string> ranked, const Grades& grades);

struct SearchMetricsOptions {
  Gain gain = Gain::kLinear;
};

// Means over the judged queries that have a relevant document; one that the run lacks counts as an empty list
// (trec_eval -c).
struct SearchMetrics {
  double ndcg_at_10 = 0;
  double map = 0;
  double mrr = 0;
  double precision_at_10 = 0;
  double recall_at_100 = 0;
  int64_t queries = 0;                   // in the means
  int64_t queries_without_relevant = 0;  // judged or run, but without a relevant document: left out
};
SearchMetrics EvaluateSearch(const Judgements& judgements, const SearchRun& run,
                             const SearchMetricsOptions& options);

}  // namespace waymark
