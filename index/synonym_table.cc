#include "index/synonym_table.h"

#include <algorithm>

namespace waymark {
namespace {

std::vector<SynonymPhrase> AnalyseAll(absl::Span<const std::string> texts, const Analyzer& analyzer) {
  std::vector<SynonymPhrase> phrases;
  for (const std::string& text : texts) {
    SynonymPhrase phrase = AnalysePhrase(text, analyzer);
    const bool known = std::any_of(phrases.begin(), phrases.end(),
                                   [&](const SynonymPhrase& p) { return p.terms == phrase.terms; });
    if (!phrase.terms.empty() && !known) phrases.push_back(std::move(phrase));
  }
  return phrases;
}

// Of a locale, without regard to case and to which dash is written.
char Folded(char c) {
  if (c == '_') return '-';
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

SynonymPhrase AnalysePhrase(std::string_view text, const Analyzer& analyzer) {
  SynonymPhrase phrase;
  phrase.text = std::string(text);
  TermList terms;
  analyzer.Analyze(text, 0, &terms);
  for (size_t i = 0; i < terms.size(); ++i) {
    phrase.terms.emplace_back(terms.term(i));
    phrase.offsets.push_back(terms.position(i) - terms.position(0));
  }
  return phrase;
}

std::shared_ptr<const SynonymGroup> MakeSynonymGroup(std::string id, std::string language,
                                                     const SynonymTexts& texts, const Analyzer& analyzer) {
  auto group = std::make_shared<SynonymGroup>();
  group->id = std::move(id);
  group->language = std::move(language);
  const bool two_way = !texts.words.empty();
  group->typed = AnalyseAll(two_way ? texts.words : texts.from, analyzer);
  if (!two_way) group->others = AnalyseAll(texts.to, analyzer);
  // One-way to nothing is nothing.
  if (!two_way && group->others.empty()) group->typed.clear();
  return group;
}

bool LanguageCounts(std::string_view language, std::string_view locale) {
  if (language.size() > locale.size()) return false;
  for (size_t i = 0; i < language.size(); ++i) {
    if (Folded(language[i]) != Folded(locale[i])) return false;
  }
  return language.empty() || language.size() == locale.size() || Folded(locale[language.size()]) == '-';
}

SynonymTable SynonymTable::With(Groups removed, Groups added) const {
  SequenceMap<SynonymGroup>::Edit edit(map_);
  for (const auto& group : removed) {
    for (const SynonymPhrase& phrase : group->typed) edit.Remove(phrase.terms, group->id);
  }
  for (const auto& group : added) {
    for (const SynonymPhrase& phrase : group->typed) edit.Add(phrase.terms, group);
  }
  SynonymTable table;
  table.map_ = edit.Finish();
  return table;
}

}  // namespace waymark
