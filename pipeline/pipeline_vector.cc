// Searches with a vector: the nearest items, alone or beside the matches of the words.
#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/time/clock.h"
#include "pipeline/pipeline_call_impl.h"
#include "pipeline/vector_fusion.h"

namespace waymark {

absl::Status Pipeline::Call::FindNearest() {
  const VectorAsked& asked = *request_.vector;
  const absl::Time start = absl::Now();
  auto nearest = parts_.vectors->Search(asked.field, asked.values,
                                        static_cast<size_t>(asked.limit > 0 ? asked.limit : kDefaultNearest),
                                        context_.allowed.get(), context_.excluded, deadline_);
  if (!nearest.ok()) return nearest.status();
  nearest_ = *std::move(nearest);
  Lap("vector", start);
  if (deadline_.Expired()) {
    response_.degraded.push_back({"vector", "the deadline passed: not all vectors were looked at"});
  }
  return absl::OkStatus();
}

absl::StatusOr<GatheredCandidates> Pipeline::Call::GatherWithNearest(const CandidateLimits& limits) {
  if (auto status = FindNearest(); !status.ok()) return status;
  GatheredCandidates gathered;
  if (WordsOnly()) gathered = Gather(limits);
  // What is counted, sorted and grouped: all matches of the words, and the nearest.
  absl::flat_hash_set<ItemOrdinal> matched;
  int64_t shown = 0;
  for (const ScoredItem& match : matches_) {
    matched.insert(match.item);
    shown += context_.allowed == nullptr || context_.allowed->Contains(match.item);
  }
  list_.total_exact = !WordsOnly() || gathered.total_exact;
  for (const ScoredItem& near : nearest_) {
    if (!matched.insert(near.item).second) continue;
    matches_.push_back({near.item, 0});
    ++shown;
  }
  list_.total = shown;
  return gathered;
}

absl::StatusOr<std::vector<RankedCandidate>> Pipeline::Call::GatherAndFuse() {
  const int most = static_cast<int>(kMaxPagedItems);
  auto gathered = GatherWithNearest({request_.per_source_limit > 0 ? request_.per_source_limit : most, most});
  if (!gathered.ok()) return gathered.status();
  std::vector<ScoredItem> words;
  for (const Candidate& candidate : gathered->candidates) {
    words.push_back({candidate.item, Get(candidate.signals, Signal::kKeywordScore)});
  }
  std::vector<Candidate> candidates;
  for (const FusedItem& fused : FuseWithNearest(words, nearest_, *request_.vector)) {
    Candidate& candidate = candidates.emplace_back();
    if (fused.words_rank > 0) candidate = gathered->candidates[static_cast<size_t>(fused.words_rank - 1)];
    candidate.item = fused.item;
    candidate.fusion_score = static_cast<float>(fused.score);
  }
  // Alone, the score is the nearness itself.
  if (!WordsOnly()) {
    for (size_t i = 0; i < candidates.size(); ++i) candidates[i].fusion_score = nearest_[i].score;
  }
  AddPinned(&candidates);
  FillAllSignals(&candidates);
  std::vector<RankedCandidate> fused = AsMerged(std::move(candidates));
  for (RankedCandidate& one : fused) {
    const float keyword = Get(one.candidate.signals, Signal::kKeywordScore);
    if (std::isfinite(keyword)) one.heads["keyword"] = keyword;
  }
  return fused;
}

void Pipeline::Call::DescribeNearness(RankedItem* item) const {
  for (size_t i = 0; i < nearest_.size(); ++i) {
    if (nearest_[i].item != item->item) continue;
    item->scores["vector"] = nearest_[i].score;
    item->sources.push_back({"vector", nearest_[i].score, static_cast<int>(i) + 1});
    return;
  }
}

}  // namespace waymark
