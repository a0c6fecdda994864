#include "pipeline/query_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "suggest/complete.h"

namespace waymark {
namespace {

constexpr size_t kShownLetters = 200;

// Cut between code points.
std::string Cut(const std::string& text) {
  size_t letters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 && ++letters > kShownLetters)
      return text.substr(0, i);
  }
  return text;
}

std::string NameOf(const std::string& query) {
  std::string words = TypedOf(query).words;
  return Cut(words.empty() ? query : words);
}

}  // namespace

absl::Status CheckQueryReport(const QueryReportRequest& request) {
  if (request.limit < 0 || request.limit > kMaxReportedQueries) {
    return absl::InvalidArgumentError(absl::StrCat("limit: is ", request.limit, "; it takes 0 (for ",
                                                   kDefaultReportedQueries, ") to ", kMaxReportedQueries));
  }
  if (request.few_hits < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("few_hits: is ", request.few_hits, "; it takes 1 or more, or 0 for 3"));
  }
  if (request.slow <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("slow_milliseconds: takes a number over 0, or 0 for 100");
  }
  if (request.to < request.from) return absl::InvalidArgumentError("to: is before `from`");
  return absl::OkStatus();
}

bool QueryReporter::Matches(const storage::ServeRecord& record) const {
  switch (request_.kind) {
    case QueryReportKind::kNoHits:
      return record.total_size() == 0;
    case QueryReportKind::kFewHits:
      return record.total_size() >= 1 && record.total_size() <= request_.few_hits;
    case QueryReportKind::kSlow:
      return absl::Microseconds(record.took_us()) >= request_.slow;
  }
  return false;
}

QueryReporter::Rank QueryReporter::RankOf(const ReportedQuery& query) const {
  const bool slow = request_.kind == QueryReportKind::kSlow;
  return {slow ? absl::ToInt64Microseconds(query.longest) : query.count, query.query};
}

void QueryReporter::Add(const storage::ServeRecord& record) {
  const absl::Time time = absl::FromUnixMicros(record.time_us());
  if (!record.has_total_size() || record.query().empty() || time < request_.from || time >= request_.to)
    return;
  ++searches_;
  if (!Matches(record)) return;
  ++matching_;
  const std::string name = NameOf(record.query());
  const absl::Duration took = absl::Microseconds(record.took_us());
  auto found = queries_.find(name);
  if (found == queries_.end()) {
    ReportedQuery fresh;
    fresh.query = name;
    if (queries_.size() == capacity_) {
      const auto least = ranks_.begin();
      if (request_.kind == QueryReportKind::kSlow) {
        if (absl::ToInt64Microseconds(took) <= least->first) return;
      } else {
        fresh.count = fresh.count_error = least->first;
      }
      queries_.erase(least->second);
      ranks_.erase(least);
    }
    found = queries_.emplace(name, std::move(fresh)).first;
  } else {
    ranks_.erase(RankOf(found->second));
  }
  ReportedQuery& query = found->second;
  ++query.count;
  query.total_time += took;
  query.longest = std::max(query.longest, took);
  if (time >= query.last_seen) {
    query.last_seen = time;
    query.last_total = record.total_size();
  }
  ranks_.insert(RankOf(query));
}

QueryReport QueryReporter::Finish() const {
  QueryReport report;
  report.searches = searches_;
  report.matching = matching_;
  for (const auto& [name, query] : queries_) report.queries.push_back(query);
  std::sort(report.queries.begin(), report.queries.end(),
            [this](const ReportedQuery& a, const ReportedQuery& b) {
              const Rank first = RankOf(a), second = RankOf(b);
              return first.first != second.first ? first.first > second.first : first.second < second.second;
            });
  const int limit = request_.limit == 0 ? kDefaultReportedQueries : request_.limit;
  report.queries.resize(std::min(report.queries.size(), static_cast<size_t>(limit)));
  return report;
}

}  // namespace waymark
