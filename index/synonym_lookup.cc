#include "index/synonym_lookup.h"

#include <algorithm>

namespace waymark {
namespace {

using Kind = QueryToken::Kind;
using Others = std::vector<QuerySynonyms::Other>;

// A word as people type it: word* and word~ say themselves what they stand for.
bool IsPlain(const QueryToken& token) {
  return token.kind == Kind::kWord && token.sign == QuerySign::kNone && token.field.empty() &&
         token.boost == 1 && token.text.find_first_of("*~") == std::string_view::npos;
}

// What the groups that count here stand for beside the typed terms.
Others OthersOf(const SequenceMap<SynonymGroup>::Values& groups, const std::vector<std::string>& typed,
                const SynonymView& synonyms) {
  Others others;
  for (const auto& group : groups) {
    if (!LanguageCounts(group->language, synonyms.locale)) continue;
    for (const SynonymPhrase& phrase : group->targets()) {
      const auto same = [&](const QuerySynonyms::Other& o) {
        return o.phrase->terms == phrase.terms && o.phrase->offsets == phrase.offsets;
      };
      if (phrase.terms == typed || std::any_of(others.begin(), others.end(), same)) continue;
      if (others.size() == kMaxSynonyms) return others;
      others.push_back({group, &phrase});
    }
  }
  return others;
}

}  // namespace

SynonymMatch FindSynonyms(const QueryLexer& at, const Analyzer& analyzer, const SynonymView& synonyms) {
  SynonymMatch longest;
  SynonymTable::Walk walk = synonyms.table.Start();
  std::vector<std::string> typed;
  TermList terms;
  QueryLexer lexer = at;
  for (size_t tokens = 1; IsPlain(lexer.token()); ++tokens) {
    terms.Clear();
    analyzer.Analyze(lexer.token().text, 0, &terms);
    lexer.Next();
    // A word before an operator is its operand, not one of this run.
    if (lexer.token().kind == Kind::kAnd || lexer.token().kind == Kind::kOr) break;
    if (terms.empty() && typed.empty()) break;  // no run begins with a stop word
    if (terms.empty()) continue;
    for (size_t i = 0; i < terms.size(); ++i) {
      if (!walk.Step(terms.term(i))) return longest;
      typed.emplace_back(terms.term(i));
    }
    Others others = OthersOf(walk.values(), typed, synonyms);
    if (!others.empty()) longest = {tokens, std::move(others)};
    if (!walk.may_go_on()) break;
  }
  return longest;
}

Others FindSynonymsOfWord(std::string_view word, const Analyzer& analyzer, const SynonymView& synonyms) {
  TermList terms;
  analyzer.Analyze(word, 0, &terms);
  if (terms.size() != 1) return {};
  SynonymTable::Walk walk = synonyms.table.Start();
  if (!walk.Step(terms.term(0))) return {};
  return OthersOf(walk.values(), {std::string(terms.term(0))}, synonyms);
}

}  // namespace waymark
