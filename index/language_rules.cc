#include "index/language_rules.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>

#include "index/letters.h"

namespace waymark {
namespace {

using Word = std::string_view;

// As Lucene's FrenchAnalyzer, ItalianAnalyzer, CatalanAnalyzer and IrishAnalyzer have them.
constexpr std::array<Word, 13> kFrench = {"c", "d", "j",     "l",      "m",      "n",     "qu",
                                          "s", "t", "jusqu", "lorsqu", "puisqu", "quoiqu"};
constexpr std::array<Word, 22> kItalian = {"agl",  "all",  "c", "coll", "d",    "dagl", "dall", "degl",
                                           "dell", "gl",   "l", "m",    "negl", "nell", "pell", "s",
                                           "sugl", "sull", "t", "un",   "v",    "quest"};
constexpr std::array<Word, 6> kCatalan = {"d", "l", "m", "n", "s", "t"};
constexpr std::array<Word, 3> kIrish = {"b", "d", "m"};

constexpr std::array<LanguageRules, 14> kRules = {{
    {"french", kFrench, U""},
    {"italian", kItalian, U""},
    {"catalan", kCatalan, U""},
    {"irish", kIrish, U""},
    {"english", {}, U"", false, false, true},
    {"german", {}, U"", true},
    {"danish", {}, U"åæø", true},
    {"norwegian", {}, U"åæø", true},
    {"swedish", {}, U"åäö", true},
    {"finnish", {}, U"åäö"},
    {"spanish", {}, U"ñ"},
    {"hungarian", {}, U"áéíóöőúüű"},
    {"lithuanian", {}, U"ąčęėįšųūž"},
    {"turkish", {}, U"çğıöşü", false, true},
}};
constexpr LanguageRules kNoRules = {};

// Letters without a decomposition.
std::u32string_view TypedFor(char32_t letter) {
  switch (letter) {
    case U'ø':
      return U"o";
    case U'æ':
      return U"ae";
    case U'œ':
      return U"oe";
    case U'ł':
      return U"l";
    case U'đ':
    case U'ð':
      return U"d";
    case U'þ':
      return U"th";
    case U'ħ':
      return U"h";
    case U'ı':
      return U"i";
    case U'ё':
      return U"е";
    default:
      return {};
  }
}

std::u32string_view TwoLetters(char32_t letter) {
  switch (letter) {
    case U'å':
      return U"aa";
    case U'ä':
    case U'æ':
      return U"ae";
    case U'ö':
    case U'ø':
      return U"oe";
    case U'ü':
      return U"ue";
    default:
      return {};
  }
}

bool LosesMarks(UChar32 base) {
  UErrorCode error = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(base, &error);
  return script == USCRIPT_LATIN || script == USCRIPT_GREEK;
}

// Points of Hebrew, vowel signs and the lengthening stroke of Arabic: written by few, read by all.
bool IsPoint(char32_t c) {
  return (c >= 0x591 && c <= 0x5C7 && u_charType(static_cast<UChar32>(c)) == U_NON_SPACING_MARK) ||
         (c >= 0x610 && c <= 0x61A) || (c >= 0x64B && c <= 0x652) || c == 0x670 || c == 0x640;
}

void AppendFolded(char32_t letter, bool after_latin, std::string* folded) {
  if (const auto typed = TypedFor(letter); !typed.empty()) {
    for (char32_t c : typed) AppendUtf8(c, folded);
    return;
  }
  const auto point = static_cast<UChar32>(letter);
  if (IsPoint(letter) || (after_latin && (U_GET_GC_MASK(point) & U_GC_MN_MASK) != 0)) return;
  UErrorCode error = U_ZERO_ERROR;
  static const icu::Normalizer2* const nfd = icu::Normalizer2::getNFDInstance(error);
  icu::UnicodeString parts;
  if (nfd != nullptr && nfd->getDecomposition(point, parts) && LosesMarks(parts.char32At(0))) {
    letter = static_cast<char32_t>(parts.char32At(0));
  }
  AppendUtf8(letter, folded);
}

std::string Fold(std::string_view word, const LanguageRules& rules, bool two_letters) {
  std::string folded;
  bool after_latin = false;
  for (size_t at = 0; at < word.size();) {
    const auto lead = static_cast<unsigned char>(word[at]);
    if (lead < 0x80) {
      folded.push_back(word[at++]);
      after_latin = true;
      continue;
    }
    const char32_t letter = ReadLetter(word, &at);
    const auto pair = two_letters ? TwoLetters(letter) : std::u32string_view();
    if (!pair.empty()) {
      for (char32_t c : pair) AppendUtf8(c, &folded);
    } else if (rules.own_letters.find(letter) != std::u32string_view::npos) {
      AppendUtf8(letter, &folded);
    } else {
      AppendFolded(letter, after_latin, &folded);
    }
    const auto point = static_cast<UChar32>(letter);
    if ((U_GET_GC_MASK(point) & U_GC_M_MASK) == 0) after_latin = LosesMarks(point);
  }
  return folded;
}

bool IsAscii(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

const LanguageRules& LanguageRules::Of(std::string_view language) {
  const auto found = std::find_if(kRules.begin(), kRules.end(),
                                  [&](const auto& rules) { return rules.language == language; });
  return found == kRules.end() ? kNoRules : *found;
}

std::string FoldMarks(std::string_view word, const LanguageRules& rules) {
  return IsAscii(word) ? std::string(word) : Fold(word, rules, false);
}

std::string ExpandMarks(std::string_view word, const LanguageRules& rules) {
  return IsAscii(word) ? std::string(word) : Fold(word, rules, rules.two_letters);
}

}  // namespace waymark
