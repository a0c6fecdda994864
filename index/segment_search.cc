#include "index/segment_search.h"

#include <algorithm>

#include "index/items_leaf.h"
#include "index/synonyms_leaf.h"
#include "index/variants_leaf.h"

namespace waymark {

SegmentSearch::SegmentSearch(const SegmentView& segment, const BoundQuery& query)
    : segment_(segment),
      query_(query),
      terms_(query.query.terms.size()),
      phrases_(query.query.phrases.size()),
      synonyms_(query.query.synonyms.size()),
      items_(query.query.items.size()) {
  MakeLeaves(*query_.query.root);
}

void SegmentSearch::MakeLeaves(const QueryNode& node) {
  if (node.kind == QueryNode::Kind::kTerm && !terms_[node.index].leaf) {
    if (query_.StandsForSeveral(node.index)) {
      auto leaf = std::make_unique<VariantsLeaf>(segment_, query_, node.index);
      if (leaf->HasTerms()) terms_[node.index].leaf = std::move(leaf);
    } else if (auto term = query_.Find(segment_, node.index)) {
      terms_[node.index].leaf = std::make_unique<TermLeaf>(segment_, *term, query_.Term(node.index));
    }
  } else if (node.kind == QueryNode::Kind::kPhrase) {
    auto ways = PhraseCursors(segment_, query_, node.index);
    if (!ways.empty()) phrases_[node.index].leaf = std::make_unique<PhraseLeaf>(segment_, std::move(ways));
  } else if (node.kind == QueryNode::Kind::kSynonyms) {
    synonyms_[node.index].leaf = std::make_unique<SynonymsLeaf>(segment_, query_, node.index);
  } else if (node.kind == QueryNode::Kind::kItems) {
    items_[node.index].leaf = std::make_unique<ItemsLeaf>(segment_, *query_.query.items[node.index]);
  }
  for (const auto* children : {&node.must, &node.should, &node.must_not, &node.also}) {
    for (const QueryNode& child : *children) MakeLeaves(child);
  }
}

DocNumber SegmentSearch::Next(const QueryNode& node, DocNumber doc) {
  if (node.kind != QueryNode::Kind::kGroup) {
    Leaf& leaf = LeafOf(node);
    return leaf.leaf ? leaf.leaf->NextAtLeast(doc) : kNoDoc;
  }
  if (node.must.empty()) {
    DocNumber first = kNoDoc;
    for (const QueryNode& child : node.should) first = std::min(first, Next(child, doc));
    return first;
  }
  // Each child starts from where the others have come to: what they pass over matches nothing here. A leaf
  // that stands in several places of the query must not be moved past what another place still needs, so
  // every child is asked from `doc` only.
  DocNumber last = doc;
  for (const QueryNode& child : node.must) last = std::max(last, Next(child, doc));
  return last;
}

bool SegmentSearch::Collect(Window* window, WindowBits* matches,
                            const std::function<bool(size_t postings)>& spend) {
  std::fill(window->scores.begin(), window->scores.end(), 0);
  for (auto* leaves : {&terms_, &phrases_, &synonyms_, &items_}) {
    for (Leaf& leaf : *leaves) {
      if (!leaf.leaf) continue;
      leaf.bits.fill(0);
      if (!spend(leaf.leaf->Collect(window, &leaf.bits))) return false;
    }
  }
  Match(*query_.query.root, matches);
  const std::vector<uint64_t>& live = segment_.live->bits();
  for (size_t i = 0, at = window->begin / 64; i < kWindowWords; ++i, ++at) {
    (*matches)[i] &= at < live.size() ? live[at] : 0;
  }
  return true;
}

// Keeps the bits that at least `minimum` of the nodes have.
void SegmentSearch::MatchSome(const std::vector<QueryNode>& nodes, uint32_t minimum, WindowBits* bits) {
  // So many nodes were counted for each document: the number's binary digits, a document a bit.
  std::vector<WindowBits> digits;
  WindowBits carry;
  for (const QueryNode& child : nodes) {
    Match(child, &carry);
    for (WindowBits& digit : digits) {
      for (size_t i = 0; i < kWindowWords; ++i) {
        const uint64_t both = digit[i] & carry[i];
        digit[i] ^= carry[i];
        carry[i] = both;
      }
    }
    const bool overflows = std::any_of(carry.begin(), carry.end(), [](uint64_t word) { return word != 0; });
    if (overflows) digits.push_back(carry);
  }
  // Compared from the highest digit down.
  for (size_t i = 0; i < kWindowWords; ++i) {
    if (minimum >> digits.size() != 0) {
      (*bits)[i] = 0;
      continue;
    }
    uint64_t more = 0, equal = ~uint64_t{0};
    for (size_t d = digits.size(); d-- > 0;) {
      const uint64_t wanted = (minimum >> d & 1) != 0 ? ~uint64_t{0} : 0;
      more |= equal & digits[d][i] & ~wanted;
      equal &= ~(digits[d][i] ^ wanted);
    }
    (*bits)[i] &= more | equal;
  }
}

void SegmentSearch::Match(const QueryNode& node, WindowBits* bits) {
  if (node.kind != QueryNode::Kind::kGroup) {
    const Leaf& leaf = LeafOf(node);
    if (leaf.leaf) {
      *bits = leaf.bits;
    } else {
      bits->fill(0);
    }
    return;
  }
  WindowBits child_bits;
  bits->fill(node.must.empty() ? 0 : ~uint64_t{0});
  for (const QueryNode& child : node.must) {
    Match(child, &child_bits);
    for (size_t i = 0; i < kWindowWords; ++i) (*bits)[i] &= child_bits[i];
  }
  const uint32_t minimum = std::max<uint32_t>(node.minimum, node.must.empty() ? 1 : 0);
  if (minimum == 1 && node.must.empty()) {
    for (const QueryNode& child : node.should) {
      Match(child, &child_bits);
      for (size_t i = 0; i < kWindowWords; ++i) (*bits)[i] |= child_bits[i];
    }
  } else if (minimum > 0) {
    if (node.must.empty()) bits->fill(~uint64_t{0});
    MatchSome(node.should, minimum, bits);
  }
  for (const QueryNode& child : node.must_not) {
    Match(child, &child_bits);
    for (size_t i = 0; i < kWindowWords; ++i) (*bits)[i] &= ~child_bits[i];
  }
}

}  // namespace waymark
