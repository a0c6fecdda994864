#include "training/distributed/not_finite.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace waymark {
namespace {

constexpr size_t kUsersNamed = 5;

std::string BadParts(const RetrieverStep& step, const TrainingBatch& batch, const Interactions& events) {
  std::string bad;
  for (size_t s = 0; s < batch.shards.size(); ++s) {
    if (std::isfinite(step.part_loss(s))) continue;
    std::vector<std::string> users;
    for (const TrainingWindow& window : batch.shards[s]) {
      const auto& starts = events.starts;
      const size_t u = std::upper_bound(starts.begin(), starts.end(), window.first) - starts.begin() - 1;
      if (users.size() < kUsersNamed) users.push_back(absl::StrCat(events.users[u]));
    }
    absl::StrAppend(&bad, "; part ", batch.parts[s], " with ", batch.shards[s].size(),
                    " windows, of the users ", absl::StrJoin(users, ", "),
                    batch.shards[s].size() > kUsersNamed ? ", ..." : "");
  }
  return bad;
}

}  // namespace

absl::Status NotFiniteLoss(double loss, const RetrieverStep& step, const TrainingBatch& batch,
                           const Interactions& events, const TrainingPlace& place, int64_t batches,
                           RankGroup* group) {
  std::string where;
  const std::vector<std::string> bad = group->GatherText(BadParts(step, batch, events));
  for (size_t r = 0; r < bad.size(); ++r) {
    if (!bad[r].empty()) absl::StrAppend(&where, "; on rank ", r, bad[r].substr(1));
  }
  return absl::InternalError(
      absl::StrCat("the loss is ", loss, " in step ", place.step + 1, " (epoch ", place.epoch + 1, ", batch ",
                   place.batch + 1, " of ", batches, ")", where,
                   ". A smaller --learning-rate may help; the newest checkpoint is from before"));
}

}  // namespace waymark
