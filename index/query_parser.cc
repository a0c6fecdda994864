#include "index/query_parser.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "index/query_clause.h"
#include "index/query_lexer.h"
#include "index/query_marks.h"
#include "index/query_words.h"
#include "index/synonym_lookup.h"

namespace waymark {
namespace {

using Kind = QueryToken::Kind;
using Role = QueryWords::Role;
std::string Joined(const std::vector<std::string_view>& texts) {
  std::string joined;
  for (const std::string_view text : texts) {
    if (!joined.empty()) joined.push_back(' ');
    joined.append(text);
  }
  return joined;
}

// Pairs of words that are looked up as one, of a query: the first ones, since most are none.
constexpr size_t kMaxJoinsLookedAt = 2;

class Parser {
 public:
  Parser(std::string_view query, const QueryParsing& parsing)
      : parsing_(parsing), lexer_(query, parsing.fields), words_(parsing), query_(words_.query()) {}

  ParsedQuery Parse() {
    QueryNode group;
    // A closing parenthesis that was never opened is passed over.
    for (ParseSequence(0, &group); lexer_.token().kind != Kind::kEnd; ParseSequence(0, &group)) lexer_.Next();
    query_.term_times.resize(query_.terms.size());
    query_.term_boost.resize(query_.terms.size());
    query_.asked.resize(query_.terms.size());
    query_.phrase_times.resize(query_.phrases.size());
    query_.phrase_boost.resize(query_.phrases.size());
    if (group.must.empty() && group.should.empty()) {  // all left out
      std::swap(group.should, group.also);
      group.also_apart = false;
    }
    if (!group.must.empty() || !group.should.empty()) {
      if (group.must.empty() && wishes_ > 0) {
        group.minimum = static_cast<uint32_t>(std::min(parsing_.minimum.Of(wishes_), group.should.size()));
      }
      WantOneBesideConditions(&group);
      query_.root = NodeOf(std::move(group));
      CountAsked(*query_.root, 1);
    }
    const auto no_word = [&](const ParsedQuery::Place& place) {
      return !query_.asked[place.term] || query_.aside[place.term];
    };
    auto& sequence = query_.sequence;
    sequence.erase(std::remove_if(sequence.begin(), sequence.end(), no_word), sequence.end());
    return std::move(query_);
  }

 private:
  bool At(Kind kind) const { return lexer_.token().kind == kind; }

  // sequence = { any }, each clause optional, or all of them wanted with match_all.
  void ParseSequence(int depth, QueryNode* group) {
    const bool top = depth == 0 && excluded_depth_ == 0;
    while (!At(Kind::kEnd) && !At(Kind::kClose)) {
      if (Widens() && ParseWidened(group)) {
        wishes_ += top;
        continue;
      }
      if (ParseJoined(top, group)) continue;
      const QueryToken token = lexer_.token();
      const bool plain = top && token.kind == Kind::kWord && token.sign == QuerySign::kNone;
      QueryClause clause = ParseAny(depth);
      QueryOccurs occurs =
          parsing_.match_all || clause.condition ? QueryOccurs::kMust : QueryOccurs::kDefault;
      if (!clause.condition && clause.occurs == QueryOccurs::kDefault && clause.node && top) {
        ++wishes_;
        if (plain) occurs = OccursWanted(token.text, *clause.node, occurs);
        group->also_apart |= occurs == QueryOccurs::kAlso;
      }
      AddClause(std::move(clause), occurs, group);
    }
    if (depth > 0) WantOneBesideConditions(group);
  }

  // Remembers a plain word that must match, or that is one of so many; how it occurs if it was left out.
  QueryOccurs OccursWanted(std::string_view text, const QueryNode& node, QueryOccurs occurs) {
    if (!parsing_.match_all && parsing_.minimum.says_nothing()) return occurs;
    const auto& left_out = parsing_.left_out;
    if (std::find(left_out.begin(), left_out.end(), text) != left_out.end()) {
      return parsing_.match_all ? QueryOccurs::kDefault : QueryOccurs::kAlso;
    }
    ParsedQuery::WantedWord wanted{std::string(text), {}};
    CollectTerms(query_, node, &wanted.terms);
    query_.wanted.push_back(std::move(wanted));
    return occurs;
  }

  // Beside conditions alone, words are as much wanted as without them.
  static void WantOneBesideConditions(QueryNode* group) {
    const bool conditions = !group->must.empty() &&
                            std::all_of(group->must.begin(), group->must.end(), [](const QueryNode& node) {
                              return node.kind == QueryNode::Kind::kItems;
                            });
    if (conditions && !group->should.empty()) group->minimum = std::max<uint32_t>(group->minimum, 1);
  }

  bool Widens() const {
    return parsing_.synonyms != nullptr && excluded_depth_ == 0 && field_.empty() &&
           query_.synonyms.size() < kMaxWidened;
  }

  // Takes in words that stand side by side here when synonyms know them; the longest run that they know
  // counts.
  bool ParseWidened(QueryNode* group) {
    SynonymMatch match = FindSynonyms(lexer_, parsing_.analyzers->schema(), *parsing_.synonyms);
    if (match.tokens == 0) return false;
    std::vector<uint32_t> typed;
    std::vector<std::string_view> texts;
    for (size_t i = 0; i < match.tokens; ++i, lexer_.Next()) {
      texts.push_back(lexer_.token().text);
      for (const uint32_t word : words_.Typed(texts.back())) typed.push_back(word);
    }
    AddClause({words_.Synonyms(std::move(typed), Joined(texts), std::move(match.others))},
              parsing_.match_all ? QueryOccurs::kMust : QueryOccurs::kDefault, group);
    return true;
  }

  // Two words that items also write as one. As wishes they stay what they are, and the one word is a wish
  // more.
  bool ParseJoined(bool top, QueryNode* group) {
    if (parsing_.known == nullptr || excluded_depth_ > 0 || !field_.empty()) return false;
    if (joins_looked_at_ == kMaxJoinsLookedAt || lexer_.at_last() || !IsPlainWord(lexer_.token()))
      return false;
    const QueryToken first = lexer_.token();
    QueryLexer behind = lexer_;
    behind.Next();
    const QueryToken second = behind.token();
    if (!IsPlainWord(second)) return false;
    behind.Next();
    if (behind.token().kind == Kind::kAnd || behind.token().kind == Kind::kOr) return false;
    ++joins_looked_at_;
    const auto joined = words_.JoinedTerm(first.text, second.text);
    if (!joined) return false;
    if (!parsing_.match_all && parsing_.minimum.says_nothing()) {
      AddClause({words_.Aside(*joined)}, QueryOccurs::kDefault, group);
      return false;
    }
    const auto& left_out = parsing_.left_out;
    const auto left = [&](std::string_view text) {
      return std::find(left_out.begin(), left_out.end(), text) != left_out.end();
    };
    if (left(first.text) || left(second.text) || query_.synonyms.size() >= kMaxWidened) return false;
    lexer_ = behind;
    wishes_ += top ? 2 : 0;
    auto node = words_.JoinedSynonym(first.text, second.text, *joined);
    if (node && top) {
      const auto& typed = query_.synonyms[node->index].typed;
      for (size_t i = 0; i < typed.size(); ++i) {
        query_.wanted.push_back({std::string(i == 0 ? first.text : second.text), {typed[i]}});
      }
    }
    AddClause({std::move(node)}, parsing_.match_all ? QueryOccurs::kMust : QueryOccurs::kDefault, group);
    return true;
  }

  static bool IsPlainWord(const QueryToken& token) {
    return token.kind == Kind::kWord && token.sign == QuerySign::kNone && token.field.empty() &&
           token.boost == 1 && token.text.find_first_of("*~") == std::string_view::npos;
  }

  // any = all { "OR" all }
  QueryClause ParseAny(int depth) {
    QueryClause clause = ParseAll(depth);
    if (At(Kind::kOr)) {
      QueryNode group;
      AddClause(std::move(clause), QueryOccurs::kDefault, &group);
      while (At(Kind::kOr)) {
        lexer_.Next();
        AddClause(ParseAll(depth), QueryOccurs::kDefault, &group);
      }
      clause = {NodeOf(std::move(group))};
    }
    return clause;
  }

  // all = one { "AND" one }
  QueryClause ParseAll(int depth) {
    QueryClause clause = ParseOne(depth);
    if (At(Kind::kAnd)) {
      QueryNode group;
      AddAll(std::move(clause), &group);
      while (At(Kind::kAnd)) {
        lexer_.Next();
        AddAll(ParseOne(depth), &group);
      }
      clause = {NodeOf(std::move(group))};
    }
    return clause;
  }
  void AddAll(QueryClause&& clause, QueryNode* group) {
    if (clause.wanted) clause.node = std::move(clause.wanted);
    AddClause(std::move(clause), QueryOccurs::kMust, group);
  }

  // one = { "NOT" } (["+" | "-"] [field ":"] (word | phrase | "(" sequence ")"))
  QueryClause ParseOne(int depth) {
    bool negated = false;
    for (; At(Kind::kNot); lexer_.Next()) negated = !negated;
    const QueryToken token = lexer_.token();
    QueryClause clause;
    if (token.sign == QuerySign::kPlus) clause.occurs = QueryOccurs::kMust;
    if ((token.sign == QuerySign::kMinus) != negated) clause.occurs = QueryOccurs::kMustNot;
    switch (token.kind) {
      case Kind::kWord:
      case Kind::kPhrase:
        lexer_.Next();
        if (!ParseCondition(token, &clause)) ParseText(token, &clause);
        break;
      case Kind::kOpen:
        lexer_.Next();
        excluded_depth_ += clause.occurs == QueryOccurs::kMustNot ? 1 : 0;
        clause.node = ParseGroup(depth, token.field);
        excluded_depth_ -= clause.occurs == QueryOccurs::kMustNot ? 1 : 0;
        break;
      case Kind::kAnd:  // an operator without an operand before it: the callers pass over it
      case Kind::kOr:
      case Kind::kNot:
      case Kind::kClose:
      case Kind::kEnd:
        break;
    }
    return clause;
  }

  std::optional<QueryNode> ParseGroup(int depth, std::string_view field) {
    QueryNode group;
    const std::string_view around = field_;
    if (!field.empty() && parsing_.fields->Searched(field)) field_ = field;
    if (depth + 1 >= kMaxQueryDepth) {
      SkipDeepParentheses(&group);
    } else {
      ParseSequence(depth + 1, &group);
      if (At(Kind::kClose)) {
        group.boost = lexer_.token().boost;
        lexer_.Next();
      }
    }
    field_ = around;
    return NodeOf(std::move(group));
  }

  // Takes in words and phrases up to the parenthesis that closes this one, whatever stands between them.
  void SkipDeepParentheses(QueryNode* group) {
    for (int open = 1; !At(Kind::kEnd) && open > 0;) {
      if (At(Kind::kOpen)) ++open;
      if (At(Kind::kClose)) --open;
      if (At(Kind::kWord) || At(Kind::kPhrase)) {
        AddClause(ParseOne(kMaxQueryDepth), parsing_.match_all ? QueryOccurs::kMust : QueryOccurs::kDefault,
                  group);
      } else {
        lexer_.Next();
      }
    }
  }

  // A field that is filtered and not searched, or a range of one.
  bool ParseCondition(const QueryToken& token, QueryClause* clause) {
    if (token.field.empty() || !parsing_.fields->Filtered(token.field)) return false;
    const bool phrase = token.kind == Kind::kPhrase;
    if ((phrase || !IsRange(token.text)) && parsing_.fields->Searched(token.field)) return false;
    if (query_.items.size() == kMaxQueryConditions) return false;
    auto items = parsing_.fields->Passing(FilterOf(token.field, token.text, phrase));
    if (!items) return false;
    query_.items.push_back(std::move(items));
    clause->node =
        QueryNode{QueryNode::Kind::kItems, static_cast<uint32_t>(query_.items.size() - 1), {}, {}, {}};
    clause->condition = clause->occurs == QueryOccurs::kDefault;
    return true;
  }

  void ParseText(const QueryToken& token, QueryClause* clause) {
    const bool searched = !token.field.empty() && parsing_.fields->Searched(token.field);
    const std::string_view field = searched ? token.field : field_;
    if (token.kind == Kind::kPhrase) {
      clause->node = words_.Phrase(token.text, field, token.slop);
    } else {
      ParseWord(!token.field.empty() && !searched ? token.written : token.text, field, clause);
    }
    if (token.boost == 1 || !clause->node) return;
    for (auto* node : {&clause->node, &clause->wanted}) {
      if (*node) (*node)->boost *= token.boost;
    }
    for (QueryNode& also : clause->also) also.boost *= token.boost;
  }

  void ParseWord(std::string_view text, std::string_view field, QueryClause* clause) {
    const TermReading marked = ReadWordMarks(&text);
    if (marked.kind == TermReading::Kind::kWord && clause->occurs != QueryOccurs::kMustNot && field.empty() &&
        Widens()) {
      auto others = FindSynonymsOfWord(text, parsing_.analyzers->schema(), *parsing_.synonyms);
      if (!others.empty()) {
        clause->node = words_.Synonyms(words_.Typed(text), std::string(text), std::move(others));
        return;
      }
    }
    const Role role = clause->occurs == QueryOccurs::kMust      ? Role::kWanted
                      : clause->occurs == QueryOccurs::kMustNot ? Role::kExcluded
                                                                : Role::kWish;
    WordNodes nodes = words_.Word(text, marked, field, role);
    clause->node = std::move(nodes.node);
    clause->wanted = std::move(nodes.wanted);
    clause->also = std::move(nodes.also);
  }

  void CountAsked(const QueryNode& node, float boost) {
    boost *= node.boost;
    if (node.kind == QueryNode::Kind::kTerm && query_.aside[node.index]) {
      query_.term_boost[node.index] += IsForm(query_.terms[node.index]) ? boost * kFormShare : boost;
    } else if (node.kind == QueryNode::Kind::kTerm) {
      ++query_.term_times[node.index];
      query_.term_boost[node.index] += boost;
      query_.asked[node.index] = true;
    } else if (node.kind == QueryNode::Kind::kPhrase) {
      ++query_.phrase_times[node.index];
      query_.phrase_boost[node.index] += boost;
      for (const QueryPhrase::Word& word : query_.phrases[node.index].words) {
        if (!query_.aside[word.term]) query_.asked[word.term] = true;
      }
    } else if (node.kind == QueryNode::Kind::kSynonyms) {
      query_.synonyms[node.index].boost = boost;
      for (const uint32_t term : query_.synonyms[node.index].typed) query_.asked[term] = true;
    }
    for (const auto* children : {&node.must, &node.should, &node.also}) {
      for (const QueryNode& child : *children) CountAsked(child, boost);
    }
    for (const QueryNode& child : node.must_not) TakeAsItIs(child);
  }

  // Nobody wants to exclude what he did not write.
  void TakeAsItIs(const QueryNode& node) {
    if (node.kind == QueryNode::Kind::kTerm) {
      TermReading& reading = query_.readings[node.index];
      if (reading.kind == TermReading::Kind::kWord) reading.kind = TermReading::Kind::kExact;
    }
    for (const auto* children : {&node.must, &node.should, &node.must_not}) {
      for (const QueryNode& child : *children) TakeAsItIs(child);
    }
  }

  const QueryParsing& parsing_;
  QueryLexer lexer_;
  QueryWords words_;
  ParsedQuery& query_;      // of words_
  int excluded_depth_ = 0;  // of parentheses that are excluded around this place
  std::string_view field_;  // of the parentheses around this place; empty: none
  size_t joins_looked_at_ = 0;
  size_t wishes_ = 0;  // words, phrases and parentheses without a sign, outside of parentheses
};

}  // namespace

ParsedQuery ParseQuery(std::string_view query, const QueryParsing& parsing) {
  return Parser(query, parsing).Parse();
}

ParsedQuery ParseQuery(std::string_view query, const Analyzer& analyzer, bool match_all,
                       const SynonymView* synonyms) {
  const FieldAnalyzers analyzers(analyzer.settings());
  return ParseQuery(query, {&analyzers, match_all, synonyms});
}

std::vector<SynonymUse> SynonymsUsed(const ParsedQuery& query) {
  std::vector<SynonymUse> used;
  for (const QuerySynonyms& place : query.synonyms) {
    const size_t first = used.size();
    for (const QuerySynonyms::Other& other : place.others) {
      if (other.group == nullptr) continue;
      size_t at = first;
      while (at < used.size() && used[at].id != other.group->id) ++at;
      if (at == used.size()) used.push_back({other.group->id, place.text, {}});
      used[at].others.push_back(other.phrase->text);
    }
  }
  return used;
}

}  // namespace waymark
