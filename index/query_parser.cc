#include "index/query_parser.h"

#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "index/query_lexer.h"
#include "index/synonym_lookup.h"
#include "index/typo_automaton.h"

namespace waymark {
namespace {

using Kind = QueryToken::Kind;
enum class Occurs { kDefault, kMust, kMustNot };
const TermReading kAsItIs = {TermReading::Kind::kExact, 0, {}};

struct Clause {
  std::optional<QueryNode> node;  // none: nothing was left of it, such as of a stop word
  Occurs occurs = Occurs::kDefault;
  bool one_word = false;  // a group of the terms of one word, such as of "spider-man"
};

void AddClause(Clause clause, Occurs default_occurs, QueryNode* group) {
  if (!clause.node) return;
  QueryNode& node = *clause.node;
  if (node.kind == QueryNode::Kind::kGroup && node.must.empty() && node.should.empty()) {
    // A group that only excludes does so for the group that it stands in; to exclude such a group is to ask
    // for what it excludes.
    auto& nodes = clause.occurs == Occurs::kMustNot ? group->should : group->must_not;
    for (QueryNode& excluded : node.must_not) nodes.push_back(std::move(excluded));
    return;
  }
  switch (clause.occurs == Occurs::kDefault ? default_occurs : clause.occurs) {
    case Occurs::kMust:
      group->must.push_back(std::move(node));
      break;
    case Occurs::kMustNot:
      group->must_not.push_back(std::move(node));
      break;
    case Occurs::kDefault:
      group->should.push_back(std::move(node));
      break;
  }
}

// None of an empty group; of a group of one, that one.
std::optional<QueryNode> NodeOf(QueryNode group) {
  if (!group.must_not.empty()) return group;
  const size_t size = group.must.size() + group.should.size();
  if (size == 0) return std::nullopt;
  if (size > 1) return group;
  return std::move(group.must.empty() ? group.should[0] : group.must[0]);
}

std::string Joined(const std::vector<std::string_view>& texts) {
  std::string joined;
  for (const std::string_view text : texts) {
    if (!joined.empty()) joined.push_back(' ');
    joined.append(text);
  }
  return joined;
}

class Parser {
 public:
  Parser(std::string_view query, const Analyzer& analyzer, bool match_all, const SynonymView* synonyms)
      : lexer_(query), analyzer_(analyzer), match_all_(match_all), synonyms_(synonyms) {}

  ParsedQuery Parse() {
    QueryNode group;
    // A closing parenthesis that was never opened is passed over.
    for (ParseSequence(0, &group); lexer_.token().kind != Kind::kEnd; ParseSequence(0, &group)) lexer_.Next();
    query_.term_times.resize(query_.terms.size());
    query_.asked.resize(query_.terms.size());
    query_.phrase_times.resize(query_.phrases.size());
    if (!group.must.empty() || !group.should.empty()) {
      query_.root = NodeOf(std::move(group));
      CountAsked(*query_.root);
    }
    std::erase_if(query_.sequence, [&](const ParsedQuery::Place& p) { return !query_.asked[p.term]; });
    return std::move(query_);
  }

 private:
  bool At(Kind kind) const { return lexer_.token().kind == kind; }

  // sequence = { any }, each clause optional, or all of them wanted with match_all.
  void ParseSequence(int depth, QueryNode* group) {
    while (!At(Kind::kEnd) && !At(Kind::kClose)) {
      if (Widens() && ParseWidened(group)) continue;
      AddClause(ParseAny(depth), match_all_ ? Occurs::kMust : Occurs::kDefault, group);
    }
  }

  bool Widens() const {
    return synonyms_ != nullptr && excluded_depth_ == 0 && query_.synonyms.size() < kMaxWidened;
  }

  // Takes in words that stand side by side here when synonyms know them; the longest run that they know
  // counts.
  bool ParseWidened(QueryNode* group) {
    SynonymMatch match = FindSynonyms(lexer_, analyzer_, *synonyms_);
    if (match.tokens == 0) return false;
    std::vector<uint32_t> typed;
    std::vector<std::string_view> texts;
    for (size_t i = 0; i < match.tokens; ++i, lexer_.Next()) {
      texts.push_back(lexer_.token().text);
      for (const Word& word : Analyze(texts.back(), kAsItIs, kAsItIs)) typed.push_back(word.term);
    }
    AddClause({SynonymsNode(std::move(typed), Joined(texts), std::move(match.others))},
              match_all_ ? Occurs::kMust : Occurs::kDefault, group);
    return true;
  }

  std::optional<QueryNode> SynonymsNode(std::vector<uint32_t> typed, std::string text,
                                        std::vector<QuerySynonyms::Other> others) {
    if (typed.empty()) return std::nullopt;  // the query has too many terms
    query_.synonyms.push_back({std::move(typed), match_all_, std::move(text), std::move(others)});
    return QueryNode{
        QueryNode::Kind::kSynonyms, static_cast<uint32_t>(query_.synonyms.size() - 1), {}, {}, {}};
  }

  // any = all { "OR" all }
  Clause ParseAny(int depth) {
    Clause first = ParseAll(depth);
    if (!At(Kind::kOr)) return first;
    QueryNode group;
    AddClause(std::move(first), Occurs::kDefault, &group);
    while (At(Kind::kOr)) {
      lexer_.Next();
      AddClause(ParseAll(depth), Occurs::kDefault, &group);
    }
    return {NodeOf(std::move(group))};
  }

  // all = one { "AND" one }
  Clause ParseAll(int depth) {
    Clause first = ParseOne(depth);
    if (!At(Kind::kAnd)) return first;
    QueryNode group;
    AddAll(std::move(first), &group);
    while (At(Kind::kAnd)) {
      lexer_.Next();
      AddAll(ParseOne(depth), &group);
    }
    return {NodeOf(std::move(group))};
  }
  void AddAll(Clause clause, QueryNode* group) {
    if (clause.one_word) clause.node->must.swap(clause.node->should);
    AddClause(std::move(clause), Occurs::kMust, group);
  }

  // one = { "NOT" } (["+" | "-"] (word | phrase | "(" sequence ")"))
  Clause ParseOne(int depth) {
    bool negated = false;
    for (; At(Kind::kNot); lexer_.Next()) negated = !negated;
    const QueryToken token = lexer_.token();
    Clause clause;
    if (token.sign == QuerySign::kPlus) clause.occurs = Occurs::kMust;
    if ((token.sign == QuerySign::kMinus) != negated) clause.occurs = Occurs::kMustNot;
    switch (token.kind) {
      case Kind::kWord:
        lexer_.Next();
        ParseWord(token.text, &clause);
        break;
      case Kind::kPhrase:
        lexer_.Next();
        clause.node = PhraseOf(Analyze(token.text, kAsItIs, kAsItIs));
        break;
      case Kind::kOpen:
        lexer_.Next();
        excluded_depth_ += clause.occurs == Occurs::kMustNot ? 1 : 0;
        clause.node = ParseGroup(depth);
        excluded_depth_ -= clause.occurs == Occurs::kMustNot ? 1 : 0;
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

  std::optional<QueryNode> ParseGroup(int depth) {
    QueryNode group;
    if (depth + 1 >= kMaxQueryDepth) {
      SkipDeepParentheses(&group);
      return NodeOf(std::move(group));
    }
    ParseSequence(depth + 1, &group);
    if (At(Kind::kClose)) lexer_.Next();
    return NodeOf(std::move(group));
  }

  // Takes in words and phrases up to the parenthesis that closes this one, whatever stands between them.
  void SkipDeepParentheses(QueryNode* group) {
    for (int open = 1; !At(Kind::kEnd) && open > 0;) {
      if (At(Kind::kOpen)) ++open;
      if (At(Kind::kClose)) --open;
      if (At(Kind::kWord) || At(Kind::kPhrase)) {
        AddClause(ParseOne(kMaxQueryDepth), match_all_ ? Occurs::kMust : Occurs::kDefault, group);
      } else {
        lexer_.Next();
      }
    }
  }

  struct Word {
    uint32_t term, position;
  };
  // `marked`: how the last word is to be taken; the others are as `reading` says.
  std::vector<Word> Analyze(std::string_view text, const TermReading& reading, const TermReading& marked) {
    size_t left = 0;
    analyzer_.ForEachWord(text, [&left](const AnalysedWord&) { ++left; });
    std::vector<Word> words;
    const uint32_t begin = next_position_;
    analyzer_.ForEachWord(text, [&](const AnalysedWord& word) {
      next_position_ = begin + word.position + 1;
      const TermReading& read_as = --left == 0 ? marked : reading;
      // What people type of a word is compared as they type it.
      const bool prefix = read_as.kind == TermReading::Kind::kPrefix;
      const std::string_view term = prefix ? word.word : word.term;
      if (word.stop && !prefix) return;
      if (const auto number = NumberOf(term, word.word, read_as)) {
        words.push_back({*number, word.position});
        query_.sequence.push_back({*number, begin + word.position});
      }
    });
    return words;
  }

  // None: the query has too many terms.
  std::optional<uint32_t> NumberOf(std::string_view term, std::string_view typed, TermReading reading) {
    // Words as they stand and words within quotation marks are one term, which then is not corrected.
    std::string key(term);
    if (reading.kind == TermReading::Kind::kTypos) absl::StrAppend(&key, "~", reading.edits);
    if (reading.kind == TermReading::Kind::kPrefix) absl::StrAppend(&key, "*");
    const auto found = numbers_.find(key);
    if (found != numbers_.end()) {
      if (reading.kind == TermReading::Kind::kExact) query_.readings[found->second].kind = reading.kind;
      return found->second;
    }
    if (query_.terms.size() == kMaxQueryTerms) return std::nullopt;
    reading.typed = std::string(typed);
    query_.terms.emplace_back(term);
    query_.readings.push_back(std::move(reading));
    const auto number = static_cast<uint32_t>(query_.terms.size() - 1);
    numbers_.emplace(std::move(key), number);
    return number;
  }

  static QueryNode TermNode(uint32_t term) { return {QueryNode::Kind::kTerm, term, {}, {}, {}}; }

  std::optional<QueryNode> PhraseOf(const std::vector<Word>& words) {
    if (words.empty()) return std::nullopt;
    if (words.size() == 1) return TermNode(words[0].term);
    QueryPhrase phrase;
    for (const Word& word : words) {
      phrase.words.push_back({word.term, word.position - words[0].position});
      query_.readings[word.term].kind = TermReading::Kind::kExact;
    }
    query_.phrases.push_back(std::move(phrase));
    return QueryNode{QueryNode::Kind::kPhrase, static_cast<uint32_t>(query_.phrases.size() - 1), {}, {}, {}};
  }

  // Takes word~, word~1, word~2 and word* apart; the marks go from `text`.
  static TermReading ReadMarks(std::string_view* text) {
    TermReading reading;
    if (text->ends_with('*')) {
      reading.kind = TermReading::Kind::kPrefix;
      text->remove_suffix(1);
      return reading;
    }
    const size_t tilde = text->rfind('~');
    if (tilde == text->npos) return reading;
    const std::string_view edits = text->substr(tilde + 1);
    if (edits.find_first_not_of("0123456789") != edits.npos) return reading;
    text->remove_suffix(edits.size() + 1);
    if (edits == "0") {
      reading.kind = TermReading::Kind::kExact;
    } else {
      reading.kind = TermReading::Kind::kTypos;
      reading.edits = edits.empty() ? 0 : edits == "1" ? 1 : TypoAutomaton::kMaxEdits;
    }
    return reading;
  }

  // A word of several terms stands for its terms where it is one wish of many, and for the phrase where it is
  // wanted or excluded by name. Where its last term stands for others, there is no phrase: all its terms are
  // wanted or excluded together.
  void ParseWord(std::string_view text, Clause* clause) {
    const TermReading marked = ReadMarks(&text);
    const bool phrase = marked.kind == TermReading::Kind::kWord || marked.kind == TermReading::Kind::kExact;
    if (marked.kind == TermReading::Kind::kWord && clause->occurs != Occurs::kMustNot && Widens()) {
      auto others = FindSynonymsOfWord(text, analyzer_, *synonyms_);
      if (!others.empty()) {
        std::vector<uint32_t> typed;
        for (const Word& word : Analyze(text, kAsItIs, kAsItIs)) typed.push_back(word.term);
        clause->node = SynonymsNode(std::move(typed), std::string(text), std::move(others));
        return;
      }
    }
    const std::vector<Word> words = Analyze(text, {}, marked);
    if (words.size() < 2 || (clause->occurs != Occurs::kDefault && phrase)) {
      clause->node = PhraseOf(words);
      return;
    }
    QueryNode group;
    const bool all = match_all_ || clause->occurs != Occurs::kDefault;
    auto& nodes = all ? group.must : group.should;
    for (const Word& word : words) nodes.push_back(TermNode(word.term));
    clause->one_word = !all;
    clause->node = std::move(group);
  }

  void CountAsked(const QueryNode& node) {
    if (node.kind == QueryNode::Kind::kTerm) {
      ++query_.term_times[node.index];
      query_.asked[node.index] = true;
    } else if (node.kind == QueryNode::Kind::kPhrase) {
      ++query_.phrase_times[node.index];
      for (const QueryPhrase::Word& word : query_.phrases[node.index].words) query_.asked[word.term] = true;
    } else if (node.kind == QueryNode::Kind::kSynonyms) {
      for (const uint32_t term : query_.synonyms[node.index].typed) query_.asked[term] = true;
    }
    for (const QueryNode& child : node.must) CountAsked(child);
    for (const QueryNode& child : node.should) CountAsked(child);
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

  QueryLexer lexer_;
  const Analyzer& analyzer_;
  const bool match_all_;
  const SynonymView* const synonyms_;  // null: none
  int excluded_depth_ = 0;             // of parentheses that are excluded around this place
  uint32_t next_position_ = 0;         // of the query's words
  ParsedQuery query_;
  std::unordered_map<std::string, uint32_t> numbers_;  // of terms with the marks of their readings
};

}  // namespace

ParsedQuery ParseQuery(std::string_view query, const Analyzer& analyzer, bool match_all,
                       const SynonymView* synonyms) {
  return Parser(query, analyzer, match_all, synonyms).Parse();
}

std::vector<SynonymUse> SynonymsUsed(const ParsedQuery& query) {
  std::vector<SynonymUse> used;
  for (const QuerySynonyms& place : query.synonyms) {
    const size_t first = used.size();
    for (const QuerySynonyms::Other& other : place.others) {
      size_t at = first;
      while (at < used.size() && used[at].id != other.group->id) ++at;
      if (at == used.size()) used.push_back({other.group->id, place.text, {}});
      used[at].others.push_back(other.phrase->text);
    }
  }
  return used;
}

}  // namespace waymark
