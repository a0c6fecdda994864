#include "training/evaluation/search_evaluation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "pipeline/request_check.h"

namespace waymark {
namespace {

absl::StatusOr<std::vector<RunLine>> AskOne(Collection* collection, const std::string& id,
                                            const std::string& text, const SearchEvaluationOptions& options,
                                            absl::Duration* first_page) {
  PipelineRequest request;
  request.query = text;
  request.match_all = options.match_all;
  request.release = options.release;
  request.page_size = kMaxPageSize;
  request.personalization = PersonalizationMode::kOff;
  request.fields = {"-"};  // ids are enough
  std::vector<RunLine> lines;
  while (lines.size() < options.depth) {
    const absl::Time start = absl::Now();
    auto answer = collection->Run(request, Deadline::Never());
    if (!answer.ok()) {
      return absl::Status(answer.status().code(),
                          absl::StrCat("query '", id, "': ", std::string(answer.status().message())));
    }
    if (lines.empty()) *first_page = absl::Now() - start;
    for (const RankedItem& item : answer->items) {
      if (lines.size() == options.depth) break;
      lines.push_back({id, item.record.id(), static_cast<int>(lines.size()) + 1, item.score});
    }
    if (answer->next_page_token.empty()) break;
    request.page_token = answer->next_page_token;
  }
  return lines;
}

}  // namespace

absl::StatusOr<SearchEvaluation> EvaluateSearchOn(
    Collection* collection, const std::vector<std::pair<std::string, std::string>>& queries,
    const Judgements& judgements, const SearchEvaluationOptions& options) {
  SearchEvaluation out;
  SearchRun run;
  std::vector<absl::Duration> times;
  size_t done = 0;
  for (const auto& [id, text] : queries) {
    ++done;
    if (!judgements.contains(id)) {
      ++out.queries_without_judgements;
      continue;
    }
    absl::Duration first_page;
    auto lines = AskOne(collection, id, text, options, &first_page);
    if (!lines.ok()) return lines.status();
    times.push_back(first_page);
    auto& list = run[id];
    for (const RunLine& line : *lines) list.push_back(line.item_id);
    out.run.insert(out.run.end(), lines->begin(), lines->end());
    if (options.progress && !options.progress(done, queries.size())) return absl::CancelledError("stopped");
  }
  if (times.empty()) {
    return absl::FailedPreconditionError(
        "no query of the query file has judgements; their ids must be the same");
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  out.median_time = times[times.size() / 2];
  out.judged_without_query = static_cast<size_t>(std::count_if(
      judgements.begin(), judgements.end(), [&](const auto& of) { return !run.contains(of.first); }));
  out.metrics = EvaluateSearch(judgements, run, {options.gain});
  return out;
}

}  // namespace waymark
