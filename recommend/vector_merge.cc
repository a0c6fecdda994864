#include "recommend/vector_merge.h"

#include <map>

namespace waymark {
namespace {

constexpr size_t kMergeFactor = 4;

int Tier(size_t rows) {
  int tier = 0;
  for (; rows >= kMergeFactor; rows /= kMergeFactor) ++tier;
  return tier;
}

}  // namespace

std::vector<size_t> PlanMerge(absl::Span<const SegmentSize> segments, size_t rows_limit) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const SegmentSize& s = segments[i];
    if (s.dead > 0 && s.dead * kMergeFactor >= s.rows && s.rows - s.dead <= rows_limit) return {i};
  }
  std::map<int, std::vector<size_t>> tiers;
  for (size_t i = 0; i < segments.size(); ++i) tiers[Tier(segments[i].rows - segments[i].dead)].push_back(i);
  for (auto& [tier, members] : tiers) {
    if (members.size() < kMergeFactor) continue;
    size_t kept = 0;
    for (size_t i : members) kept += segments[i].rows - segments[i].dead;
    if (kept <= rows_limit) return members;
  }
  return {};
}

}  // namespace waymark
