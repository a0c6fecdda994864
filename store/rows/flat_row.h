// The flat JSON form of items, users, events and served lists: what exports hold and imports read.
#pragma once
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
  };
  std::string request_id, user_id, surface, query, release, arm;
  absl::Time time;
  std::vector<Item> items;
};
std::string ServedRow(const ServedList& list);

}  // namespace waymark
