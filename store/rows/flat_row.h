// The flat JSON form of items, users, events and served lists: what exports hold and imports read.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/struct.pb.h"
#include "store/mutation.h"

namespace waymark {

// {"id":"m1","title":"Toy Story",...}: the id first, then the fields in order of their names. Of users too.
std::string ItemRow(absl::string_view id, const google::protobuf::Struct& fields);

// With what is set only; one item goes as item_id and position, more as items.
std::string EventRow(const WriteEvent& event);

// One list that was served, with text ids.
struct ServedList {
  struct Item {
    std::string item_id;
    double score = 0;
    // Of lists that explore: the chance of this item at this place, whether it was drawn, whether it would
    // stand there were nothing drawn (1 or 0), and its chance were the place drawn for certain.
    struct Exploration {
      double propensity = 0;
      bool drawn = false;
      double as_ranked = 0, random = 0;
    };
    std::optional<Exploration> exploration = {};
    int team = 0;  // of interleaved lists: 1 the first arm, 2 the second, and so on
  };
  std::string request_id, user_id, surface, query, release, arm;
  absl::Time time;
  std::vector<Item> items;
};
std::string ServedRow(const ServedList& list);
// One place of a list that explored: the list without its items, the item, and what it earned. place: from 0,
// within the page; its item has an exploration.
std::string DecisionRow(const ServedList& list, size_t place, double reward);

}  // namespace waymark
