// Suggestions and query reports of a collection.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "pipeline/live_collection.h"

namespace waymark {
namespace {

// An erasure that was answered is carried out in what is suggested, too.
constexpr absl::Duration kErasurePatience = absl::Seconds(30);
constexpr absl::Duration kIndexPatience = absl::Seconds(10);
constexpr size_t kRecordsPerLook = 1024;  // at the clock

}  // namespace

void LiveCollection::OpenSuggestions() {
  SuggestionParts parts;
  parts.lists = {store_, scope_, catalog_.get(), nullptr, options_.clock};
  parts.lists.popularity = [counts = behaviour_->counts()](absl::Span<const ItemOrdinal> items,
                                                           absl::Time now, absl::Span<float> out) {
    counts->Popularities(items, now, out);
  };
  parts.finds = [this](const std::string& words, LogOffset position) -> absl::StatusOr<bool> {
    if (auto status = index_->CatchUpTo(position, absl::Now() + kIndexPatience); !status.ok()) return status;
    KeywordQuery query;
    query.query = words;
    query.count_up_to = kCountNone;
    auto hits = index_->Search(query, 1, Deadline::Never());
    if (!hits.ok()) return hits.status();
    if (hits->items.empty()) return false;
    // What is misspelled finds what was meant; nobody should be led to type it.
    return index_->CorrectQuery(words, TypoTolerance::kAuto, Deadline::Never()).empty();
  };
  if (served_ != nullptr) {
    parts.served = [this](absl::Time from, const std::function<bool(const storage::ServeRecord&)>& visit) {
      return served_->ForEach(from, visit);
    };
  }
  SuggestionOptions options;
  options.refresh_interval = options_.index_refresh_interval;
  options.queries.min_users = static_cast<size_t>(options_.past_query_min_users);
  options.read_only = options_.read_only;
  suggestions_ = LiveSuggestions::Open(std::move(parts), options);
  if (options_.keep_suggestions) suggestions_->Start();
}

absl::Status LiveCollection::EraseFromSuggestions(const LogPosition& position) {
  if (options_.read_only) return absl::OkStatus();
  auto offset = EmbeddedOffset(position, store_->epoch());
  if (!offset.ok()) return offset.status();
  return suggestions_->AwaitErased(*offset, absl::Now() + kErasurePatience);
}

absl::StatusOr<SuggestAnswer> LiveCollection::Suggest(const SuggestRequest& request, Deadline deadline) {
  if (!request.consistency_token.empty()) {
    auto offset = TokenOffset(request.consistency_token);
    if (!offset.ok()) {
      const std::string message(offset.status().message());
      const bool named = absl::StartsWith(message, "consistency_token");
      return absl::Status(offset.status().code(), absl::StrCat(named ? "" : "consistency_token: ", message));
    }
    if (auto status = suggestions_->CatchUpTo(*offset, deadline.when()); !status.ok()) return status;
  }
  return suggestions_->Suggest(request, deadline);
}

absl::Status LiveCollection::CatchUpSuggestions(Deadline deadline) {
  return suggestions_->CatchUpTo(store_->End(), deadline.when());
}

absl::StatusOr<QueryReport> LiveCollection::ReportQueries(const QueryReportRequest& request,
                                                          Deadline deadline) {
  if (auto status = CheckQueryReport(request); !status.ok()) return status;
  QueryReporter reporter(request);
  bool complete = true;
  absl::Time read_until = request.to;
  size_t read = 0;
  const auto visit = [&](const storage::ServeRecord& record) {
    const absl::Time time = absl::FromUnixMicros(record.time_us());
    if (time >= request.to) return false;
    if (++read % kRecordsPerLook == 0 && deadline.Expired()) {
      complete = false;
      read_until = time;
      return false;
    }
    reporter.Add(record);
    return true;
  };
  if (served_ != nullptr) {
    if (auto status = served_->ForEach(request.from, visit); !status.ok()) return status;
  }
  QueryReport report = reporter.Finish();
  report.complete = complete;
  report.read_until = read_until;
  return report;
}

}  // namespace waymark
