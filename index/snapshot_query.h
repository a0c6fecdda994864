// What one search asks of a snapshot.
#pragma once
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "catalog/item_set.h"
#include "index/index_snapshot.h"
#include "index/keyword_index.h"
#include "index/query_parser.h"

namespace waymark {

struct SnapshotQuery {
  std::string_view text;
  bool match_all = false;
  const ItemSet* allowed = nullptr;        // null: all
  const ItemSet* live = nullptr;           // null: every item of the snapshot lives
  absl::Span<const ItemOrdinal> excluded;  // sorted
  int64_t count_up_to = kCountAll;
  TypoTolerance typos = TypoTolerance::kAuto;
  bool all_matches = false;               // fill KeywordHits::matches; goes with kCountAll
  const SynonymView* synonyms = nullptr;  // null: none
  const QueryFields* fields = nullptr;    // null: a colon means nothing
  MinimumMatch minimum = {};
  absl::Span<const std::string> left_out = {};  // words that need not match
};

// The query as this snapshot's fields have its words.
ParsedQuery ParseFor(const IndexSnapshot& snapshot, const SnapshotQuery& query);

}  // namespace waymark
