#include "serving/services/ranking_services.h"

#include "absl/time/clock.h"
#include "serving/experiment_call.h"
#include "serving/services/collection_access.h"
#include "serving/services/request_messages.h"

namespace waymark {
namespace {

// 1,000 candidates with their signals, or a query with its context.
constexpr MethodOptions kRanking = {.max_request_bytes = size_t{1} << 20};

template <class Request, class Response>
void Add(Engine* engine, ExperimentHost* host, const std::string& name, MethodRegistry* registry) {
  registry->Add<Request, Response>(
      name, kRanking,
      [engine, host](const Request& request, Response* response, const CallContext& context) -> absl::Status {
        auto made = RequestOf(request);
        if (!made.ok()) return made.status();
        auto collection = OpenForRead(engine, request.parent(), request.consistency_token(), context);
        if (!collection.ok()) return collection.status();
        if (auto status = CheckAskedArms(host, **collection, request.experiment_arms(), *made);
            !status.ok()) {
          return status;
        }
        ExperimentCall experiments(host, *collection, request.experiment_arms(), &*made);
        const absl::Time start = absl::Now();
        auto answer = (*collection)->Run(*made, context.deadline);
        experiments.Answered(answer, absl::Now() - start);
        if (!answer.ok()) return answer.status();
        ToMessage((*collection)->name(), *answer, response);
        experiments.Fill(response->mutable_arms());
        return absl::OkStatus();
      });
}

}  // namespace

void RegisterRanking(Engine* engine, ExperimentHost* host, MethodRegistry* registry) {
  Add<v1::SearchRequest, v1::SearchResponse>(engine, host, "waymark.v1.SearchService.Search", registry);
  Add<v1::RecommendRequest, v1::RecommendResponse>(engine, host, "waymark.v1.RecommendService.Recommend",
                                                   registry);
  Add<v1::RankRequest, v1::RankResponse>(engine, host, "waymark.v1.RankService.Rank", registry);
}

}  // namespace waymark
