// One query on one segment: its leaves, and its structure over their bits.
//
// Not thread-safe: belongs to one search.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "index/bound_query.h"
#include "index/query_leaf.h"

namespace waymark {

class SegmentSearch {
 public:
  SegmentSearch(const SegmentView& segment, const BoundQuery& query);

  // No document before the answer, from `doc` on, matches; kNoDoc: none at all. `doc` grows from call to
  // call.
  DocNumber NextAtLeast(DocNumber doc) { return Next(*query_.query.root, doc); }
  // Fills the scores of the window's documents and marks those that match and live. Stops early, answering
  // false, when `spend(postings)` does.
  bool Collect(Window* window, WindowBits* matches, const std::function<bool(size_t postings)>& spend);

 private:
  struct Leaf {
    std::unique_ptr<QueryLeaf> leaf;  // null: the segment has none of it
    WindowBits bits;                  // of the window
  };
  Leaf& LeafOf(const QueryNode& node) {
    switch (node.kind) {
      case QueryNode::Kind::kTerm:
        return terms_[node.index];
      case QueryNode::Kind::kSynonyms:
        return synonyms_[node.index];
      case QueryNode::Kind::kItems:
        return items_[node.index];
      default:
        return phrases_[node.index];
    }
  }
  void MakeLeaves(const QueryNode& node);
  DocNumber Next(const QueryNode& node, DocNumber doc);
  void Match(const QueryNode& node, WindowBits* bits);
  void MatchSome(const std::vector<QueryNode>& nodes, uint32_t minimum, WindowBits* bits);

  const SegmentView& segment_;
  const BoundQuery& query_;
  std::vector<Leaf> terms_, phrases_, synonyms_, items_;
};

}  // namespace waymark
