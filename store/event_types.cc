#include "store/event_types.h"

namespace waymark {
namespace {

// Weights say how much one such event tells, against one click. They are defaults: a collection may declare
// a built-in name again with another weight or sign.
std::vector<EventType> BuiltIn() {
  using enum EventSign;
  return {{event_code::kImpression, "impression", 0.0, kNeutral},
          {event_code::kView, "view", 0.5, kPositive},
          {event_code::kClick, "click", 1.0, kPositive},
          {event_code::kAddToCart, "add_to_cart", 3.0, kPositive},
          {event_code::kPurchase, "purchase", 5.0, kPositive},
          {event_code::kRating, "rating", 2.0, kPositive},
          {event_code::kLike, "like", 2.0, kPositive},
          {event_code::kDislike, "dislike", 2.0, kNegative},
          {event_code::kSkip, "skip", 0.5, kNegative},
          {event_code::kSearch, "search", 0.0, kNeutral},
          {event_code::kIdentify, "identify", 0.0, kNeutral}};
}

}  // namespace

EventTypes::EventTypes() : EventTypes(std::vector<EventType>{}) {}

EventTypes::EventTypes(const std::vector<EventType>& declared) : types_(BuiltIn()) {
  for (size_t i = 0; i < types_.size(); ++i) {
    by_name_[types_[i].name] = i;
    by_code_[types_[i].code] = i;
  }
  for (const EventType& type : declared) {
    // A built-in name keeps its code, which is on disk already.
    if (auto found = by_name_.find(type.name); found != by_name_.end()) {
      EventType& known = types_[found->second];
      known.weight = type.weight;
      known.sign = type.sign;
      continue;
    }
    if (by_code_.contains(type.code)) continue;
    by_name_[type.name] = types_.size();
    by_code_[type.code] = types_.size();
    types_.push_back(type);
  }
}

const EventType* EventTypes::Find(std::string_view name) const {
  auto found = by_name_.find(absl::string_view(name.data(), name.size()));
  return found == by_name_.end() ? nullptr : &types_[found->second];
}

const EventType* EventTypes::Find(EventTypeCode code) const {
  auto found = by_code_.find(code);
  return found == by_code_.end() ? nullptr : &types_[found->second];
}

}  // namespace waymark
