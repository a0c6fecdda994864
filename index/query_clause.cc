#include "index/query_clause.h"

namespace waymark {

void AddClause(QueryClause&& clause, QueryOccurs usually, QueryNode* group) {
  if (!clause.node) return;
  QueryNode& node = *clause.node;
  const QueryOccurs occurs = clause.occurs == QueryOccurs::kDefault ? usually : clause.occurs;
  if (occurs != QueryOccurs::kMustNot) {
    for (QueryNode& also : clause.also) group->also.push_back(std::move(also));
  }
  if (node.kind == QueryNode::Kind::kGroup && node.must.empty() && node.should.empty()) {
    // A group that only excludes does so for the group that it stands in; to exclude such a group is to ask
    // for what it excludes.
    auto& nodes = clause.occurs == QueryOccurs::kMustNot ? group->should : group->must_not;
    for (QueryNode& excluded : node.must_not) nodes.push_back(std::move(excluded));
    return;
  }
  switch (occurs) {
    case QueryOccurs::kMust:
      group->must.push_back(std::move(node));
      break;
    case QueryOccurs::kMustNot:
      group->must_not.push_back(std::move(node));
      break;
    case QueryOccurs::kAlso:
      group->also.push_back(std::move(node));
      break;
    case QueryOccurs::kDefault:
      group->should.push_back(std::move(node));
      break;
  }
}

std::optional<QueryNode> NodeOf(QueryNode group) {
  if (!group.must_not.empty() || !group.also.empty()) return group;
  const size_t size = group.must.size() + group.should.size();
  if (size == 0) return std::nullopt;
  if (size > 1 || group.boost != 1) return group;
  return std::move(group.must.empty() ? group.should[0] : group.must[0]);
}

void CollectTerms(const ParsedQuery& query, const QueryNode& node, std::vector<uint32_t>* terms) {
  if (node.kind == QueryNode::Kind::kTerm) terms->push_back(node.index);
  if (node.kind == QueryNode::Kind::kSynonyms) {
    const auto& typed = query.synonyms[node.index].typed;
    terms->insert(terms->end(), typed.begin(), typed.end());
  }
  if (node.kind == QueryNode::Kind::kPhrase) {
    for (const auto& word : query.phrases[node.index].words) terms->push_back(word.term);
  }
  for (const auto* children : {&node.must, &node.should}) {
    for (const QueryNode& child : *children) CollectTerms(query, child, terms);
  }
}

}  // namespace waymark
