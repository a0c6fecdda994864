#include "index/standard_words.h"

#include <algorithm>

#include "index/analyzer.h"

namespace waymark {
namespace {

// Longer runs of CJK are sentences, whose pairs are wishes of their own.
constexpr size_t kMostStrictCharacters = 4;

bool IsStrict(const TextUnit& unit) {
  if (unit.parts.size() < 2) return false;
  return unit.has_number || (unit.cjk && unit.characters.size() <= kMostStrictCharacters);
}

// "c++", "c#"
bool IsLettersOnly(std::string_view word) { return word.back() != '+' && word.back() != '#'; }

}  // namespace

void StandardWords::Stem(std::string_view word) {
  form_.clear();
  const std::string plain = FoldMarks(word, rules_);
  if (!IsLettersOnly(word)) {
    term_ = plain;
    return;
  }
  term_ = FoldMarks(stemmer_.Stem(word), rules_);
  if (plain == term_) return;
  form_.push_back(kFormMark);
  form_ += plain;
}

void StandardWords::Visit(const TextUnit& unit, IsStop is_stop, VisitWord visit) {
  if (unit.cjk) {
    VisitCjk(unit, visit);
  } else {
    for (size_t i = 0; i < unit.parts.size(); ++i) {
      VisitPart(unit, unit.parts[i], is_stop, visit);
      if (i == 0 && unit.joins) VisitJoined(unit, visit);
      ++position_;
    }
  }
  ++unit_;
}

void StandardWords::VisitPart(const TextUnit& unit, const UnitPart& part, IsStop is_stop, VisitWord visit) {
  AnalysedWord word{part.word, part.word, false, position_, part.begin, part.end};
  word.unit = unit_;
  word.strict = IsStrict(unit);
  if (!part.number) {
    word.stop = !unit.has_number && is_stop(part.word);
    Stem(part.word);
    word.term = word.stop ? std::string_view() : term_;
    word.form = word.stop ? std::string_view() : form_;
  }
  visit(word);
  if (!part.number && !word.stop) VisitBeside(word, visit);
}

void StandardWords::VisitBeside(const AnalysedWord& word, VisitWord visit) {
  const std::string plain = FoldMarks(word.word, rules_), expanded = ExpandMarks(word.word, rules_);
  if (plain == word.word && expanded == word.word) return;
  AnalysedWord beside = word;
  beside.kind = AnalysedWord::Kind::kBeside;
  beside.form = {};
  const std::string stem_of_plain(stemmer_.Stem(plain));
  beside.term = stem_of_plain;
  if (stem_of_plain != term_) visit(beside);
  other_ = FoldMarks(stemmer_.Stem(expanded), rules_);
  beside.term = other_;
  if (other_ != term_ && other_ != stem_of_plain) visit(beside);
}

void StandardWords::VisitJoined(const TextUnit& unit, VisitWord visit) {
  std::string joined;
  for (const UnitPart& part : unit.parts) joined += part.word;
  AnalysedWord word{joined, joined, false, position_, unit.begin, unit.end};
  word.kind = AnalysedWord::Kind::kJoined;
  word.unit = unit_;
  word.strict = IsStrict(unit);
  if (unit.has_number) {
    term_ = FoldMarks(joined, rules_);
    form_.clear();
  } else {
    Stem(joined);
  }
  word.term = term_;
  word.form = form_;
  visit(word);
}

void StandardWords::VisitCjk(const TextUnit& unit, VisitWord visit) {
  const auto add = [&](const UnitPart& part, AnalysedWord::Kind kind) {
    AnalysedWord word{part.word, part.word, false, position_, part.begin, part.end};
    word.kind = kind;
    word.unit = unit_;
    word.strict = IsStrict(unit);
    visit(word);
  };
  for (size_t i = 0; i < unit.parts.size(); ++i) {
    add(unit.parts[i], AnalysedWord::Kind::kWord);
    if (!unit.characters.empty()) add(unit.characters[i], AnalysedWord::Kind::kBeside);
    // The last character stands where the last pair does.
    if (i + 2 == unit.characters.size()) add(unit.characters[i + 1], AnalysedWord::Kind::kBeside);
    ++position_;
  }
}

}  // namespace waymark
