// Learning-to-rank files, and nDCG over them.
//
//   auto data = ReadLetor("rank.test");     // LibSVM: label index:value ...; rank.test.query beside it, or
//   qid: LetorReport report = EvaluateLetor(*data, scores);
//
// Two ways of saying which rows belong together are read: `qid:N` after the label (SVMlight, LETOR, MSLR),
// and LightGBM's FILE.query beside the file, with the number of rows of each query, one a line. Comments
// after # and empty lines are passed over. Labels are grades from 0 to 30; indices are kept as they stand.
#pragma once
#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waymark {

struct LetorData {
  std::vector<float> labels;              // [rows]
  std::vector<uint64_t> query_starts{0};  // [queries + 1]: rows of query q are [q, q + 1)
  // Sparse rows: indices and values of row r are [row_starts[r], row_starts[r + 1]).
  std::vector<uint64_t> row_starts{0};
  std::vector<uint32_t> indices;
  std::vector<float> values;
  size_t feature_count = 0;  // one more than the largest index

  size_t rows() const { return labels.size(); }
  size_t queries() const { return query_starts.size() - 1; }
  // out: [feature_count]; absent ones are 0.
  void ReadRow(size_t row, absl::Span<float> out) const;
  // The queries of `chosen`, in this order.
  LetorData Subset(absl::Span<const size_t> chosen) const;
};

// INVALID_ARGUMENT names file, line and what it takes; NOT_FOUND: no such file, or neither qid nor
// FILE.query.
absl::StatusOr<LetorData> ReadLetor(const std::filesystem::path& file);
// The same from streams; `sizes` null: qid. `name`: for errors.
absl::StatusOr<LetorData> ReadLetor(std::istream& rows, std::istream* sizes, const std::string& name);

struct LetorReport {
  // Gain 2^label - 1, as LETOR and LightGBM count; means over queries that have a relevant row.
  double ndcg1 = 0, ndcg3 = 0, ndcg5 = 0, ndcg10 = 0;
  size_t queries = 0;                   // that have one
  size_t queries_without_relevant = 0;  // left out of the means; LightGBM counts each as 1
};
// scores: [rows]; equal ones are every order at once (list_ndcg.h).
LetorReport EvaluateLetor(const LetorData& data, absl::Span<const float> scores);

}  // namespace waymark
