#include "training/evaluation/leave_one_out.h"

#include <algorithm>
#include <limits>

#include "recommend/top_items.h"

namespace waymark {
namespace {

constexpr float kUnlisted = std::numeric_limits<float>::lowest();
constexpr float kMasked = -std::numeric_limits<float>::infinity();
constexpr size_t kProgressEvery = 256;

RequestContext ContextOf(const Interactions& interactions, size_t user, size_t held_out,
                         const LeaveOneOutOptions& options) {
  RequestContext context;
  const uint64_t begin = interactions.starts[user];
  context.user = interactions.users[user];
  context.now = absl::FromUnixMicros(interactions.times_us[held_out]);
  const uint64_t first = held_out - begin > options.history_limit ? held_out - options.history_limit : begin;
  for (uint64_t i = first; i < held_out; ++i) {
    HistoryEvent event;
    event.item = interactions.items[i];
    event.type = event_code::kView;
    event.time = absl::FromUnixMicros(interactions.times_us[i]);
    event.offset = interactions.offsets[i];
    context.history.push_back(std::move(event));
  }
  if (options.mask_history) {
    // Of the whole history, also where the context holds its newest part only.
    context.excluded.assign(interactions.items.begin() + static_cast<std::ptrdiff_t>(begin),
                            interactions.items.begin() + static_cast<std::ptrdiff_t>(held_out));
    std::sort(context.excluded.begin(), context.excluded.end());
    context.excluded.erase(std::unique(context.excluded.begin(), context.excluded.end()),
                           context.excluded.end());
  }
  return context;
}

// Users that have met each item, for novelty.
std::vector<uint64_t> UsersOfItems(const Interactions& interactions) {
  std::vector<uint64_t> users(interactions.item_end, 0);
  std::vector<ItemOrdinal> items;
  for (size_t u = 0; u < interactions.user_count(); ++u) {
    items.assign(interactions.ItemsOf(u).begin(), interactions.ItemsOf(u).end());
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
    for (ItemOrdinal item : items) ++users[item];
  }
  return users;
}

}  // namespace

CatalogueScorer ScorerOf(const CandidateSource& source, size_t limit) {
  return [&source, limit](const RequestContext& context, absl::Span<float> scores) -> absl::Status {
    if (!source.Applies(context)) return absl::OkStatus();
    auto answer = source.Find(context, limit == 0 ? scores.size() : limit, Deadline::Never());
    if (!answer.ok()) return answer.status();
    for (const ScoredItem& item : answer->items) scores[item.item] = item.score;
    return absl::OkStatus();
  };
}

absl::StatusOr<LeaveOneOutResult> LeaveOneOut(const Interactions& interactions,
                                              const LeaveOneOutOptions& options,
                                              const CatalogueScorer& scorer) {
  const std::vector<uint64_t> users_of = UsersOfItems(interactions);
  const size_t catalogue =
      users_of.size() - static_cast<size_t>(std::count(users_of.begin(), users_of.end(), 0u));
  LeaveOneOutResult result{RecommendMetrics(options.k, catalogue), {}, {}};
  const uint64_t back = options.target == LeaveOneOutOptions::Target::kTest ? 1 : 2;
  std::vector<float> scores(interactions.item_end);
  for (size_t u = 0; u < interactions.user_count(); ++u) {
    if (interactions.starts[u + 1] - interactions.starts[u] < 3) continue;
    if (options.progress && u % kProgressEvery == 0 && !options.progress(u, interactions.user_count()))
      return absl::CancelledError("the evaluation was stopped");
    const uint64_t held_out = interactions.starts[u + 1] - back;
    const ItemOrdinal target = interactions.items[held_out];
    const RequestContext context = ContextOf(interactions, u, held_out, options);
    std::fill(scores.begin(), scores.end(), kUnlisted);
    if (absl::Status s = scorer(context, absl::MakeSpan(scores)); !s.ok()) return s;
    for (ItemOrdinal item = 0; item < interactions.item_end; ++item) {
      if (users_of[item] == 0) scores[item] = kMasked;  // ordinals that are nobody's are not in the catalogue
    }
    for (ItemOrdinal item : context.excluded) scores[item] = kMasked;

    const double rank =
        scores[target] == kMasked ? std::numeric_limits<double>::infinity() : MiddleRank(scores, target);
    result.metrics.AddRank(rank);
    result.users.push_back(interactions.users[u]);
    result.ranks.push_back(rank);
    TopItems top(options.k);
    for (ItemOrdinal item = 0; item < interactions.item_end; ++item) {
      if (scores[item] > kUnlisted && scores[item] >= top.threshold()) top.Offer(item, scores[item]);
    }
    std::vector<uint32_t> list;
    std::vector<uint64_t> met;
    for (const ScoredItem& item : top.Take()) {
      list.push_back(item.item);
      met.push_back(users_of[item.item]);
    }
    result.metrics.AddList(list, met, interactions.user_count());
  }
  return result;
}

}  // namespace waymark
