#include "pipeline/answer_stage.h"

#include "absl/container/flat_hash_map.h"
#include "pipeline/candidate_stage.h"

namespace waymark {

storage::ItemRecord VisibleRecord(const PipelineRequest& request, const storage::ItemRecord& record) {
  storage::ItemRecord out = record;
  if (request.kind == RequestKind::kRank) {
    out.clear_fields();
  } else if (!request.fields.empty()) {
    google::protobuf::Struct kept;
    for (const std::string& name : request.fields) {
      const auto found = record.fields().fields().find(name);
      if (found != record.fields().fields().end()) (*kept.mutable_fields())[name] = found->second;
    }
    *out.mutable_fields() = std::move(kept);
  }
  return out;
}

void Describe(const RankedCandidate& candidate, RankedItem* item) {
  item->scores = candidate.heads;
  item->explanation = candidate.explanation;
  for (size_t s = 0; s < kSourceCount; ++s) {
    if (candidate.candidate.ranks[s] == 0) continue;
    const auto id = static_cast<SourceId>(s);
    const Signal signal = SignalOfSource(id);
    const double score = signal == Signal::kCount ? 0.0 : Get(candidate.candidate.signals, signal);
    item->sources.push_back({std::string(SourceName(id)), score, candidate.candidate.ranks[s]});
  }
}

storage::ServeRecord MakeServeRecord(const RequestContext& context, const PipelineResponse& response,
                                     absl::Span<const RankedCandidate> details) {
  storage::ServeRecord record;
  record.set_request_id(response.request_id);
  record.set_time_us(absl::ToUnixMicros(context.now));
  record.set_user(context.user);
  record.set_surface(context.surface);
  record.set_query(context.query);
  record.set_release_id(response.release == "none" ? "" : response.release);
  absl::flat_hash_map<ItemOrdinal, uint32_t> sources;
  for (const RankedCandidate& detail : details) {
    uint32_t bits = 0;
    for (size_t s = 0; s < kSourceCount; ++s) bits |= (detail.candidate.ranks[s] != 0 ? 1u : 0u) << s;
    sources[detail.candidate.item] = bits;
  }
  for (const RankedItem& item : response.items) {
    auto* shown = record.add_shown();
    shown->set_item(item.item);
    shown->set_score(static_cast<float>(item.score));
    if (item.exploration) *shown->mutable_exploration() = *item.exploration;
    if (auto found = sources.find(item.item); found != sources.end()) shown->set_sources(found->second);
  }
  return record;
}

}  // namespace waymark
