#include "catalog/filter_evaluator.h"

#include <algorithm>

namespace waymark {
namespace {

using Kind = FilterNode::Kind;

}  // namespace

BoundFilter::BoundFilter(const FilterNode& root, const ItemColumns& columns) : columns_(columns) {
  root_ = Bind(root);
}

Bitmap BoundFilter::Evaluate() {
  Estimate(&root_);
  Bitmap passing = Evaluate(root_);
  passing &= columns_.rows().live;
  return passing;
}

bool BoundFilter::Passes(ItemOrdinal item) const {
  return columns_.rows().live.contains(item) && Matches(root_, item);
}

BoundFilter::Node BoundFilter::Bind(const FilterNode& from) const {
  Node node{.kind = from.kind};
  for (const FilterNode& child : from.children) node.children.push_back(Bind(child));
  const bool comparison =
      from.kind != Kind::kAll && from.kind != Kind::kAnd && from.kind != Kind::kOr && from.kind != Kind::kNot;
  if (comparison) BindComparison(from, &node);
  return node;
}

void BoundFilter::BindComparison(const FilterNode& from, Node* node) const {
  if (from.type == storage::FieldRecord::KEYWORD) {
    node->keywords = columns_.FindKeywords(from.field);
  } else if (from.type == storage::FieldRecord::GEO) {
    node->points = columns_.FindPoints(from.field);
    if (from.kind != Kind::kHas) {
      node->shape = ShapeOf(from);
      return;
    }
  } else {
    node->numbers = columns_.FindNumbers(from.field);
  }
  node->presence = from.kind == Kind::kHas && from.texts.empty() && from.numbers.empty();
  if (node->keywords != nullptr && from.kind == Kind::kPath) {
    node->terms = node->keywords->FindPath(from.texts[0], from.texts[1]);
  } else if (node->keywords != nullptr) {
    for (const std::string& text : from.texts) {
      if (from.kind == Kind::kHas) {
        const std::vector<TermNumber> folded = node->keywords->FindFolded(text);
        node->terms.insert(node->terms.end(), folded.begin(), folded.end());
      } else if (const std::optional<TermNumber> term = node->keywords->Find(text)) {
        node->terms.push_back(*term);
      }
    }
    std::sort(node->terms.begin(), node->terms.end());
    node->terms.erase(std::unique(node->terms.begin(), node->terms.end()), node->terms.end());
  }
  for (size_t i = 0; i + 1 < from.numbers.size(); i += 2) {
    node->intervals.emplace_back(from.numbers[i], from.numbers[i + 1]);
  }
}

void BoundFilter::Estimate(Node* node) const {
  const uint64_t live = columns_.rows().live.cardinality();
  node->expected = node->cost = 0;
  node->item_cost = 1 + node->terms.size() / 4 + node->intervals.size();
  for (Node& child : node->children) {
    Estimate(&child);
    node->cost += child.cost;
    node->item_cost += child.item_cost;
  }
  switch (node->kind) {
    case Kind::kAll:
    case Kind::kNot:
      node->expected = live;
      break;
    case Kind::kAnd:
      std::stable_sort(node->children.begin(), node->children.end(),
                       [](const Node& a, const Node& b) { return a.expected < b.expected; });
      node->expected = std::min(live, node->children[0].expected);
      break;
    case Kind::kOr:
      for (const Node& child : node->children) node->expected += child.expected;
      break;
    default:
      EstimateComparison(node);
      break;
  }
}

void BoundFilter::EstimateComparison(Node* node) const {
  if (node->keywords != nullptr) {
    for (const TermNumber term : node->terms) node->expected += node->keywords->CountOf(term);
    node->cost = node->terms.size() * 8 + node->expected / 16;
  } else if (node->numbers != nullptr) {
    const size_t scan = node->numbers->ScanCost(), counted = scan / 64;
    for (const auto& [lowest, highest] : node->intervals) {
      const size_t count = node->numbers->CountWithin(lowest, highest, counted);
      node->expected += count > counted ? scan : count;
      node->cost += std::min(scan, count * 64);
    }
  } else if (node->points != nullptr && node->shape) {
    const size_t scan = node->points->ScanCost(), counted = scan / 64;
    const size_t count = node->points->CountNear(*node->shape, counted);
    node->expected = count > counted ? node->points->present().cardinality() : count;
    node->cost = std::min(scan, count * 64);
    node->item_cost = 8;
  }
  if (node->kind == Kind::kNotEquals || node->presence) {
    const Bitmap* present = PresentOf(*node);
    node->expected = present == nullptr ? 0 : present->cardinality();
  }
}

Bitmap BoundFilter::Evaluate(const Node& node) const {
  switch (node.kind) {
    case Kind::kAll:
      return columns_.rows().live;
    case Kind::kAnd:
      return EvaluateAnd(node);
    case Kind::kOr: {
      Bitmap any;
      for (const Node& child : node.children) any |= Evaluate(child);
      return any;
    }
    case Kind::kNot: {
      Bitmap rest = columns_.rows().live;
      rest -= Evaluate(node.children[0]);
      return rest;
    }
    default:
      return EvaluateComparison(node);
  }
}

Bitmap BoundFilter::EvaluateAnd(const Node& node) const {
  Bitmap left = Evaluate(node.children[0]);
  for (size_t i = 1; i < node.children.size(); ++i) {
    const Node& child = node.children[i];
    const uint64_t count = left.cardinality();
    if (count == 0) break;
    if (count * child.item_cost * 4 < child.cost) {
      std::vector<uint32_t> items(count), passing;
      left.toUint32Array(items.data());
      for (const uint32_t item : items) {
        if (Matches(child, item)) passing.push_back(item);
      }
      left = Bitmap(passing.size(), passing.data());
    } else if (child.kind == Kind::kNot) {
      left -= Evaluate(child.children[0]);
    } else {
      left &= Evaluate(child);
    }
  }
  return left;
}

const Bitmap* BoundFilter::PresentOf(const Node& node) {
  if (node.keywords != nullptr) return &node.keywords->present();
  if (node.points != nullptr) return &node.points->present();
  return node.numbers == nullptr ? nullptr : &node.numbers->present();
}

Bitmap BoundFilter::EvaluateComparison(const Node& node) const {
  const Bitmap* present = PresentOf(node);
  if (present == nullptr) return Bitmap();
  if (node.presence) return *present;
  Bitmap items;
  if (node.points != nullptr) {
    items = node.points->Within(*node.shape);
  } else if (node.keywords != nullptr) {
    for (const TermNumber term : node.terms) node.keywords->AddItemsOf(term, &items);
  } else {
    for (const auto& [lowest, highest] : node.intervals) {
      if (items.isEmpty()) {
        items = node.numbers->Within(lowest, highest);
      } else {
        items |= node.numbers->Within(lowest, highest);
      }
    }
  }
  if (node.kind != Kind::kNotEquals) return items;
  return *present - items;
}

bool BoundFilter::Matches(const Node& node, ItemOrdinal item) const {
  const auto matches = [&](const Node& child) { return Matches(child, item); };
  switch (node.kind) {
    case Kind::kAll:
      return true;
    case Kind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), matches);
    case Kind::kOr:
      return std::any_of(node.children.begin(), node.children.end(), matches);
    case Kind::kNot:
      return !Matches(node.children[0], item);
    default:
      return MatchesComparison(node, item);
  }
}

bool BoundFilter::MatchesComparison(const Node& node, ItemOrdinal item) const {
  if (node.points != nullptr) {
    return node.presence ? node.points->present().contains(item) : node.points->AnyWithin(item, *node.shape);
  }
  if (node.keywords == nullptr && node.numbers == nullptr) return false;
  const bool present =
      node.keywords != nullptr ? !node.keywords->Terms(item).empty() : node.numbers->present().contains(item);
  if (node.presence || !present) return present;
  bool any = false;
  if (node.keywords != nullptr) {
    const absl::Span<const TermNumber> held = node.keywords->Terms(item);
    any = std::find_first_of(held.begin(), held.end(), node.terms.begin(), node.terms.end()) != held.end();
  } else {
    any = std::any_of(node.intervals.begin(), node.intervals.end(), [&](const auto& interval) {
      return node.numbers->AnyWithin(item, interval.first, interval.second);
    });
  }
  return node.kind == Kind::kNotEquals ? !any : any;
}

}  // namespace waymark
