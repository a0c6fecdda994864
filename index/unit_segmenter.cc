#include "index/unit_segmenter.h"

#include <algorithm>
#include <string>
#include <vector>

#include "index/folded_letters.h"
#include "index/letters.h"
#include "index/word_segmenter.h"

namespace waymark {
namespace {

using Kind = FoldedLetters::Kind;

bool IsApostrophe(char32_t c) { return c == U'\'' || c == U'\u2019' || c == U'\u02BC'; }
bool IsStrongJoiner(char32_t c) { return c == U'-' || c == U'\u2010' || c == U'&' || IsApostrophe(c); }
bool IsWeakJoiner(char32_t c) { return c == U'/' || c == U'_' || c == U'.'; }

// "1,000" and "1,234.5": digits in groups of three.
bool HasGroups(const std::string& number) {
  const size_t point = std::min(number.find('.'), number.size());
  size_t comma = number.find(',');
  if (comma == 0 || comma > 3 || comma > point) return false;
  for (size_t at = comma; at < point; at += 4) {
    if (number[at] != ',' || at + 4 > point || number.substr(at + 1, 3).find(',') != std::string::npos) {
      return false;
    }
  }
  return number.find('.', point + 1) == std::string::npos && number.find(',', point) == std::string::npos;
}

class UnitSegmenter {
 public:
  UnitSegmenter(std::string_view utf8, const LanguageRules& rules,
                absl::FunctionRef<void(const TextUnit&)> visit)
      : utf8_(utf8), rules_(rules), visit_(visit) {}

  void Run() {
    for (size_t i = 0; i < utf8_.size();) {
      while (i < utf8_.size() && IsSpace(utf8_[i])) ++i;
      size_t end = i;
      while (end < utf8_.size() && !IsSpace(utf8_[end])) ++end;
      if (end > i) {
        text_.Read(utf8_, i, end, rules_.turkish);
        SegmentStretch();
      }
      i = end;
    }
  }

 private:
  // A part of a compound on the way.
  struct Part {
    size_t begin, end;  // of text_
    std::string word;
    bool number;
    char32_t joiner;  // before it; 0: none
  };

  Kind KindAt(size_t i) const { return i < text_.size() ? text_.kind(i) : Kind::kOther; }
  bool InWord(size_t i) const { return KindAt(i) == Kind::kLetter || KindAt(i) == Kind::kDigit; }
  char32_t At(size_t i) const { return i < text_.size() ? text_.letter(i) : 0; }

  void SegmentStretch() {
    for (size_t i = 0; i < text_.size();) {
      size_t end = i + 1;
      const Kind kind = KindAt(i);
      if (kind == Kind::kCjk || kind == Kind::kDictionary) {
        while (KindAt(end) == kind) ++end;
        kind == Kind::kCjk ? VisitCjk(i, end) : VisitDictionary(i, end);
      } else if (kind != Kind::kOther) {
        end = VisitCompound(i);
      }
      i = end;
    }
  }

  // --- compounds

  size_t VisitCompound(size_t i) {
    compound_.clear();
    char32_t joiner = 0;
    while (true) {
      compound_.push_back(ReadPart(i, joiner));
      i = compound_.back().end;
      joiner = 0;
      if (InWord(i)) continue;
      if (!(IsStrongJoiner(At(i)) || IsWeakJoiner(At(i))) || !InWord(i + 1)) break;
      joiner = At(i++);
      DropElided(joiner);
    }
    DropPossessive();
    EmitCompound();
    return i;
  }

  Part ReadPart(size_t i, char32_t joiner) const {
    Part part{i, i, {}, KindAt(i) == Kind::kDigit, joiner};
    while (KindAt(part.end) == KindAt(i)) ++part.end;
    if (part.number) {
      part.end = EndOfNumber(part.end);
      part.word = text_.Utf8(i, std::min(part.end, i + kMaxWordLength));
      if (HasGroups(part.word)) std::erase(part.word, ',');
      std::replace(part.word.begin(), part.word.end(), ',', '.');
    } else {
      const bool letter = part.end - i == 1;
      if (At(part.end) == U'+' && At(part.end + 1) == U'+' && At(part.end + 2) != U'+' &&
          KindAt(part.end + 2) != Kind::kLetter) {
        part.end += 2;
      } else if (letter && At(part.end) == U'#' && KindAt(part.end + 1) != Kind::kLetter) {
        ++part.end;
      }
      part.word = text_.Utf8(i, std::min(part.end, i + kMaxWordLength));
    }
    return part;
  }

  // Of a number whose first digits end here.
  size_t EndOfNumber(size_t i) const {
    const size_t begin_of_rest = i;
    size_t commas = 0, end = i;
    while ((At(end) == U'.' || At(end) == U',') && KindAt(end + 1) == Kind::kDigit) {
      commas += At(end) == U',';
      for (++end; KindAt(end) == Kind::kDigit;) ++end;
      if (end - begin_of_rest > kMaxWordLength) break;
    }
    if (commas == 0) return end;
    size_t begin = begin_of_rest;
    while (begin > 0 && KindAt(begin - 1) == Kind::kDigit) --begin;
    const std::string whole = text_.Utf8(begin, end);
    // «3,5» is a number, «1,2,3» are three.
    const bool in_list = begin > 1 && At(begin - 1) == U',' && KindAt(begin - 2) == Kind::kDigit;
    if (in_list) return begin_of_rest;
    const bool one_comma = commas == 1 && whole.find('.') == std::string::npos;
    return one_comma || HasGroups(whole) ? end : begin_of_rest;
  }

  void DropElided(char32_t joiner) {
    if (compound_.size() != 1 || !IsApostrophe(joiner)) return;
    const auto& elided = rules_.elided;
    if (std::find(elided.begin(), elided.end(), compound_[0].word) != elided.end()) compound_.clear();
  }

  void DropPossessive() {
    if (rules_.possessive && compound_.size() > 1 && IsApostrophe(compound_.back().joiner) &&
        compound_.back().word == "s") {
      compound_.pop_back();
    }
  }

  void EmitCompound() {
    if (compound_.empty()) return;
    bool number = false, letters = true;
    for (size_t i = 0; i < compound_.size(); ++i) {
      const Part& part = compound_[i];
      number = number || part.number;
      letters = letters && part.end - part.begin == 1 && (i == 0 || part.joiner == U'.');
    }
    size_t begin = 0;
    for (size_t i = 1; i <= compound_.size(); ++i) {
      const bool cut = i == compound_.size() || (IsWeakJoiner(compound_[i].joiner) && !number && !letters);
      if (cut) EmitUnit(begin, i, number);
      if (cut) begin = i;
    }
  }

  void EmitUnit(size_t first, size_t last, bool number) {
    parts_.clear();
    size_t bytes = 0;
    for (size_t i = first; i < last; ++i) {
      const Part& part = compound_[i];
      parts_.push_back({part.word, part.number, text_.begin(part.begin), text_.end(part.end - 1)});
      bytes += part.word.size();
    }
    TextUnit unit;
    unit.parts = parts_;
    unit.joins = parts_.size() > 1 && parts_.size() <= kMaxJoinedParts && bytes <= kMaxJoinedBytes;
    unit.has_number = number;
    Visit(&unit);
  }

  void Visit(TextUnit* unit) {
    unit->begin = unit->parts.front().begin;
    unit->end = unit->parts.back().end;
    visit_(*unit);
  }

  // --- scripts without spaces

  void VisitCjk(size_t begin, size_t end) {
    bounds_.clear();  // of characters, with their marks
    for (size_t i = begin; i < end; ++i) {
      if (i == begin || !text_.is_mark(i)) bounds_.push_back(i);
    }
    bounds_.push_back(end);
    const size_t count = bounds_.size() - 1;
    words_.clear();
    parts_.clear();
    characters_.clear();
    words_.reserve(2 * count);
    const auto add = [&](size_t from, size_t to, std::vector<UnitPart>* parts) {
      words_.push_back(text_.Utf8(from, to));
      parts->push_back({words_.back(), false, text_.begin(from), text_.end(to - 1)});
    };
    for (size_t c = 0; c < count; ++c) {
      add(bounds_[c], bounds_[c + 1], count == 1 ? &parts_ : &characters_);
      if (c + 1 < count) add(bounds_[c], bounds_[c + 2], &parts_);
    }
    TextUnit unit;
    unit.parts = parts_;
    unit.characters = characters_;
    unit.cjk = true;
    Visit(&unit);
  }

  void VisitDictionary(size_t begin, size_t end) {
    text_.ForEachDictionaryWord(begin, end, [&](size_t from, size_t to) {
      words_.clear();
      words_.push_back(text_.Utf8(from, std::min(to, from + kMaxWordLength)));
      parts_.clear();
      parts_.push_back({words_[0], false, text_.begin(from), text_.end(to - 1)});
      TextUnit unit;
      unit.parts = parts_;
      Visit(&unit);
    });
  }

  const std::string_view utf8_;
  const LanguageRules& rules_;
  const absl::FunctionRef<void(const TextUnit&)> visit_;
  FoldedLetters text_;
  std::vector<Part> compound_;
  std::vector<UnitPart> parts_, characters_;
  std::vector<std::string> words_;
  std::vector<size_t> bounds_;
};

}  // namespace

void SegmentUnits(std::string_view utf8, const LanguageRules& rules,
                  absl::FunctionRef<void(const TextUnit& unit)> visit) {
  UnitSegmenter(utf8, rules, visit).Run();
}

}  // namespace waymark
