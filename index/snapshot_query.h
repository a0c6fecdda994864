// What one search asks of a snapshot.
#pragma once
#include <string_view>

#include "absl/types/span.h"
#include "catalog/item_set.h"
#include "index/keyword_index.h"

namespace waymark {

struct SnapshotQuery {
  std::string_view text;
  bool match_all = false;
  const ItemSet* allowed = nullptr;        // null: all
  const ItemSet* live = nullptr;           // null: every item of the snapshot lives
  absl::Span<const ItemOrdinal> excluded;  // sorted
  TotalCount total = TotalCount::kExact;
  TypoTolerance typos = TypoTolerance::kAuto;
  bool all_matches = false;               // fill KeywordHits::matches; goes with kExact
  const SynonymView* synonyms = nullptr;  // null: none
};

}  // namespace waymark
