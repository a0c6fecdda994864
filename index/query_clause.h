// A part of a query on its way into the group that it stands in.
#pragma once
#include <optional>
#include <vector>

#include "index/query_parser.h"

namespace waymark {

enum class QueryOccurs { kDefault, kMust, kMustNot, kAlso };

// What a part of a query became.
struct QueryClause {
  std::optional<QueryNode> node;  // none: nothing was left of it, such as of a stop word
  QueryOccurs occurs = QueryOccurs::kDefault;
  std::optional<QueryNode> wanted = {};  // instead, where all of its words are wanted
  std::vector<QueryNode> also = {};
  bool condition = false;  // on a field that is filtered: wanted, unless one of several is
};

// `usually`: how a clause occurs that does not say so itself.
void AddClause(QueryClause&& clause, QueryOccurs usually, QueryNode* group);

// None of an empty group; of a group of one, that one.
std::optional<QueryNode> NodeOf(QueryNode group);

// The numbers of the terms that what the node wants or wishes for is made of.
void CollectTerms(const ParsedQuery& query, const QueryNode& node, std::vector<uint32_t>* terms);

}  // namespace waymark
