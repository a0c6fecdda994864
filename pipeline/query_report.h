// Which queries find nothing, find little, or take long, counted from what was served.
//
// However many different queries there are, at most 20,000 are counted apart: a new one takes the place of
// the rarest and its count with it (Metwally et al., "Efficient computation of frequent and top-k elements in
// data streams", ICDT 2005), so a count is never too small, and too large by at most `count_error`. Of slow
// queries those with the longest times stay.
//
//   QueryReporter reporter(request);
//   reporter.Add(record);       // for each that was served
//   QueryReport report = reporter.Finish();
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

enum class QueryReportKind { kNoHits, kFewHits, kSlow };

inline constexpr int kDefaultReportedQueries = 20, kMaxReportedQueries = 1000;

struct QueryReportRequest {
  QueryReportKind kind = QueryReportKind::kNoHits;
  absl::Time from = absl::InfinitePast(), to = absl::InfiniteFuture();
  int limit = 0;  // 0: kDefaultReportedQueries
  int few_hits = 3;
  absl::Duration slow = absl::Milliseconds(100);
};

struct ReportedQuery {
  std::string query;  // its words in lower case; of queries without words, what was typed
  int64_t count = 0, count_error = 0;
  absl::Time last_seen;
  int64_t last_total = 0;
  absl::Duration total_time, longest;
};

struct QueryReport {
  std::vector<ReportedQuery> queries;
  int64_t searches = 0, matching = 0;
  absl::Time read_until;  // filled by who reads
  bool complete = true;
};

// INVALID_ARGUMENT names the field.
absl::Status CheckQueryReport(const QueryReportRequest& request);

class QueryReporter {
 public:
  explicit QueryReporter(const QueryReportRequest& request, size_t capacity = 20'000)
      : request_(request), capacity_(capacity) {}
  // Records that are no searches with words, or of another time, are passed over.
  void Add(const storage::ServeRecord& record);
  QueryReport Finish() const;

 private:
  using Rank = std::pair<int64_t, std::string>;  // count or microseconds; query
  bool Matches(const storage::ServeRecord& record) const;
  Rank RankOf(const ReportedQuery& query) const;

  const QueryReportRequest request_;
  const size_t capacity_;
  int64_t searches_ = 0, matching_ = 0;
  absl::flat_hash_map<std::string, ReportedQuery> queries_;
  std::set<Rank> ranks_;  // the least first
};

}  // namespace waymark
