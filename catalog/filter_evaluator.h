// A filter bound to columns: evaluated bottom-up on bitmaps, or asked item by item.
//
//   BoundFilter bound(filter.root, columns);
//   Bitmap passing = bound.Evaluate();
//   bool one = bound.Passes(7);
//
// Conjunctions begin with the part that keeps the fewest items; a part that would cost more to evaluate whole
// than to ask for each item that is left is asked item by item.
// Lives no longer than the columns; not thread-safe beside changes to them. For catalog/ alone.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "catalog/filter.h"
#include "catalog/item_columns.h"

namespace waymark {

class BoundFilter {
 public:
  BoundFilter(const FilterNode& root, const ItemColumns& columns);
  Bitmap Evaluate();
  bool Passes(ItemOrdinal item) const;

 private:
  struct Node {
    FilterNode::Kind kind = FilterNode::Kind::kAll;
    std::vector<Node> children;
    // At most one of the three; none: a field that has no column of the filter's type (any more).
    const NumberColumn* numbers = nullptr;
    const KeywordColumn* keywords = nullptr;
    const GeoColumn* points = nullptr;
    std::optional<GeoShape> shape;
    std::vector<TermNumber> terms;
    std::vector<std::pair<double, double>> intervals;
    bool presence = false;   // f:*
    uint64_t expected = 0;   // at most about this many items pass
    uint64_t cost = 0;       // of evaluating it whole, in values looked at
    uint64_t item_cost = 1;  // of asking for one item
  };
  Node Bind(const FilterNode& node) const;
  void BindComparison(const FilterNode& from, Node* node) const;
  // Fills expected and cost, and puts conjunctions in order.
  void Estimate(Node* node) const;
  void EstimateComparison(Node* node) const;

  static const Bitmap* PresentOf(const Node& node);  // null: no column

  Bitmap Evaluate(const Node& node) const;
  Bitmap EvaluateAnd(const Node& node) const;
  Bitmap EvaluateComparison(const Node& node) const;
  bool Matches(const Node& node, ItemOrdinal item) const;
  bool MatchesComparison(const Node& node, ItemOrdinal item) const;

  const ItemColumns& columns_;
  Node root_;
};

}  // namespace waymark
