#include "serving/services/query_report_service.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "serving/services/collection_access.h"
#include "serving/services/time_messages.h"
#include "serving/status_details.h"
#include "waymark/v1/query_report.pb.h"

namespace waymark {
namespace {

constexpr double kMaxSlowMilliseconds = 1e9;

absl::StatusOr<QueryReportKind> KindOf(v1::ReportQueriesRequest::Kind kind) {
  switch (kind) {
    case v1::ReportQueriesRequest::KIND_UNSPECIFIED:
    case v1::ReportQueriesRequest::NO_HITS:
      return QueryReportKind::kNoHits;
    case v1::ReportQueriesRequest::FEW_HITS:
      return QueryReportKind::kFewHits;
    case v1::ReportQueriesRequest::SLOW:
      return QueryReportKind::kSlow;
    default:
      return InvalidField(
          "kind", absl::StrCat("is ", static_cast<int>(kind), "; it takes NO_HITS, FEW_HITS or SLOW"));
  }
}

absl::StatusOr<QueryReportRequest> ReportRequestOf(const v1::ReportQueriesRequest& request, absl::Time now) {
  QueryReportRequest made;
  auto kind = KindOf(request.kind());
  if (!kind.ok()) return kind.status();
  made.kind = *kind;
  made.to = now;
  if (request.has_to()) {
    auto to = ReadTimestamp(request.to(), "to");
    if (!to.ok()) return to.status();
    made.to = *to;
  }
  made.from = made.to - absl::Hours(24);
  if (request.has_from()) {
    auto from = ReadTimestamp(request.from(), "from");
    if (!from.ok()) return from.status();
    made.from = *from;
  }
  made.limit = request.limit();
  if (request.few_hits() != 0) made.few_hits = request.few_hits();
  const double slow = request.slow_milliseconds();
  if (!(slow >= 0 && slow <= kMaxSlowMilliseconds)) {
    return InvalidField("slow_milliseconds",
                        absl::StrCat("is ", slow, "; it takes a number over 0, or 0 for 100"));
  }
  if (slow > 0) made.slow = slow * absl::Milliseconds(1);
  return made;
}

void ToMessage(const ReportedQuery& from, v1::ReportQueriesResponse::Query* to) {
  to->set_query(from.query);
  to->set_count(from.count);
  to->set_count_error(from.count_error);
  SetTimestamp(absl::ToUnixMicros(from.last_seen), to->mutable_last_seen());
  to->set_last_total_size(from.last_total);
  const auto timed = static_cast<double>(from.count - from.count_error);
  to->set_mean_milliseconds(absl::ToDoubleMilliseconds(from.total_time) / timed);
  to->set_max_milliseconds(absl::ToDoubleMilliseconds(from.longest));
}

absl::Status Report(Engine* engine, const v1::ReportQueriesRequest& request,
                    v1::ReportQueriesResponse* response, const CallContext& context) {
  auto made = ReportRequestOf(request, absl::Now());
  if (!made.ok()) return made.status();
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  auto report = (*collection)->ReportQueries(*made, context.deadline);
  if (!report.ok()) return report.status();
  for (const ReportedQuery& query : report->queries) ToMessage(query, response->add_queries());
  response->set_searches(report->searches);
  response->set_matching(report->matching);
  response->set_complete(report->complete);
  SetTimestamp(absl::ToUnixMicros(report->read_until), response->mutable_read_until());
  return absl::OkStatus();
}

}  // namespace

void RegisterQueryReport(Engine* engine, MethodRegistry* registry) {
  registry->Add<v1::ReportQueriesRequest, v1::ReportQueriesResponse>(
      "waymark.v1.AdminService.ReportQueries", {.lane = Lane::kBulk},
      [engine](const v1::ReportQueriesRequest& request, v1::ReportQueriesResponse* response,
               const CallContext& context) { return Report(engine, request, response, context); });
}

}  // namespace waymark
