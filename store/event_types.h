// The kinds of events, each with a weight and a sign. The operator's own are added to these.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace waymark {

using EventTypeCode = uint32_t;

enum class EventSign { kNegative = -1, kNeutral = 0, kPositive = 1 };

struct EventType {
  EventTypeCode code;
  std::string name;
  double weight;  // how much one such event says, 1 for a click
  EventSign sign;
};

// Built-in codes are fixed: they are in records on disk.
namespace event_code {
inline constexpr EventTypeCode kImpression = 1, kView = 2, kClick = 3, kAddToCart = 4, kPurchase = 5,
                               kRating = 6, kLike = 7, kDislike = 8, kSkip = 9, kSearch = 10, kIdentify = 11;
inline constexpr EventTypeCode kFirstDeclared = 100;
}  // namespace event_code

// Immutable; copies are cheap enough to take one per batch.
class EventTypes {
 public:
  EventTypes();  // the built-in ones
  explicit EventTypes(const std::vector<EventType>& declared);
  const EventType* Find(std::string_view name) const;
  const EventType* Find(EventTypeCode code) const;
  const std::vector<EventType>& All() const { return types_; }

 private:
  std::vector<EventType> types_;
  absl::flat_hash_map<std::string, size_t> by_name_;
  absl::flat_hash_map<EventTypeCode, size_t> by_code_;
};

}  // namespace waymark
