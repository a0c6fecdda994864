#include "index/folded_letters.h"

#include <unicode/brkiter.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <memory>

#include "index/letters.h"

namespace waymark {
namespace {

using LetterKind = FoldedLetters::Kind;

const icu::Normalizer2* CasefoldOfLetters() {
  UErrorCode error = U_ZERO_ERROR;
  static const icu::Normalizer2* const folding = icu::Normalizer2::getNFKCCasefoldInstance(error);
  return folding;
}

LetterKind KindOfScript(UChar32 c) {
  if (c == 0x30FC) return LetterKind::kCjk;  // the long vowel of Katakana, which is of no script
  UErrorCode error = U_ZERO_ERROR;
  switch (uscript_getScript(c, &error)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_HANGUL:
    case USCRIPT_BOPOMOFO:
      return LetterKind::kCjk;
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
      return LetterKind::kDictionary;
    default:
      return LetterKind::kLetter;
  }
}

LetterKind KindOfLetter(char32_t letter) {
  const auto c = static_cast<UChar32>(letter);
  if (c < 0x80) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return LetterKind::kLetter;
    return c >= '0' && c <= '9' ? LetterKind::kDigit : LetterKind::kOther;
  }
  const uint32_t category = U_GET_GC_MASK(c);
  if ((category & U_GC_N_MASK) != 0 && c != 0x3007) return LetterKind::kDigit;
  if ((category & (U_GC_L_MASK | U_GC_N_MASK)) != 0) return KindOfScript(c);
  return LetterKind::kOther;
}

// ICU's iterators are not for two threads at once. Null without ICU's data.
icu::BreakIterator* DictionaryBreaks() {
  thread_local std::unique_ptr<icu::BreakIterator> breaks = [] {
    UErrorCode error = U_ZERO_ERROR;
    std::unique_ptr<icu::BreakIterator> made(
        icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), error));
    return U_SUCCESS(error) ? std::move(made) : nullptr;
  }();
  return breaks.get();
}

}  // namespace

void FoldedLetters::Append(char32_t letter, size_t begin, size_t end) {
  const auto c = static_cast<UChar32>(letter);
  const bool mark = c >= 0x80 && (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;
  const Kind kind = !mark ? KindOfLetter(letter) : letters_.empty() ? Kind::kOther : letters_.back().kind;
  letters_.push_back({letter, kind, mark, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
}

// Letters that fold together: one, with the marks behind it.
void FoldedLetters::AppendCluster(std::string_view utf8, size_t begin, size_t end, bool turkish) {
  icu::UnicodeString raw =
      icu::UnicodeString::fromUTF8(icu::StringPiece(utf8.data() + begin, static_cast<int32_t>(end - begin)));
  if (turkish) {
    raw.findAndReplace(icu::UnicodeString(static_cast<UChar32>('I')), icu::UnicodeString(UChar32{0x131}));
    raw.findAndReplace(icu::UnicodeString(UChar32{0x130}), icu::UnicodeString(static_cast<UChar32>('i')));
  }
  UErrorCode error = CasefoldOfLetters() == nullptr ? U_INTERNAL_PROGRAM_ERROR : U_ZERO_ERROR;
  icu::UnicodeString folded;
  if (CasefoldOfLetters() != nullptr) folded = CasefoldOfLetters()->normalize(raw, error);
  if (U_FAILURE(error)) folded = icu::UnicodeString(raw).foldCase();
  for (int32_t i = 0; i < folded.length(); i = folded.moveIndex32(i, 1)) {
    Append(static_cast<char32_t>(folded.char32At(i)), begin, end);
  }
}

void FoldedLetters::Read(std::string_view utf8, size_t begin, size_t end, bool turkish) {
  letters_.clear();
  const icu::Normalizer2* folding = CasefoldOfLetters();
  const auto starts_cluster = [&](char32_t letter) {
    return letter < 0x80 || folding == nullptr || folding->hasBoundaryBefore(static_cast<UChar32>(letter));
  };
  for (size_t at = begin; at < end;) {
    const size_t from = at;
    const char32_t letter = ReadLetter(utf8.substr(0, end), &at);
    size_t next = at;
    while (next < end && static_cast<unsigned char>(utf8[next]) >= 0x80) {
      size_t behind = next;
      if (starts_cluster(ReadLetter(utf8.substr(0, end), &behind))) break;
      next = behind;
    }
    if (next == at && letter < 0x80 && !(turkish && letter == U'I')) {
      Append(letter >= U'A' && letter <= U'Z' ? letter - U'A' + U'a' : letter, from, at);
    } else if (next == at && folding != nullptr && folding->isInert(static_cast<UChar32>(letter))) {
      Append(letter, from, at);
    } else {
      AppendCluster(utf8, from, next, turkish);
    }
    at = next;
  }
}

std::string FoldedLetters::Utf8(size_t from, size_t to) const {
  std::string utf8;
  for (size_t i = from; i < to; ++i) AppendUtf8(letters_[i].letter, &utf8);
  return utf8;
}

void FoldedLetters::ForEachDictionaryWord(size_t from, size_t to,
                                          absl::FunctionRef<void(size_t, size_t)> visit) const {
  icu::BreakIterator* breaks = DictionaryBreaks();
  if (breaks == nullptr) return visit(from, to);
  icu::UnicodeString run;
  std::vector<size_t> letter_of;  // [unit]
  for (size_t i = from; i < to; ++i) {
    run.append(static_cast<UChar32>(letters_[i].letter));
    letter_of.resize(static_cast<size_t>(run.length()), i);
  }
  letter_of.push_back(to);
  breaks->setText(run);
  for (int32_t begin = breaks->first(), end = breaks->next(); end != icu::BreakIterator::DONE;
       begin = end, end = breaks->next()) {
    visit(letter_of[static_cast<size_t>(begin)], letter_of[static_cast<size_t>(end)]);
  }
}

}  // namespace waymark
