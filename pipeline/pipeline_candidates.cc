#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "pipeline/context_stage.h"
#include "pipeline/group_stage.h"
#include "pipeline/pipeline_call_impl.h"
#include "pipeline/request_check.h"

namespace waymark {

std::vector<const CandidateSource*> Pipeline::Call::Sources() const {
  if (WordsOnly()) return {pipeline_.keyword_.get()};
  std::vector<const CandidateSource*> sources = release_.behaviour->Sources();
  if (!context_.query.empty()) sources.push_back(pipeline_.keyword_.get());
  sources.push_back(&pipeline_.fresh_);
  return sources;
}

absl::StatusOr<std::vector<RankedCandidate>> Pipeline::Call::GatherAndRank() {
  if (Near()) return GatherAndFuse();
  CandidateLimits limits{request_.per_source_limit, request_.rank_limit};
  // A search ranks as many matches as its pages may show.
  if (WordsOnly() && limits.merged == 0) limits.merged = static_cast<int>(kMaxPagedItems);
  GatheredCandidates gathered = Gather(limits);
  CountTotal(gathered);
  CountPinned();
  if (WordsOnly() && Grouped()) {
    AddBestOfGroups(static_cast<size_t>(limits.merged), &gathered.candidates);
  }
  AddPinned(&gathered.candidates);
  return Rank(std::move(gathered.candidates), {});
}

GatheredCandidates Pipeline::Call::Gather(const CandidateLimits& limits) {
  GatheredCandidates gathered =
      GatherCandidates(context_, Sources(), release_.record.plan(), limits, deadline_);
  matches_ = std::move(gathered.matches);
  response_.left_out_words = gathered.left_out;
  for (auto& d : gathered.degraded) response_.degraded.push_back(std::move(d));
  if (request_.kind == RequestKind::kRecommend && !context_.history.empty() &&
      !release_.record.id().empty() && release_.behaviour->parts().ease_awaited) {
    response_.degraded.push_back(
        {"ease",
         "the item weights that the release was trained with are missing; a running server makes them"});
  }
  for (auto& t : gathered.timings) response_.timings.push_back(std::move(t));
  return gathered;
}

void Pipeline::Call::CountTotal(const GatheredCandidates& gathered) {
  list_.total = gathered.total;
  list_.total_exact = gathered.total_exact;
  if (request_.kind == RequestKind::kSearch && context_.query.empty()) {
    list_.total =
        context_.allowed ? static_cast<int64_t>(context_.allowed->Size()) : parts_.catalog->live_count();
  }
}

absl::StatusOr<std::vector<RankedCandidate>> Pipeline::Call::GatherAndSort() {
  if (Near()) {
    if (auto gathered = GatherWithNearest({1, 1}); !gathered.ok()) return gathered.status();
  } else {
    CountTotal(WordsOnly() ? Gather({1, 1}) : GatheredCandidates());
  }
  const absl::Time start = absl::Now();
  auto sorted = Grouped() ? BestOfGroups(kMaxPagedItems) : SortAll();
  if (!sorted.ok()) return sorted.status();
  std::vector<Candidate> candidates;
  for (const ScoredItem& item : *sorted) {
    Candidate& candidate = candidates.emplace_back();
    candidate.item = item.item;
    candidate.fusion_score = item.score;
  }
  Lap("sort", start);
  // The log of served lists keeps features of samples.
  FillAllSignals(&candidates);
  return AsMerged(std::move(candidates));
}

absl::StatusOr<std::vector<ScoredItem>> Pipeline::Call::SortAll() const {
  return SortItems(*parts_.catalog, order_, context_.allowed.get(), Matching() ? &matches_ : nullptr,
                   kMaxPagedItems, [this] { return deadline_.Expired(); });
}

absl::StatusOr<std::vector<ScoredItem>> Pipeline::Call::BestOfGroups(size_t limit) const {
  return GroupItems(*parts_.catalog, {group_field_, PerGroup(), limit}, order_, context_.allowed.get(),
                    Matching() ? &matches_ : nullptr, [this] { return deadline_.Expired(); });
}

void Pipeline::Call::AddBestOfGroups(size_t most, std::vector<Candidate>* candidates) {
  const auto best = BestOfGroups(most);
  if (best.ok()) return PutFirst(*best, most, candidates);
  response_.degraded.push_back({"group", "the deadline passed: only groups of the best matches are shown"});
}

void Pipeline::Call::FillAllSignals(std::vector<Candidate>* candidates) {
  const absl::Time start = absl::Now();
  FillSignals(context_, {release_.behaviour.get(), &pipeline_.content_, pipeline_.keyword_signals_.get()},
              candidates);
  Lap("signals", start);
}

absl::StatusOr<std::vector<RankedCandidate>> Pipeline::Call::Rank(
    std::vector<Candidate> candidates,
    const std::vector<std::pair<ItemOrdinal, const GivenCandidate*>>& given) {
  FillAllSignals(&candidates);
  for (size_t i = 0; i < given.size(); ++i) {
    for (const auto& [name, value] : given[i].second->features) {
      Set(candidates[i].signals, *FindSignal(name), static_cast<float>(value));
    }
  }
  const absl::Time start = absl::Now();
  // Rankers learn from histories; who has none gets what is popular, and new.
  if (request_.kind == RequestKind::kRecommend && context_.history.empty() && context_.query.empty()) {
    return AsMerged(std::move(candidates));
  }
  RankStageOptions options;
  options.search = WordsOnly();
  options.explain = request_.explain;
  options.search_ranker_weight = release_.record.plan().search_ranker_weight();
  auto ranked = RankCandidates(*release_.ranker, context_, candidates, options, deadline_);
  if (!ranked.ok() && absl::IsDeadlineExceeded(ranked.status()) && !candidates.empty()) {
    response_.degraded.push_back({"rank", "the deadline passed: in the order of the merged sources"});
    return AsMerged(std::move(candidates));
  }
  Lap("rank", start);
  return ranked;
}

std::vector<RankedCandidate> Pipeline::Call::AsMerged(std::vector<Candidate> candidates) {
  std::vector<RankedCandidate> merged;
  for (Candidate& candidate : candidates) {
    RankedCandidate& out = merged.emplace_back();
    out.score = candidate.fusion_score;
    out.candidate = std::move(candidate);
  }
  return merged;
}

absl::Status Pipeline::Call::MakeList() {
  auto ranked = Sorted() ? GatherAndSort() : GatherAndRank();
  if (!ranked.ok()) return ranked.status();
  if (ranked->empty() && !response_.degraded.empty() && deadline_.Expired()) {
    return absl::DeadlineExceededError(
        absl::StrCat("nothing was found before the deadline: ", response_.degraded[0].stage, " was ",
                     response_.degraded[0].reason));
  }
  strict_items_ = ranked->size();
  const size_t wanted = EffectivePageSize(request_);
  if (!request_.strict_filter && filter_ != nullptr && ranked->size() < wanted &&
      request_.kind == RequestKind::kRecommend) {
    if (auto status = FillUpWithoutFilter(&*ranked, wanted); !status.ok()) return status;
  }
  return Arrange(std::move(*ranked));
}

absl::Status Pipeline::Call::FillUpWithoutFilter(std::vector<RankedCandidate>* ranked, size_t wanted) {
  auto passing = std::move(context_.allowed);
  const std::vector<ItemOrdinal> excluded = context_.excluded;
  for (const RankedCandidate& r : *ranked) context_.excluded.push_back(r.candidate.item);
  SortUnique(&context_.excluded);
  context_.allowed = curated_.allowed ? curated_.allowed : parts_.catalog->LiveItems();
  const int64_t total = list_.total;
  auto others = GatherAndRank();
  list_.total = total;
  context_.allowed = std::move(passing);
  context_.excluded = excluded;
  if (!others.ok()) return others.status();
  response_.degraded.push_back({"filter", absl::StrCat("only ", ranked->size(), " of ", wanted,
                                                       " items pass the filter; filled up with others")});
  for (RankedCandidate& r : *others) ranked->push_back(std::move(r));
  return absl::OkStatus();
}

absl::Status Pipeline::Call::RankGiven() {
  std::vector<Candidate> candidates;
  std::vector<std::pair<ItemOrdinal, const GivenCandidate*>> given;
  for (const GivenCandidate& g : request_.given) {
    auto item = parts_.store->FindItem(parts_.scope, g.item_id);
    if (!item || !parts_.catalog->Live(*item)) {
      response_.unknown_item_ids.push_back(g.item_id);
      continue;
    }
    candidates.emplace_back().item = *item;
    given.emplace_back(*item, &g);
  }
  auto ranked = Rank(std::move(candidates), given);
  if (!ranked.ok()) return ranked.status();
  strict_items_ = ranked->size();
  return Arrange(*std::move(ranked));
}

}  // namespace waymark
