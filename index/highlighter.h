// Where an item's text holds the words of a query, as the search took them: with their stems, beginnings and
// corrected typing errors.
//
//   auto highlighter = index->MakeHighlighter("recieving", TypoTolerance::kAuto, {}, deadline);
//   (*highlighter)->Highlight(item);   // "title": "<mark>Received</mark> with thanks"
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "index/highlight.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

struct BoundQuery;
struct IndexSnapshot;

// Immutable; thread-safe.
class Highlighter {
 public:
  // INVALID_ARGUMENT names the option, what it holds and what it takes. `snapshot` lives as long as this.
  static absl::StatusOr<std::unique_ptr<Highlighter>> Make(std::shared_ptr<const IndexSnapshot> snapshot,
                                                           const BoundQuery& query, HighlightOptions options);

  // The texts of the item that hold a word, in the order of the fields asked for.
  std::vector<TextHighlight> Highlight(const storage::ItemRecord& item) const;

 private:
  Highlighter() = default;
  void HighlightText(const std::string& field, int value, std::string_view text,
                     std::vector<TextHighlight>* found) const;

  std::shared_ptr<const IndexSnapshot> snapshot_;
  HighlightOptions options_;
  std::vector<std::string> fields_;
  std::vector<std::string> typed_;                     // words of the query
  std::unordered_map<std::string, uint32_t> of_term_;  // into typed_
};

}  // namespace waymark
