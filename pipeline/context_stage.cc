#include "pipeline/context_stage.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pipeline/user_state.h"

namespace waymark {
namespace {

// Unknown ids that an answer names; more are counted.
constexpr size_t kNamedIds = 5;

class ItemResolver {
 public:
  ItemResolver(const Store& store, Scope scope, std::vector<Degraded>* degraded)
      : store_(store), scope_(scope), degraded_(degraded) {}

  std::vector<ItemOrdinal> Resolve(const char* field, const std::vector<std::string>& ids) const {
    std::vector<ItemOrdinal> items;
    std::vector<std::string> unknown;
    for (const std::string& id : ids) {
      if (auto item = store_.FindItem(scope_, id)) {
        items.push_back(*item);
      } else {
        unknown.push_back(absl::StrCat("'", id, "'"));
      }
    }
    if (unknown.empty()) return items;
    const size_t more = unknown.size() - std::min(unknown.size(), kNamedIds);
    unknown.resize(unknown.size() - more);
    degraded_->push_back(
        {"context", absl::StrCat(field, ": no item and no event names ", absl::StrJoin(unknown, ", "),
                                 more > 0 ? absl::StrCat(" and ", more, " others") : "", "; passed over")});
    return items;
  }

 private:
  const Store& store_;
  const Scope scope_;
  std::vector<Degraded>* degraded_;
};

}  // namespace

void SortUnique(std::vector<ItemOrdinal>* items) {
  std::sort(items->begin(), items->end());
  items->erase(std::unique(items->begin(), items->end()), items->end());
}

absl::StatusOr<RequestState> MakeRequestState(const Store& store, Scope scope, const Catalog& catalog,
                                              const Clock& clock, const PipelineRequest& request) {
  RequestState state;
  RequestContext& context = state.context;
  context.scope = scope;
  context.now = clock.Now();
  context.query = request.query;
  context.match_all_words = request.match_all;
  context.minimum_match = request.minimum_match;
  context.relax_below = request.relax_below;
  context.typo_tolerance = request.typo_tolerance;
  context.surface = request.surface;
  context.context = request.context;
  auto user = ReadUserState(store, scope, request, context.now);
  if (!user.ok()) return user.status();
  context.user = user->user;
  context.history = std::move(user->positive);
  const ItemResolver items(store, scope, &state.degraded);
  context.context_items = items.Resolve("context_items", request.context_items);
  context.positive_items = items.Resolve("positive_items", request.positive_items);
  context.negative_items = items.Resolve("negative_items", request.negative_items);
  if (request.kind == RequestKind::kRecommend) {
    context.excluded = std::move(user->seen);
    for (const auto* items : {&context.context_items, &context.negative_items}) {
      context.excluded.insert(context.excluded.end(), items->begin(), items->end());
    }
    SortUnique(&context.excluded);
  }
  // What is looked at and leant towards speaks like the newest events: counts and the retriever then find
  // what goes with it.
  if (request.kind == RequestKind::kRecommend) {
    for (const auto* items : {&context.positive_items, &context.context_items}) {
      for (const ItemOrdinal item : *items) {
        HistoryEvent& event = context.history.emplace_back();
        event.item = item;
        event.type = event_code::kView;
        event.time = event.received = context.now;
      }
    }
  }
  if (!request.filter.empty()) {
    auto filter = catalog.CompileFilter(request.filter);
    if (!filter.ok()) return filter.status();
    state.filter = *std::move(filter);
    context.allowed = catalog.Evaluate(*state.filter);
  } else if (catalog.live_count() < static_cast<int64_t>(store.ItemEnd(scope))) {
    context.allowed = catalog.LiveItems();
  }
  return state;
}

}  // namespace waymark
