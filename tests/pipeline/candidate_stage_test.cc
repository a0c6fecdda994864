#include "pipeline/candidate_stage.h"

#include <cmath>

#include "pipeline/blending_plan.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

class ListSource : public CandidateSource {
 public:
  ListSource(SourceId id, std::vector<ScoredItem> items, absl::Status status = absl::OkStatus())
      : id_(id), items_(std::move(items)), status_(std::move(status)) {}
  SourceId id() const override { return id_; }
  bool Applies(const RequestContext&) const override { return true; }
  absl::StatusOr<SourceAnswer> Find(const RequestContext&, size_t limit, Deadline) const override {
    if (!status_.ok()) return status_;
    SourceAnswer answer;
    for (size_t i = 0; i < std::min(limit, items_.size()); ++i) answer.items.push_back(items_[i]);
    return answer;
  }

 private:
  SourceId id_;
  std::vector<ScoredItem> items_;
  absl::Status status_;
};

storage::BlendingPlan PlanOf(double covisitation_weight) {
  storage::BlendingPlan plan;
  for (auto [name, weight] : {std::pair("retriever", 1.0), std::pair("covisitation", covisitation_weight)}) {
    auto* source = plan.add_sources();
    source->set_name(name);
    source->set_limit(3);
    source->set_weight(weight);
  }
  plan.set_fusion_k(20);
  plan.set_rank_limit(10);
  return plan;
}

TEST_CASE("lists are merged by reciprocal-rank fusion as worked by hand") {
  const ListSource nearest(SourceId::kRetriever, {{5, 0.9f}, {7, 0.8f}, {9, 0.1f}, {11, 0.05f}});
  const ListSource covisited(SourceId::kCovisitation, {{7, 3.0f}, {1, 2.0f}});
  const CandidateSource* sources[] = {&nearest, &covisited};
  const auto out = GatherCandidates({}, sources, PlanOf(1), {}, Deadline::Never());
  // 7: 1/22 + 1/21 = .09307; 5: 1/21 = .04762; 1: 1/22 = .04545; 9: 1/23 = .04348; 11 is beyond the source's
  // limit.
  REQUIRE(out.candidates.size() == 4);
  CHECK(out.candidates[0].item == 7);
  CHECK(out.candidates[0].fusion_score == Approx(0.0930736));
  CHECK(out.candidates[1].item == 5);
  CHECK(out.candidates[2].item == 1);
  CHECK(out.candidates[3].item == 9);
  CHECK(out.candidates[0].FoundBy(SourceId::kRetriever));
  CHECK(out.candidates[0].ranks[static_cast<size_t>(SourceId::kCovisitation)] == 1);
  CHECK(Get(out.candidates[0].signals, Signal::kRetrieverScore) == 0.8f);
  CHECK(std::isnan(Get(out.candidates[1].signals, Signal::kCovisitationScore)));
}

TEST_CASE("equal fusion scores are ordered by ordinal") {
  const ListSource nearest(SourceId::kRetriever, {{8, 1.0f}});
  const ListSource covisited(SourceId::kCovisitation, {{3, 1.0f}});
  const CandidateSource* sources[] = {&nearest, &covisited};
  const auto out = GatherCandidates({}, sources, PlanOf(1), {}, Deadline::Never());
  REQUIRE(out.candidates.size() == 2);
  CHECK(out.candidates[0].item == 3);
}

TEST_CASE("a source that fails is reported and the others answer") {
  const ListSource nearest(SourceId::kRetriever, {}, absl::UnavailableError("no vectors yet"));
  const ListSource covisited(SourceId::kCovisitation, {{3, 1.0f}});
  const CandidateSource* sources[] = {&nearest, &covisited};
  const auto out = GatherCandidates({}, sources, PlanOf(1), {}, Deadline::Never());
  REQUIRE(out.candidates.size() == 1);
  REQUIRE(out.degraded.size() == 1);
  CHECK(out.degraded[0].stage == "retriever");
  CHECK(out.degraded[0].reason == "no vectors yet");
}

TEST_CASE("a source of weight zero is not asked") {
  const ListSource covisited(SourceId::kCovisitation, {}, absl::InternalError("asked"));
  const CandidateSource* sources[] = {&covisited};
  CHECK(GatherCandidates({}, sources, PlanOf(0), {}, Deadline::Never()).degraded.empty());
}

TEST_CASE("past the deadline sources are not asked, and the answer says so") {
  FixedClock clock(absl::FromUnixSeconds(100));
  const Deadline late = Deadline::At(absl::FromUnixSeconds(99), &clock);
  const ListSource covisited(SourceId::kCovisitation, {{3, 1.0f}});
  const CandidateSource* sources[] = {&covisited};
  const auto out = GatherCandidates({}, sources, PlanOf(1), {}, late);
  CHECK(out.candidates.empty());
  REQUIRE(out.degraded.size() == 1);
}

TEST_CASE("a plan with an unknown source, a wild limit or a negative weight is refused by name") {
  storage::BlendingPlan plan = PlanOf(1);
  plan.mutable_sources(0)->set_name("oracle");
  CHECK(std::string(CompletePlan(&plan).message()).find("'oracle'") != std::string::npos);
  plan = PlanOf(-1);
  CHECK(absl::IsInvalidArgument(CompletePlan(&plan)));
  plan = PlanOf(1);
  plan.mutable_sources(0)->set_limit(5000);
  CHECK(absl::IsInvalidArgument(CompletePlan(&plan)));
  plan.Clear();
  REQUIRE(CompletePlan(&plan).ok());
  CHECK(plan.sources_size() == DefaultBlendingPlan().sources_size());
}

}  // namespace
}  // namespace waymark
