// Queries and relevance judgments, as search evaluation reads them.
//
//   auto queries = ReadQueries("queries.tsv");   // id<TAB>text
//   auto judgments = ReadJudgments("qrels");     // TREC: query 0 item grade
#pragma once
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace waymark {

struct JudgedQuery {
  std::string id, text;
};

// Errors name the line. INVALID_ARGUMENT: no tab, an id twice, no UTF-8, an empty file.
absl::StatusOr<std::vector<JudgedQuery>> ReadQueries(const std::string& path);

// Grade by query id and item id; 0 and below mean not relevant.
using Judgments = std::map<std::string, absl::flat_hash_map<std::string, int>>;

// INVALID_ARGUMENT: not four columns, a grade that is no whole number, a pair that is judged twice with
// different grades.
absl::StatusOr<Judgments> ReadJudgments(const std::string& path);

}  // namespace waymark
