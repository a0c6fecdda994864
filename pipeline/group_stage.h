// Grouped lists: the best of each group stand together, and pages hold whole groups. Pure policy: functions
// of values.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "candidates/candidate.h"
#include "pipeline/arrange_stage.h"

namespace waymark {

inline constexpr int kMostPerGroup = 100;

struct GroupedOrder {
  std::vector<size_t> order;    // indexes into the list, group by group
  std::vector<uint32_t> sizes;  // of the groups; add up to order.size()
};
// keys: of a list, best first; equal keys are one group. Keeps the first `per_group` of each, groups in the
// order of their first; stops before the group with which there would be more than `most` items.
GroupedOrder GroupRanked(absl::Span<const uint64_t> keys, size_t per_group, size_t most);

// Makes the items of `best` the first candidates, in their order, followed by the others as far as there is
// room for `most` in all: so that each group's best is ranked, however many a frequent group has.
void PutFirst(absl::Span<const ScoredItem> best, size_t most, std::vector<Candidate>* candidates);

// The page of at most `page_size` groups that follows `next`, an index at which a group begins: the visible
// items of each; groups without any do not count.
Page TakeGroups(absl::Span<const uint32_t> sizes, size_t next, size_t page_size,
                const std::function<bool(size_t)>& visible);

}  // namespace waymark
