#include "pipeline/blending_plan.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "store/package/model_package.h"

namespace waymark {
namespace {

bool KnownSource(const std::string& name) {
  for (size_t s = 0; s < kSourceCount; ++s) {
    if (SourceName(static_cast<SourceId>(s)) == name) return true;
  }
  return false;
}

std::string SourceNames() {
  std::vector<std::string> names;
  for (size_t s = 0; s < kSourceCount; ++s) names.emplace_back(SourceName(static_cast<SourceId>(s)));
  return absl::StrJoin(names, ", ");
}

}  // namespace

storage::BlendingPlan DefaultBlendingPlan() {
  storage::BlendingPlan plan;
  auto add = [&plan](SourceId id, int limit, double weight) {
    auto* source = plan.add_sources();
    source->set_name(std::string(SourceName(id)));
    source->set_limit(limit);
    source->set_weight(weight);
  };
  add(SourceId::kKeyword, 500, 1);
  add(SourceId::kRetriever, 200, 1);
  add(SourceId::kCovisitation, 200, 1);
  add(SourceId::kTransition, 100, 1);
  add(SourceId::kEase, 200, 1);
  add(SourceId::kSimilar, 200, 1);
  add(SourceId::kPopularity, 100, 0.25);
  add(SourceId::kFresh, 100, 0.1);  // last in the merged list: fills a page that nothing else does
  plan.set_rank_limit(150);         // of docs/ranking.md: recall gains little beyond, and cost is linear
  plan.set_fusion_k(20);  // of docs/ranking.md: measured with reciprocal-rank fusion of these sources
  plan.set_search_ranker_weight(0.15);
  return plan;
}

absl::Status CompletePlan(storage::BlendingPlan* plan) {
  const storage::BlendingPlan defaults = DefaultBlendingPlan();
  if (plan->sources().empty()) *plan->mutable_sources() = defaults.sources();
  for (auto& source : *plan->mutable_sources()) {
    if (!KnownSource(source.name())) {
      return absl::InvalidArgumentError(
          absl::StrCat("sources: '", source.name(), "' is not a source; there are ", SourceNames()));
    }
    if (source.limit() == 0) {
      for (const auto& d : defaults.sources()) {
        if (d.name() == source.name()) source.set_limit(d.limit());
      }
    }
    if (source.limit() < 1 || source.limit() > kMaxCandidates) {
      return absl::InvalidArgumentError(absl::StrCat("sources: limit ", source.limit(), " of '",
                                                     source.name(), "' is outside 1..", kMaxCandidates));
    }
    if (!std::isfinite(source.weight()) || source.weight() < 0) {
      return absl::InvalidArgumentError(absl::StrCat("sources: the weight of '", source.name(), "' is ",
                                                     source.weight(), "; it takes 0 or more"));
    }
  }
  if (plan->rank_limit() == 0) plan->set_rank_limit(defaults.rank_limit());
  if (plan->rank_limit() < 1 || plan->rank_limit() > kMaxCandidates) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank_limit ", plan->rank_limit(), " is outside 1..", kMaxCandidates));
  }
  if (plan->fusion_k() <= 0) plan->set_fusion_k(defaults.fusion_k());
  if (plan->search_ranker_weight() == 0) plan->set_search_ranker_weight(defaults.search_ranker_weight());
  return absl::OkStatus();
}

std::string PlanSha256(const storage::BlendingPlan& plan) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);  // map fields in key order
    plan.SerializeToCodedStream(&coded);
  }
  return Sha256Hex(bytes);
}

}  // namespace waymark
