#include "index/query_words.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "index/query_marks.h"
#include "index/word_split.h"

namespace waymark {
namespace {

using ReadAs = TermReading::Kind;
const TermReading kReadExactly = {ReadAs::kExact, 0, {}};

// So many are compared one by one.
constexpr size_t kFewTerms = 16;

// Words that are not cut to stems: what people type of them is compared as they type it.
std::string_view AsTyped(const AnalysedWord& word, const Analyzer& analyzer) {
  if (!analyzer.standard()) return word.word;
  return word.form.empty() ? word.term : word.form.substr(1);
}

QueryNode GroupOf(std::vector<QueryNode> must, std::vector<QueryNode> should, std::vector<QueryNode> also) {
  QueryNode group{QueryNode::Kind::kGroup, 0, std::move(must), std::move(should), {}};
  group.also = std::move(also);
  return group;
}

}  // namespace

uint32_t QueryWords::ScopeNumber(QueryScope scope) {
  const auto found = std::find(query_.scopes.begin(), query_.scopes.end(), scope);
  const auto number = static_cast<uint32_t>(found - query_.scopes.begin());
  if (number == query_.scopes.size()) query_.scopes.push_back(std::move(scope));
  return number;
}

std::optional<uint32_t> QueryWords::KnownNumber(std::string_view term, const TermReading& reading,
                                                uint32_t scope) const {
  if (query_.terms.size() > kFewTerms) {
    const auto found = numbers_.find(TermKey(term, reading, scope));
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }
  for (uint32_t t = 0; t < query_.terms.size(); ++t) {
    if (query_.terms[t] == term && query_.term_scopes[t] == scope && SameMarks(query_.readings[t], reading)) {
      return t;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> QueryWords::NumberOf(std::string_view term, std::string_view typed,
                                             TermReading reading, uint32_t scope, bool aside) {
  if (const auto known = KnownNumber(term, reading, scope)) {
    const uint32_t number = *known;
    if (reading.kind == ReadAs::kExact && !aside) query_.readings[number].kind = reading.kind;
    if (query_.aside[number] && !aside) query_.readings[number].kind = reading.kind;
    query_.aside[number] = query_.aside[number] && aside;
    return number;
  }
  if (query_.terms.size() == kMaxQueryTerms) return std::nullopt;
  reading.typed = std::string(typed);
  query_.terms.emplace_back(term);
  query_.readings.push_back(std::move(reading));
  query_.term_scopes.push_back(scope);
  query_.aside.push_back(aside);
  if (query_.terms.size() > kFewTerms) {
    for (; mapped_ < query_.terms.size(); ++mapped_) {
      numbers_.emplace(TermKey(query_.terms[mapped_], query_.readings[mapped_], query_.term_scopes[mapped_]),
                       static_cast<uint32_t>(mapped_));
    }
  }
  return static_cast<uint32_t>(query_.terms.size() - 1);
}

QueryWords::InAnalysis QueryWords::AnalyzeIn(const Analyzer& analyzer, uint32_t scope, std::string_view text,
                                             const TermReading& reading, const TermReading& marked,
                                             bool forms) {
  using Kind = AnalysedWord::Kind;
  size_t left = 0;
  analyzer.ForEachTerm(text, [&left](const AnalysedWord& word) { left += word.kind == Kind::kWord; });
  InAnalysis in{scope, &analyzer, {}};
  uint32_t last_unit = 0;
  const uint32_t begin = next_position_;
  analyzer.ForEachTerm(text, [&](const AnalysedWord& word) {
    if (word.kind == Kind::kBeside) return;
    if (in.units.empty() || word.unit != last_unit) in.units.push_back({{}, {}, {}, word.position});
    last_unit = word.unit;
    Unit& unit = in.units.back();
    unit.strict = word.strict;
    if (word.kind == Kind::kJoined) {
      unit.joined = NumberOf(word.term, word.word, kReadExactly, scope, /*aside=*/true);
      return;
    }
    ++unit.parts;
    const TermReading& read_as = --left == 0 ? marked : reading;
    const bool prefix = read_as.kind == ReadAs::kPrefix;
    if (word.stop && !prefix) return;
    const std::string_view term = prefix ? (word.stop ? word.word : AsTyped(word, analyzer)) : word.term;
    const auto number = NumberOf(term, word.word, read_as, scope);
    if (!number) return;
    unit.words.push_back({*number, word.position});
    query_.sequence.push_back({*number, begin + word.position});
    in.end = begin + word.position + 1;
    ++in.words;
    if (!forms || word.form.empty() || read_as.kind != ReadAs::kWord) return;
    if (const auto form = NumberOf(word.form, word.word, kReadExactly, scope, /*aside=*/true)) {
      unit.forms.push_back(*form);
    }
  });
  return in;
}

std::vector<QueryWords::InAnalysis> QueryWords::Analyze(std::string_view text, const TermReading& reading,
                                                        const TermReading& marked, std::string_view field,
                                                        bool forms) {
  std::vector<InAnalysis> all;
  const auto groups = parsing_.analyzers->groups();
  if (!field.empty()) {
    all.push_back(AnalyzeIn(parsing_.analyzers->Of(field), ScopeNumber({{}, std::string(field)}), text,
                            reading, marked, forms));
    next_position_ = std::max(next_position_, all[0].end);
    return all;
  }
  for (uint32_t group = 0; group < groups.size(); ++group) {
    const uint32_t scope = groups.size() == 1 ? 0 : ScopeNumber({group, {}});
    all.push_back(AnalyzeIn(groups[group], scope, text, reading, marked, forms));
  }
  for (const InAnalysis& in : all) next_position_ = std::max(next_position_, in.end);
  return all;
}

std::vector<QueryNode> QueryWords::FormNodes(const Unit& unit) {
  std::vector<QueryNode> nodes;
  for (const uint32_t form : unit.forms) nodes.push_back(TermNode(form));
  return nodes;
}

WordNodes QueryWords::Word(std::string_view text, const TermReading& marked, std::string_view field,
                           Role role) {
  const bool phrase = marked.kind == ReadAs::kWord || marked.kind == ReadAs::kExact;
  if (OneListOfWords(field)) {
    std::vector<TermAt> words = ListWords(text, {}, marked);
    if (words.size() < 2 || (role != Role::kWish && phrase)) return {PhraseOfList(std::move(words), 0), {}};
    return WishesFor(words, role);
  }
  const auto in = Analyze(text, {}, marked, field, /*forms=*/role != Role::kExcluded);
  if (in.size() == 1) {
    return in[0].analyzer->standard() ? StandardWord(in[0], phrase, role) : PlainWord(in[0], phrase, role);
  }
  const bool single = std::all_of(in.begin(), in.end(), [](const InAnalysis& one) {
    return one.words <= 1 && std::none_of(one.units.begin(), one.units.end(),
                                          [](const Unit& unit) { return unit.joined.has_value(); });
  });
  if (single) return Alternates(in);
  if (phrase) return {PhraseOf(in, 0, Exact::kYes), {}};
  // Where the last term stands for others, there are no phrases: the first analysis that has words counts.
  for (const InAnalysis& one : in) {
    if (one.words > 0) return PlainWord(one, phrase, role);
  }
  return {};
}

bool QueryWords::OneListOfWords(std::string_view field) const {
  const auto groups = parsing_.analyzers->groups();
  return field.empty() && groups.size() == 1 && !groups[0].standard();
}

std::vector<QueryWords::TermAt> QueryWords::ListWords(std::string_view text, const TermReading& reading,
                                                      const TermReading& marked) {
  const Analyzer& analyzer = parsing_.analyzers->groups()[0];
  size_t left = 0;
  analyzer.ForEachWord(text, [&left](const AnalysedWord&) { ++left; });
  std::vector<TermAt> words;
  const uint32_t begin = next_position_;
  analyzer.ForEachWord(text, [&](const AnalysedWord& word) {
    next_position_ = begin + word.position + 1;
    const TermReading& read_as = --left == 0 ? marked : reading;
    const bool prefix = read_as.kind == ReadAs::kPrefix;
    const std::string_view term = prefix ? word.word : word.term;
    if (word.stop && !prefix) return;
    if (const auto number = NumberOf(term, word.word, read_as, 0)) {
      words.push_back({*number, word.position});
      query_.sequence.push_back({*number, begin + word.position});
    }
  });
  return words;
}

std::optional<QueryNode> QueryWords::PhraseOfList(std::vector<TermAt> words, int slop) {
  if (words.empty()) return std::nullopt;
  if (words.size() == 1) return TermNode(words[0].term);
  const uint32_t first = words[0].offset;
  for (TermAt& word : words) {
    word.offset -= first;
    query_.readings[word.term].kind = ReadAs::kExact;
  }
  query_.phrases.push_back({std::move(words), 0, slop});
  return QueryNode{QueryNode::Kind::kPhrase, static_cast<uint32_t>(query_.phrases.size() - 1), {}, {}, {}};
}

// A word of several terms stands for its terms where it is one wish of many, and for the phrase where it is
// wanted or excluded by name. Where its last term stands for others, there is no phrase: all its terms are
// wanted or excluded together.
WordNodes QueryWords::PlainWord(const InAnalysis& in, bool phrase, Role role) {
  if (in.words < 2 || (role != Role::kWish && phrase)) return {PhraseOf({in}, 0, Exact::kYes), {}};
  std::vector<TermAt> words;
  for (const Unit& unit : in.units) words.insert(words.end(), unit.words.begin(), unit.words.end());
  return WishesFor(words, role);
}

WordNodes QueryWords::WishesFor(const std::vector<TermAt>& words, Role role) const {
  std::vector<QueryNode> nodes;
  for (const TermAt& word : words) nodes.push_back(TermNode(word.term));
  QueryNode all = GroupOf(nodes, {}, {});
  if (parsing_.match_all || role != Role::kWish) return {std::move(all), {}};
  return {GroupOf({}, std::move(nodes), {}), std::move(all)};
}

WordNodes QueryWords::StandardWord(const InAnalysis& in, bool phrase, Role role) {
  const bool joins =
      std::any_of(in.units.begin(), in.units.end(), [](const Unit& unit) { return unit.joined.has_value(); });
  if (!phrase && in.words > 1) return PlainWord(in, phrase, role);
  if (role != Role::kWish && (in.words > 1 || joins)) return {PhraseOf({in}, 0, Exact::kYes), {}};
  if (in.units.size() == 1) return UnitNodes(in, in.units[0], role);
  std::vector<QueryNode> wishes, wanted, also;
  for (const Unit& unit : in.units) {
    WordNodes nodes = UnitNodes(in, unit, role);
    if (!nodes.node) continue;
    wanted.push_back(nodes.wanted ? *std::move(nodes.wanted) : *nodes.node);
    wishes.push_back(*std::move(nodes.node));
    also.insert(also.end(), nodes.also.begin(), nodes.also.end());
  }
  if (wishes.empty()) return {};
  QueryNode all = GroupOf(std::move(wanted), {}, also);
  if (parsing_.match_all) return {std::move(all), {}};
  return {GroupOf({}, std::move(wishes), std::move(also)), std::move(all)};
}

WordNodes QueryWords::UnitNodes(const InAnalysis& in, const Unit& unit, Role) {
  if (unit.words.empty() && !unit.joined) return {};
  if (unit.words.size() == 1 && !unit.joined) {
    const QueryNode node = TermNode(unit.words[0].term);
    return {node, {}, FormNodes(unit)};
  }
  InAnalysis alone{in.scope, in.analyzer, {unit}, unit.words.size()};
  std::optional<QueryNode> together = PhraseOf({alone}, 0, unit.strict ? Exact::kYes : Exact::kNo);
  if (unit.strict || !together) return {std::move(together), {}};
  std::vector<QueryNode> wishes{*together}, words;
  for (const TermAt& word : unit.words) words.push_back(TermNode(word.term));
  QueryNode all = GroupOf({}, {*std::move(together)}, FormNodes(unit));
  if (!words.empty()) all.should.push_back(words.size() == 1 ? words[0] : GroupOf(words, {}, {}));
  if (parsing_.match_all) return {std::move(all), {}};
  wishes.insert(wishes.end(), words.begin(), words.end());
  return {GroupOf({}, std::move(wishes), FormNodes(unit)), std::move(all)};
}

WordNodes QueryWords::Alternates(const std::vector<InAnalysis>& in) {
  std::optional<uint32_t> first;
  WordNodes nodes;
  for (const InAnalysis& one : in) {
    for (const Unit& unit : one.units) {
      if (unit.words.empty()) continue;
      const uint32_t term = unit.words[0].term;
      for (QueryNode& form : FormNodes(unit)) nodes.also.push_back(std::move(form));
      if (!first) {
        first = term;
        continue;
      }
      if (query_.alternates.size() <= *first) query_.alternates.resize(*first + 1);
      auto& others = query_.alternates[*first];
      const QueryAlternate other{query_.terms[term], query_.term_scopes[term]};
      const auto same = [&](const QueryAlternate& o) {
        return o.term == other.term && o.scope == other.scope;
      };
      query_.aside[term] = true;
      if (std::none_of(others.begin(), others.end(), same)) others.push_back(other);
    }
  }
  if (first) nodes.node = TermNode(*first);
  if (first) query_.aside[*first] = false;
  return nodes;
}

std::optional<QueryNode> QueryWords::Phrase(std::string_view text, std::string_view field, int slop) {
  if (OneListOfWords(field)) return PhraseOfList(ListWords(text, kReadExactly, kReadExactly), slop);
  return PhraseOf(Analyze(text, kReadExactly, kReadExactly, field, /*forms=*/false), slop, Exact::kYes);
}

// The words at their places; and, where some stand together as one, those as one word.
void QueryWords::AddVersions(const InAnalysis& in, std::vector<QueryPhrase::Version>* versions) {
  QueryPhrase::Version apart{{}, in.scope}, joined{{}, in.scope};
  uint32_t place = 0;
  bool any_joined = false;
  for (const Unit& unit : in.units) {
    for (const TermAt& word : unit.words) apart.words.push_back(word);
    if (unit.joined) {
      joined.words.push_back({*unit.joined, place});
      any_joined = true;
    } else {
      for (const TermAt& word : unit.words)
        joined.words.push_back({word.term, place + word.offset - unit.first});
    }
    place += unit.joined ? 1 : unit.parts;
  }
  for (QueryPhrase::Version* version : {&apart, &joined}) {
    if (version->words.empty() || (version == &joined && !any_joined)) continue;
    const uint32_t first = version->words[0].offset;
    for (TermAt& word : version->words) word.offset -= first;
    versions->push_back(std::move(*version));
  }
}

std::optional<QueryNode> QueryWords::PhraseOf(const std::vector<InAnalysis>& in, int slop, Exact exact) {
  std::vector<QueryPhrase::Version> versions;
  for (const InAnalysis& one : in) AddVersions(one, &versions);
  if (versions.empty()) return std::nullopt;
  const auto longest = std::max_element(versions.begin(), versions.end(), [](const auto& a, const auto& b) {
    return a.words.size() < b.words.size();
  });
  std::rotate(versions.begin(), longest, longest + 1);
  for (size_t v = 0; v < versions.size(); ++v) {
    for (const TermAt& word : versions[v].words) {
      if (v > 0 && versions[v].scope != versions[0].scope) query_.aside[word.term] = true;
    }
  }
  const bool one_word = versions.size() == 1 && versions[0].words.size() == 1;
  if (one_word) return TermNode(versions[0].words[0].term);
  for (const QueryPhrase::Version& version : versions) {
    for (const TermAt& word : version.words) {
      if (exact == Exact::kYes) query_.readings[word.term].kind = ReadAs::kExact;
    }
  }
  QueryPhrase phrase{std::move(versions[0].words), versions[0].scope, slop};
  phrase.others.assign(std::make_move_iterator(versions.begin() + 1),
                       std::make_move_iterator(versions.end()));
  query_.phrases.push_back(std::move(phrase));
  return QueryNode{QueryNode::Kind::kPhrase, static_cast<uint32_t>(query_.phrases.size() - 1), {}, {}, {}};
}

std::vector<uint32_t> QueryWords::Typed(std::string_view text) {
  std::vector<uint32_t> typed;
  const InAnalysis in =
      AnalyzeIn(parsing_.analyzers->schema(), 0, text, kReadExactly, kReadExactly, /*forms=*/false);
  next_position_ = std::max(next_position_, in.end);
  for (const Unit& unit : in.units) {
    for (const TermAt& word : unit.words) typed.push_back(word.term);
  }
  return typed;
}

std::optional<QueryNode> QueryWords::Synonyms(std::vector<uint32_t> typed, std::string text,
                                              std::vector<QuerySynonyms::Other> others) {
  if (typed.empty()) return std::nullopt;  // the query has too many terms
  query_.synonyms.push_back({std::move(typed), parsing_.match_all, std::move(text), std::move(others)});
  return QueryNode{QueryNode::Kind::kSynonyms, static_cast<uint32_t>(query_.synonyms.size() - 1), {}, {}, {}};
}

std::optional<QueryWords::Joined> QueryWords::JoinedTerm(std::string_view first,
                                                         std::string_view second) const {
  const auto groups = parsing_.analyzers->groups();
  if (parsing_.known == nullptr || groups.size() != 1) return std::nullopt;
  const auto letters = [](std::string_view text) {
    return text.size() > 1 && std::none_of(text.begin(), text.end(), [](char c) {
             return static_cast<unsigned char>(c) < 0x80 && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
           });
  };
  if (!letters(first) || !letters(second)) return std::nullopt;
  std::string both(first);
  both += second;
  Joined joined{TermOfWord(groups[0], both), {}, {}};
  if (joined.term.empty() || !(*parsing_.known)(joined.term)) return std::nullopt;
  joined.first = TermOfWord(groups[0], first);
  joined.second = TermOfWord(groups[0], second);
  if (joined.first.empty() || joined.second.empty()) return std::nullopt;
  return joined;
}

std::optional<QueryNode> QueryWords::Aside(const Joined& joined) {
  const auto number = NumberOf(joined.term, joined.term, kReadExactly, 0, /*aside=*/true);
  if (!number || !query_.aside[*number]) return std::nullopt;
  query_.joined.push_back({*number, joined.first, joined.second});
  return TermNode(*number);
}

std::optional<QueryNode> QueryWords::JoinedSynonym(std::string_view first, std::string_view second,
                                                   const Joined& joined) {
  std::vector<uint32_t> typed = Typed(first);
  for (const uint32_t word : Typed(second)) typed.push_back(word);
  auto phrase = std::make_shared<SynonymPhrase>();
  phrase->text = joined.term;
  phrase->terms = {joined.term};
  phrase->offsets = {0};
  query_.own_phrases.push_back(phrase);
  return Synonyms(std::move(typed), absl::StrCat(std::string(first), " ", std::string(second)),
                  {{nullptr, phrase.get()}});
}

}  // namespace waymark
